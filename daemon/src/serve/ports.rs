//! The engine's ports on this machine: the real watcher and the real clock.

use cairn_engine::ports::{Clock, Hint, Watch, Watched};
use cairn_platform::Zone;
use cairn_platform::watch::{self, Watcher};
use cairn_wire::Timestamp;
use std::path::Path;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

/// The system's clock.
pub(super) struct RealClock {
    zone: Zone,
}

impl RealClock {
    pub(super) fn new(zone: Zone) -> Self {
        Self { zone }
    }
}

impl Clock for RealClock {
    fn now_ms(&self) -> i64 {
        Timestamp::now().0
    }

    fn offset_s(&self) -> i32 {
        self.zone.offset_s(self.now_ms())
    }
}

/// The system's watcher, one for each folder.
pub(super) struct RealWatch;

/// A watch that ends when it is dropped.
struct Guard {
    watcher: Watcher,
    forwarding: JoinHandle<()>,
}

impl Watched for Guard {
    fn flush(&self, number: u64) -> bool {
        self.watcher.flush(number)
    }
}

/// A folder that can't be watched.
struct Unwatched;

impl Watched for Unwatched {
    fn flush(&self, _: u64) -> bool {
        false
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.forwarding.abort();
    }
}

impl Watch for RealWatch {
    fn watch(&self, root: &Path) -> (UnboundedReceiver<Hint>, Box<dyn Watched>) {
        let (hints, receiver) = unbounded_channel();
        let (watcher, seen) = match Watcher::new() {
            Ok(started) => started,
            Err(error) => {
                send_lost(&hints, &error);
                return (receiver, Box::new(Unwatched));
            }
        };
        if let Err(error) = watcher.watch(root) {
            send_lost(&hints, &error);
        }
        let forwarding = tokio::spawn(forward(seen, hints));
        (
            receiver,
            Box::new(Guard {
                watcher,
                forwarding,
            }),
        )
    }
}

async fn forward(mut seen: UnboundedReceiver<watch::Hint>, hints: UnboundedSender<Hint>) {
    while let Some(hint) = seen.recv().await {
        let sent = match hint {
            watch::Hint::Path(path) => hints.send(Hint::Path(path)),
            watch::Hint::Overflow => hints.send(Hint::Everywhere),
            watch::Hint::Flushed(number) => hints.send(Hint::Flushed(number)),
            watch::Hint::Lost { error, .. } => {
                send_lost(&hints, &error);
                continue;
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

fn send_lost(hints: &UnboundedSender<Hint>, error: &watch::WatchError) {
    tracing::warn!(%error, "watching is incomplete");
    // The engine may have let go of the folder already.
    let _ = hints.send(Hint::Lost {
        message: error.to_string(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_change_in_a_folder_arrives_as_a_hint() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (mut hints, _guard) = RealWatch.watch(&root);
        std::fs::write(root.join("new"), "x").unwrap();
        while let Some(hint) = hints.recv().await {
            match hint {
                Hint::Path(path) if path.starts_with(&root) => return,
                Hint::Path(_) | Hint::Everywhere | Hint::Flushed(_) => {}
                Hint::Lost { message } => panic!("{message}"),
            }
        }
        panic!("the watcher has ended");
    }

    #[tokio::test]
    async fn all_that_was_changed_is_hinted_at_before_the_end_of_a_flush() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (mut hints, watched) = RealWatch.watch(&root);
        for number in 1..=50 {
            let new = root.join(number.to_string());
            std::fs::create_dir(&new).unwrap();
            std::fs::write(new.join("f"), "x").unwrap();
            assert!(watched.flush(number));
            let mut seen = Vec::new();
            loop {
                match hints.recv().await.unwrap() {
                    Hint::Path(path) => seen.push(path),
                    Hint::Flushed(flushed) => break assert_eq!(flushed, number),
                    other @ (Hint::Everywhere | Hint::Lost { .. }) => panic!("{other:?}"),
                }
            }
            // A hint for a directory covers what is in it.
            assert!(seen.contains(&new), "{seen:?}");
        }
    }

    #[tokio::test]
    async fn a_folder_that_is_not_there_is_reported() {
        let (mut hints, _guard) = RealWatch.watch(Path::new("/nowhere/at/all"));
        assert!(matches!(hints.recv().await, Some(Hint::Lost { .. })));
    }
}
