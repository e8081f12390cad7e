//! [`Candidate`]: one thing to time, with the row that it fills in.

use crate::result::{Row, Visit};

/// Reads from the first slice, writes to the second, returns how many bytes it wrote.
pub type Work<'a> = Box<dyn FnMut(&[u8], &mut [u8]) -> Result<usize, String> + 'a>;
/// Judges the bytes a candidate wrote.
pub type Check<'a> = Box<dyn Fn(&[u8]) -> Result<(), String> + 'a>;
/// What is done before each sample, outside the clock.
pub type Before<'a> = Box<dyn FnMut() + 'a>;
/// Runs the work this many times and returns the nanoseconds of all runs together, by a clock of its own.
pub type Timer<'a> = Box<dyn FnMut(u64) -> Result<f64, String> + 'a>;

/// What a candidate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It gets a row of its own.
    Subject,
    /// It gets a row, and subjects of the same case are compared with it.
    Peer,
    /// A yardstick: a plain copy, a plain read or a plain write.
    Probe(Probe),
}

/// The yardsticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Our widest copy loop.
    Copy,
    /// libc's memcpy.
    Memcpy,
    /// A copy past the caches.
    Stream,
    /// Reads every byte.
    Read,
    /// Writes every byte.
    Write,
}

impl Probe {
    /// All copies: the fastest of them is the yardstick.
    pub const COPIES: [Probe; 3] = [Probe::Copy, Probe::Memcpy, Probe::Stream];

    /// Engine and operation of its own row.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Probe::Copy => ("copy", "copy"),
            Probe::Memcpy => ("memcpy", "copy"),
            Probe::Stream => ("stream", "copy"),
            Probe::Read => ("probe", "read"),
            Probe::Write => ("probe", "write"),
        }
    }
}

/// One thing to time.
pub struct Candidate<'a> {
    /// What is known before timing; what one visit finds is added to it. A candidate whose row says that it is left out
    /// is reported and not run.
    pub row: Row,
    /// What it is for.
    pub role: Role,
    /// The work.
    pub work: Work<'a>,
    /// Its own clock, if it runs elsewhere.
    pub timer: Option<Timer<'a>>,
    /// Done before each of its samples, which are then single runs that nothing warms up.
    pub before: Option<Before<'a>>,
    /// The judge; `None` only for probes, which write nothing worth reading.
    pub check: Option<Check<'a>>,
    /// Bytes it wrote when it was judged.
    pub written: usize,
    /// What this visit has found.
    pub visit: Visit,
}

impl<'a> Candidate<'a> {
    /// A subject whose output `check` judges.
    pub fn new(row: Row, work: Work<'a>, check: Check<'a>) -> Candidate<'a> {
        Candidate {
            row: Row { iterations: 1, ..row },
            role: Role::Subject,
            work,
            timer: None,
            before: None,
            check: Some(check),
            written: 0,
            visit: Visit::default(),
        }
    }

    /// A yardstick.
    pub fn probe(row: Row, probe: Probe, work: Work<'a>) -> Candidate<'a> {
        let judged = Candidate::new(row, work, Box::new(|_| Ok(())));
        Candidate { role: Role::Probe(probe), check: None, ..judged }
    }

    /// An engine that does not take part in this case, and why.
    pub fn left_out(row: Row, why: String) -> Candidate<'a> {
        let row = Row { left_out: Some(why), ..row };
        Candidate::new(row, Box::new(|_, _| Err("left out".into())), Box::new(|_| Ok(())))
    }

    /// Makes it an opponent, or not.
    pub fn peer(self, peer: bool) -> Candidate<'a> {
        Candidate { role: if peer { Role::Peer } else { Role::Subject }, ..self }
    }

    /// Gives it its own clock.
    pub fn timer(self, timer: Option<Timer<'a>>) -> Candidate<'a> {
        Candidate { timer, ..self }
    }

    /// Has something done before each of its samples.
    pub fn before(mut self, before: Option<Before<'a>>) -> Candidate<'a> {
        self.row.once = before.is_some();
        Candidate { before, ..self }
    }

    /// Whether it is run at all, and was right so far.
    pub fn runs(&self) -> bool {
        self.row.refused.is_none()
    }

    /// Says why it is refused. It is not run again, and what was timed is dropped.
    pub fn refuse(&mut self, why: String) {
        self.row.refused = Some(why);
        self.visit = Visit::default();
    }
}
