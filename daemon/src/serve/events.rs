//! Events for the clients that subscribe (`cairn watch`, the tray), from the engines of all spaces: changes of the
//! status, merged where they come close, and activity.

use crate::serve::convert;
use crate::serve::engines::Engines;
use cairn_control::{Activity, Event, EventSource};
use cairn_engine::EngineHandle;
use cairn_index::{ActivityRow, FolderRow};
use futures_util::StreamExt as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::{self, Receiver, error::RecvError};
use tokio::time::{Instant, sleep_until};

/// The shortest time between two messages of the status: nobody reads faster.
const STATUS_PAUSE: Duration = Duration::from_millis(100);
/// The time between two messages of the status during a transfer, whose figures change by themselves.
const TRANSFER_PAUSE: Duration = Duration::from_secs(1);
/// The most events that wait for a slow reader; then it gets the status alone.
const WAITING: usize = 4096;

/// Something that one of the engines did.
#[derive(Clone, Debug)]
pub(super) enum Signal {
    /// The status changed; ask for it.
    Status,
    Activity(Activity),
}

/// The line on which the engines of all spaces report.
#[derive(Clone)]
pub(super) struct Signals(broadcast::Sender<Signal>);

impl Signals {
    pub(super) fn new() -> Self {
        Self(broadcast::channel(WAITING).0)
    }

    pub(super) fn subscribe(&self) -> Receiver<Signal> {
        self.0.subscribe()
    }

    /// Reports a change of the status.
    pub(super) fn status(&self) {
        self.send(Signal::Status);
    }

    fn send(&self, signal: Signal) {
        // No one listening is fine.
        drop(self.0.send(signal));
    }
}

/// Reports what an engine does, until it ends.
pub(super) fn forward(engine: &EngineHandle, signals: Signals) {
    let mut events = engine.events();
    // Not the engine itself: it ends although this listens.
    let index = engine.index().clone();
    tokio::spawn(async move {
        // A folder keeps its place under its id: they are read anew only for one that isn't known.
        let mut folders: Vec<FolderRow> = Vec::new();
        loop {
            match events.recv().await {
                // Thousands a second, and often nobody listens.
                Ok(cairn_engine::Event::Activity { .. }) if signals.0.receiver_count() == 0 => {}
                Ok(cairn_engine::Event::Activity {
                    at_ms,
                    folder,
                    kind,
                    path,
                    device,
                    bytes,
                }) => {
                    let row = ActivityRow {
                        at_ms,
                        folder,
                        kind,
                        path,
                        device,
                        bytes,
                    };
                    let is_known = |id| folders.iter().any(|known| known.id == id);
                    if !folder.is_none_or(is_known) {
                        folders = index.read(|db| db.folders()).unwrap_or_default();
                    }
                    signals.send(Signal::Activity(convert::activity(&row, &folders)));
                }
                // After a gap the status is what counts; the activity can be asked for.
                Ok(cairn_engine::Event::Status) | Err(RecvError::Lagged(_)) => signals.status(),
                Err(RecvError::Closed) => return,
            }
        }
    });
}

struct Source {
    engines: Arc<Engines>,
    signals: Receiver<Signal>,
    /// The time of the next message of the status, if there is one to send.
    due: Option<Instant>,
    reported: Instant,
}

pub(super) fn source(engines: Arc<Engines>) -> EventSource {
    let signals = engines.signals().subscribe();
    let now = Instant::now();
    let source = Source {
        engines,
        signals,
        due: Some(now),
        reported: now,
    };
    futures_util::stream::unfold(source, |mut source| async move {
        Some((source.next().await?, source))
    })
    .boxed()
}

impl Source {
    async fn next(&mut self) -> Option<Event> {
        loop {
            let due = self.due.unwrap_or_else(Instant::now);
            tokio::select! {
                biased;
                signal = self.signals.recv() => match signal {
                    Ok(Signal::Activity(activity)) => return Some(Event::Activity { activity }),
                    // After a gap the status is what counts; the activity can be asked for.
                    Ok(Signal::Status) | Err(RecvError::Lagged(_)) => {
                        let soon = self.reported + STATUS_PAUSE;
                        self.due = Some(self.due.map_or(soon, |due| due.min(soon)));
                    }
                    Err(RecvError::Closed) => return None,
                },
                () = sleep_until(due), if self.due.is_some() => {
                    let status = self.engines.status();
                    self.reported = Instant::now();
                    self.due = (!status.transfers.is_empty()).then(|| self.reported + TRANSFER_PAUSE);
                    return Some(Event::Status { status });
                }
            }
        }
    }
}
