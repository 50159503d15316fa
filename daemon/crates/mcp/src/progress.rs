//! How a long tool tells how far it is. Whoever listens gets the newest state, never a backlog.

use cairn_transfer::Progress;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::watch;

/// How far a call is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Report {
    /// Bytes.
    pub(crate) done: u64,
    /// Bytes, where that is known.
    pub(crate) total: Option<u64>,
    pub(crate) message: Option<String>,
}

/// The end that a tool holds.
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

    /// So many bytes in all are ahead.
    pub(crate) fn expect(&self, total: u64) {
        self.reports
            .send_modify(|report| report.total = Some(total));
    }

    /// What is being done.
    pub(crate) fn says(&self, message: impl Into<String>) {
        let message = crate::clean::text(&message.into());
        self.reports
            .send_modify(|report| report.message = Some(message));
    }

    /// One file of the call.
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

/// Adds one file's bytes to the call's.
pub(crate) struct FileProgress {
    all: Reporter,
    counted: AtomicU64,
}

impl Progress for FileProgress {
    fn moved(&self, done: u64, _total: u64) {
        let before = self.counted.fetch_max(done, Ordering::Relaxed);
        if done > before {
            self.all.add(done - before);
        }
    }
}
