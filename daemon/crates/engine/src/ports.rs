//! The engine's dependencies on the outside: the only places where a real run and a simulated one differ.

use cairn_crypto::Random;
use cairn_platform::Disk;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

/// The wall clock. Spans of time are tokio's, which a test can pause.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970-01-01 UTC.
    fn now_ms(&self) -> i64;

    /// Returns the offset of local time from UTC in seconds, for names that people read.
    fn offset_s(&self) -> i32;
}

/// A watcher's notice. Hints may be lost, merged or false; only a scan changes the local tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hint {
    /// Something may have changed at this path, or in it.
    Path(PathBuf),
    /// Anything may have changed anywhere.
    Everywhere,
    /// Watching does not work (any more); `message` says what to do. Scans come on a timer instead.
    Lost { message: String },
    /// Hints for all that had changed when [`Watched::flush`] was called with this number have been sent.
    Flushed(u64),
}

/// A folder that is watched until this is dropped.
pub trait Watched: Send + Sync {
    /// Sends [`Hint::Flushed`] with `number` behind the hints for all that has changed before the call. Returns false
    /// where that can't be told.
    fn flush(&self, number: u64) -> bool;
}

/// Starts watching folders.
pub trait Watch: Send + Sync {
    /// Watches `root` and everything below until the returned guard is dropped.
    fn watch(&self, root: &std::path::Path) -> (UnboundedReceiver<Hint>, Box<dyn Watched>);
}

/// Everything from outside.
#[derive(Clone)]
pub struct Ports {
    pub disk: Arc<dyn Disk>,
    pub watch: Arc<dyn Watch>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<Mutex<dyn Random + Send>>,
    /// Allows blocking work on other threads; the simulator runs on one.
    pub threads: bool,
}

impl Ports {
    /// 16 random bytes, for an id.
    pub(crate) fn id(&self) -> [u8; 16] {
        let mut out = [0; 16];
        self.random.lock().fill(&mut out);
        out
    }

    /// Returns between half and the whole of a pause, so that many devices don't come back at one moment.
    pub(crate) fn spread(&self, pause: std::time::Duration) -> std::time::Duration {
        let [byte, ..] = self.id();
        cairn_model::spread(pause, f64::from(byte) / 255.0)
    }

    /// Runs blocking work where it does not hold up anything else.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        if self.threads {
            match tokio::task::spawn_blocking(work).await {
                Ok(out) => out,
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            }
        } else {
            work()
        }
    }
}
