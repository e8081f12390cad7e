//! The integration tests of the harness, one program: each module is a subject.

mod cli;
mod external;
mod goals;
mod imports;
mod page;
mod passes;
mod refusal;
mod results;
mod sized;
mod time;
