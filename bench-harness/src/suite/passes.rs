//! Passes over all jobs: each visits every job once, in an order of its own, so that the visits to a case lie spread
//! over the whole run.

use super::choice::Job;
use crate::data::generate::Xorshift;
use crate::measure::{Plan, Setting, spread};
use crate::result::Row;
use std::time::{Duration, Instant};

/// How much effort a run is worth.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// What a visit is worth.
    pub plan: Plan,
    /// Passes at most.
    pub passes: usize,
    /// A visit that would end later is not begun.
    pub time: Duration,
}

impl Effort {
    /// The quick run: under a minute on a machine of 2022 or later.
    pub const QUICK: Effort = Effort { plan: Plan::QUICK, passes: 64, time: Duration::from_secs(53) };

    /// `time` for `jobs` jobs.
    pub fn within(time: Duration, jobs: usize) -> Effort {
        const PASSES: u32 = 5;
        // A job has about two groups, and set-up and checks take about a third of the time.
        let visit = time / u32::try_from(3 * jobs.max(1)).unwrap_or(u32::MAX) / PASSES;
        Effort { plan: Plan::careful(visit), passes: PASSES as usize, time }
    }

    /// What is said before a run whose time is too short to visit all jobs once.
    pub fn floor(&self, jobs: &[Job<'_>]) -> Option<String> {
        let (least, time) = (jobs.iter().map(|job| job.least).sum::<f64>(), self.time.as_secs_f64());
        let count = jobs.len();
        (least > time).then(|| {
            format!("{count} groups of cases take about {least:.0} s at the least: in {time:.0} s some are not reached.")
        })
    }

    /// Whether a visit of this length still ends in time.
    fn fits(&self, begun: Instant, visit: Duration) -> bool {
        begun.elapsed() + visit <= self.time
    }
}

/// A job, and what its visits have measured.
struct Visited<'a> {
    job: Job<'a>,
    rows: Vec<Row>,
    /// How long its last visit took; `None` before the first.
    took: Option<Duration>,
}

/// Jobs, and what their visits have measured.
pub struct Passes<'a> {
    jobs: Vec<Visited<'a>>,
    begun: Instant,
}

impl<'a> Passes<'a> {
    /// No visit has been made; the time runs from now.
    pub fn new(jobs: Vec<Job<'a>>) -> Passes<'a> {
        let visited = |job| Visited { job, rows: Vec::new(), took: None };
        Passes { jobs: jobs.into_iter().map(visited).collect(), begun: Instant::now() }
    }

    /// Jobs that no visit was made to.
    pub fn unreached(&self) -> usize {
        self.jobs.iter().filter(|job| job.took.is_none()).count()
    }

    /// Visits the jobs until passes or time run out, or `stop` says so; one at least. `begin` hears the label of each; `done`
    /// gets what a visit measured and whether it was the first to its job, and may say that others used the machine.
    ///
    /// # Errors
    /// Errors of `done`.
    pub fn run(
        &mut self,
        effort: &Effort,
        setting: &Setting,
        stop: &dyn Fn() -> bool,
        mut begin: impl FnMut(&str),
        mut done: impl FnMut(&[Row], bool) -> Result<bool, String>,
    ) -> Result<(), String> {
        let (begun, count, mut visits, mut foreseen) = (self.begun, self.jobs.len(), 0, 0.0);
        // A visit that began in time and lasts too long is ended.
        let late = effort.time.mul_f64(1.1);
        let shortest = self.jobs.iter().map(|v| v.job.least).fold(f64::INFINITY, f64::min);
        let stop = || stop() || begun.elapsed() > late;
        for pass in 0..effort.passes {
            let before = visits;
            for index in order(pass, count) {
                let Some(Visited { job, rows, took }) = self.jobs.get_mut(index) else { continue };
                // What the first visit takes is foreseen, as well as it was for the others.
                let slower = if foreseen > 0.0 { begun.elapsed().as_secs_f64() / foreseen } else { 1.0 };
                let first = Duration::try_from_secs_f64(job.least * slower).unwrap_or(Duration::MAX);
                let only = visits == 0 && job.least <= shortest;
                if stop() || !(only || effort.fits(begun, took.unwrap_or(first))) {
                    continue;
                }
                begin(&job.label);
                let (start, first) = (Instant::now(), took.is_none());
                let verify = first || rows.iter().any(|r| r.refused.is_some());
                let mut visit = (job.run)(setting, &Plan { visit: pass, verify, ..effort.plan }, &stop);
                // The first visit verifies as well, about a third of its time.
                *took = Some(if first { start.elapsed() * 2 / 3 } else { start.elapsed() });
                (visits, foreseen) = (visits + 1, foreseen + if first { job.least } else { 0.0 });
                if done(&visit, first)? {
                    visit.iter_mut().flat_map(|r| &mut r.visits).for_each(|v| v.loaded = true);
                }
                for new in visit {
                    match rows.iter_mut().find(|r| r.key() == new.key() && r.goal == new.goal) {
                        Some(row) => row.merge(new),
                        None => rows.push(new),
                    }
                }
            }
            if visits == before {
                break;
            }
        }
        Ok(())
    }

    /// The rows with their figures, in the order of the jobs.
    pub fn rows(self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.jobs.into_iter().flat_map(|job| job.rows).collect();
        rows.iter_mut().for_each(Row::settle);
        spread::settle(&mut rows);
        rows
    }
}

/// Every pass shuffles the list in its own way, and the same in every run: what a short run leaves out is of all kinds.
fn order(pass: usize, jobs: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..jobs).collect();
    Xorshift::new(pass as u64 + 1).shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_visits_every_job_in_an_order_of_its_own() {
        let orders: Vec<Vec<usize>> = (0..4).map(|pass| order(pass, 50)).collect();
        for (index, one) in orders.iter().enumerate() {
            let mut sorted = one.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..50));
            assert!(orders.iter().skip(index + 1).all(|other| other != one));
        }
        assert!(order(3, 0).is_empty());
    }
}
