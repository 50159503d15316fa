//! Counters of the client's requests since it was made.

use std::sync::atomic::{AtomicU64, Ordering};

/// Running totals; reading them never blocks a call.
#[derive(Debug, Default)]
pub struct Counters {
    requests: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
}

/// The totals at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountersSnapshot {
    /// Requests that went out, repeated ones included.
    pub requests: u64,
    /// Bytes of request bodies.
    pub sent: u64,
    /// Bytes of response bodies.
    pub received: u64,
}

impl Counters {
    /// Reads the totals.
    #[must_use]
    pub fn snapshot(&self) -> CountersSnapshot {
        CountersSnapshot {
            requests: self.requests.load(Ordering::Relaxed),
            sent: self.sent.load(Ordering::Relaxed),
            received: self.received.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn add_request(&self, sent: usize) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.sent.fetch_add(sent as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
