//! A bar with the time left, on terminals only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// Progress over visits, whose number shows as a run goes on.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Nothing is drawn unless standard error is a terminal.
    pub fn new(visits: usize) -> Progress {
        let bar = ProgressBar::new(visits as u64);
        if !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len}, {eta} left  {wide_msg}") {
            bar.set_style(style);
        }
        Progress { bar }
    }

    /// A job begins. The bar is drawn now and not while the job is being timed.
    pub fn start(&self, label: &str) {
        self.bar.set_message(label.to_string());
    }

    /// A visit is done, of this many.
    pub fn done(&self, visits: usize) {
        self.bar.set_length(visits as u64);
        self.bar.inc(1);
    }

    /// All are.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
