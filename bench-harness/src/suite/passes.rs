//! Passes over all jobs: each visits every job once, in an order of its own, so that the visits to a case lie spread
//! over the whole run.

use super::choice::Job;
use crate::measure::{Plan, Setting, spread};
use crate::result::Row;
use std::time::Duration;

/// How much effort a run is worth.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// What a visit is worth.
    pub plan: Plan,
    /// Passes at most.
    pub passes: usize,
    /// A pass that would end later is not begun; two always are.
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

    /// Whether another pass fits, after `passes` which took `taken`, the last of them `last`.
    pub fn fits(&self, passes: usize, taken: Duration, last: Duration) -> bool {
        // The first pass verifies as well, about a third of its time.
        let next = if passes == 1 { last * 2 / 3 } else { last };
        passes < 2 || (passes < self.passes && taken + next <= self.time)
    }

    /// How many passes there will be, after some that took this long.
    pub fn expected(&self, passes: usize, taken: Duration) -> usize {
        let each = taken.as_secs_f64() / passes.max(1) as f64;
        ((self.time.as_secs_f64() / each.max(1e-9)) as usize).max(2).min(self.passes)
    }
}

/// Jobs, and what their visits have measured.
pub struct Passes<'a> {
    jobs: Vec<Job<'a>>,
    rows: Vec<Vec<Row>>,
}

impl<'a> Passes<'a> {
    /// No visit has been made.
    pub fn new(jobs: Vec<Job<'a>>) -> Passes<'a> {
        let rows = jobs.iter().map(|_| Vec::new()).collect();
        Passes { jobs, rows }
    }

    /// How many jobs there are.
    pub fn jobs(&self) -> usize {
        self.jobs.len()
    }

    /// Visits every job once, in the order of this pass. `begin` hears the label of each; `done` gets what its visit
    /// measured, and may say that others used the machine.
    ///
    /// # Errors
    /// Errors of `done`.
    pub fn pass(
        &mut self,
        pass: usize,
        (setting, plan, stop): (&Setting, &Plan, &dyn Fn() -> bool),
        mut begin: impl FnMut(&str),
        mut done: impl FnMut(&[Row]) -> Result<bool, String>,
    ) -> Result<(), String> {
        for index in order(pass, self.jobs.len()) {
            let (Some(job), Some(rows)) = (self.jobs.get_mut(index), self.rows.get_mut(index)) else {
                continue;
            };
            if stop() {
                break;
            }
            begin(&job.label);
            let verify = pass == 0 || rows.iter().any(|r| r.refused.is_some());
            let mut visit = (job.run)(setting, &Plan { visit: pass, verify, ..*plan }, stop);
            if done(&visit)? {
                visit.iter_mut().flat_map(|r| &mut r.visits).for_each(|v| v.loaded = true);
            }
            for new in visit {
                match rows.iter_mut().find(|r| r.key() == new.key() && r.goal == new.goal) {
                    Some(row) => row.merge(new),
                    None => rows.push(new),
                }
            }
        }
        Ok(())
    }

    /// The rows with their figures, in the order of the jobs.
    pub fn rows(self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.rows.into_iter().flatten().collect();
        rows.iter_mut().for_each(Row::settle);
        spread::settle(&mut rows);
        rows
    }
}

/// The first pass goes by the list; the others shuffle it, each in its own way and the same in every run.
fn order(pass: usize, jobs: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..jobs).collect();
    if pass == 0 {
        return order;
    }
    let mut state = pass as u64;
    for last in (1..jobs).rev() {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        order.swap(last, ((state >> 33) as usize) % (last + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Visit;

    #[test]
    fn passes_are_foreseen() {
        let effort = Effort { passes: 9, time: Duration::from_secs(10), ..Effort::QUICK };
        let expected = |passes, seconds| effort.expected(passes, Duration::from_secs(seconds));
        assert_eq!([expected(1, 2), expected(3, 6), expected(1, 100), expected(1, 0)], [5, 5, 2, 9]);
    }

    #[test]
    fn every_pass_visits_every_job_in_an_order_of_its_own() {
        let orders: Vec<Vec<usize>> = (0..4).map(|pass| order(pass, 50)).collect();
        for (index, one) in orders.iter().enumerate() {
            let mut sorted = one.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, order(0, 50));
            assert!(orders.iter().skip(index + 1).all(|other| other != one));
        }
        assert!(order(3, 0).is_empty());
    }

    fn job(ns: [f64; 3], refuse: Option<usize>) -> Job<'static> {
        let run = move |_: &Setting, plan: &Plan, _: &dyn Fn() -> bool| {
            let mut row = Row { suite: "s".into(), op: "o".into(), bytes: 64, ..Row::default() };
            if refuse == Some(plan.visit) {
                return vec![Row { refused: Some("wrong".into()), ..row }];
            }
            row.verified = true;
            let ns = ns.get(plan.visit).copied().into_iter().collect();
            row.visits.push(Visit { ns, ..Visit::default() });
            vec![row]
        };
        Job { label: String::new(), run: Box::new(run) }
    }

    #[test]
    fn visits_are_merged_and_a_refused_case_never_carries_a_time() {
        let jobs = vec![job([3.0, 1.0, 2.0], None), job([1.0; 3], Some(0)), job([1.0; 3], Some(1))];
        let mut passes = Passes::new(jobs);
        let setting = Setting { arch: pulp::Arch::new(), timing: true };
        for pass in 0..3 {
            passes.pass(pass, (&setting, &Plan::QUICK, &|| false), |_| (), |_| Ok(false)).unwrap();
        }
        let rows = passes.rows();
        assert_eq!((rows[0].median_ns, rows[0].visits_ns.len(), rows[0].rounds), (Some(1.5), 3, 3));
        assert!(rows[1..].iter().all(|r| r.refused.is_some() && r.median_ns.is_none() && !r.verified));
    }
}
