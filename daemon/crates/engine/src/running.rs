//! The transfers that run at present, with their progress, for the status.

use crate::status::TransferStatus;
use cairn_model::TransferDirection;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A transfer that is running.
pub(crate) struct Running {
    path: String,
    direction: TransferDirection,
    /// Bytes.
    total: u64,
    done: AtomicU64,
    since: tokio::time::Instant,
}

impl Running {
    /// Records the bytes that are done.
    pub(crate) fn set_done(&self, bytes: u64) {
        self.done.store(bytes, Ordering::Relaxed);
    }

    fn bytes(&self) -> u64 {
        self.done.load(Ordering::Relaxed).min(self.total)
    }

    fn status(&self) -> TransferStatus {
        let bytes = self.bytes();
        let seconds = self.since.elapsed().as_secs_f64();
        let speed = if seconds > 0.0 {
            bytes as f64 / seconds
        } else {
            0.0
        };
        TransferStatus {
            path: self.path.clone(),
            direction: self.direction,
            bytes,
            total: self.total,
            speed,
            time_left: (speed > 0.0).then(|| (self.total - bytes) as f64 / speed),
        }
    }
}

/// All running transfers.
#[derive(Default)]
pub(crate) struct RunningTransfers {
    transfers: Mutex<BTreeMap<u64, Arc<Running>>>,
    next: AtomicU64,
}

impl RunningTransfers {
    /// Registers a transfer of `total` bytes; it is in the status until the returned guard is dropped.
    pub(crate) fn start(
        self: &Arc<Self>,
        path: String,
        direction: TransferDirection,
        total: u64,
    ) -> RunningGuard {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let running = Arc::new(Running {
            path,
            direction,
            total,
            done: AtomicU64::new(0),
            since: tokio::time::Instant::now(),
        });
        self.transfers.lock().insert(id, Arc::clone(&running));
        RunningGuard {
            all: Arc::clone(self),
            id,
            running,
        }
    }

    /// Returns the bytes that running transfers have done.
    pub(crate) fn bytes(&self) -> u64 {
        let transfers = self.transfers.lock();
        transfers.values().map(|running| running.bytes()).sum()
    }

    pub(crate) fn status(&self) -> Vec<TransferStatus> {
        self.transfers.lock().values().map(|r| r.status()).collect()
    }
}

/// Ends the registration of a transfer when it is dropped.
pub(crate) struct RunningGuard {
    all: Arc<RunningTransfers>,
    id: u64,
    pub(crate) running: Arc<Running>,
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.all.transfers.lock().remove(&self.id);
    }
}
