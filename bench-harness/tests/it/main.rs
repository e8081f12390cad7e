//! The integration tests of the harness, one program: each module is a subject.

mod cli;
mod external;
mod imports;
mod page;
mod refusal;
mod results;
mod sized;
mod time;
