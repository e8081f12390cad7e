//! Differential tests against the C libraries, one program: each module is a direction or a group of calls.

mod support;

mod blosc1;
mod c_to_ours;
mod child;
mod defects;
mod ours_to_c;
mod plugins;
mod smoke;
