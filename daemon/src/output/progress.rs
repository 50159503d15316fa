//! Progress bars for long work, on stderr, and only if a person watches.

use crate::output::Out;
use crate::output::text::clean;
use cairn_transfer::Progress;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The progress bars of a command.
pub(crate) struct Bars(MultiProgress);

/// One transfer's bar.
pub(crate) struct Bar(ProgressBar);

impl Bars {
    pub(crate) fn new(out: &Out) -> Self {
        let target = if out.watched {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self(MultiProgress::with_draw_target(target))
    }

    /// Adds a bar for a file of `size` bytes.
    pub(crate) fn file(&self, name: &str, size: u64) -> Bar {
        let bar = self.0.add(ProgressBar::new(size));
        let template =
            "{msg:30!} {wide_bar} {binary_bytes:>10} {binary_bytes_per_sec:>12} {eta:>4}";
        // The template is a constant: without it the bar only looks plainer.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(clean(name));
        Bar(bar)
    }
}

impl Bar {
    /// Moves the bar.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.0.set_length(total);
        self.0.set_position(done);
    }
}

impl Progress for Bar {
    fn on_progress(&self, done: u64, total: u64) {
        self.set(done, total);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
