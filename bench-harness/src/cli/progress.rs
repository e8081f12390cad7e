//! A bar with the time left, on terminals only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Progress through the time that a run has.
pub struct Progress {
    bar: ProgressBar,
    begun: Instant,
}

impl Progress {
    /// Nothing is drawn unless standard error is a terminal.
    pub fn new(time: Duration) -> Progress {
        let bar = ProgressBar::new(time.as_secs());
        if !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos} of {len} s  {wide_msg}") {
            bar.set_style(style);
        }
        Progress { bar, begun: Instant::now() }
    }

    /// A job begins. The bar is drawn now and not while the job is being timed.
    pub fn start(&self, label: &str) {
        self.bar.set_position(self.begun.elapsed().as_secs());
        self.bar.set_message(label.to_string());
    }

    /// All are done.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
