//! Progress of a long call. A listener gets the newest state, never a backlog.

use cairn_transfer::Progress;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::watch;

/// The progress of a call.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Report {
    /// Bytes transferred.
    pub(crate) done: u64,
    /// Bytes in all, if known.
    pub(crate) total: Option<u64>,
    pub(crate) message: Option<String>,
}

/// The sending end, used by the tool.
#[derive(Clone)]
pub(crate) struct Reporter {
    reports: Arc<watch::Sender<Report>>,
    done: Arc<AtomicU64>,
}

impl Reporter {
    pub(crate) fn new() -> (Self, watch::Receiver<Report>) {
        let (sender, receiver) = watch::channel(Report::default());
        let reporter = Self {
            reports: Arc::new(sender),
            done: Arc::default(),
        };
        (reporter, receiver)
    }

    /// Sets the number of bytes that the call will transfer.
    pub(crate) fn set_total(&self, total: u64) {
        self.reports
            .send_modify(|report| report.total = Some(total));
    }

    /// Adds to the number of bytes that the call will transfer, as far as it is known.
    pub(crate) fn add_total(&self, bytes: u64) {
        self.reports.send_modify(|report| {
            report.total = Some(report.total.unwrap_or(0).saturating_add(bytes));
        });
    }

    /// Sets the description of the current step.
    pub(crate) fn set_message(&self, message: impl Into<String>) {
        let message = crate::clean::text(&message.into());
        self.reports
            .send_modify(|report| report.message = Some(message));
    }

    /// Returns the progress of one file of the call.
    pub(crate) fn file(&self) -> FileProgress {
        FileProgress {
            all: self.clone(),
            counted: AtomicU64::new(0),
        }
    }

    fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.reports
            .send_modify(|report| report.done = report.done.max(done));
    }
}

/// Adds the bytes of one file to those of the call.
pub(crate) struct FileProgress {
    all: Reporter,
    counted: AtomicU64,
}

impl Progress for FileProgress {
    fn on_progress(&self, done: u64, _total: u64) {
        let before = self.counted.fetch_max(done, Ordering::Relaxed);
        if done > before {
            self.all.add(done - before);
        }
    }
}
