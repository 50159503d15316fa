//! The events of one subscriber: changes of the status, merged where they come close, and activity.

use crate::serve::convert;
use cairn_control::{Event, EventSource};
use cairn_engine::EngineHandle;
use cairn_index::ActivityRow;
use futures_util::StreamExt as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::time::{Instant, sleep_until};

/// The shortest time between two messages of the status: nobody reads faster.
const STATUS_PAUSE: Duration = Duration::from_millis(100);
/// The time between two messages of the status during a transfer, whose figures change by themselves.
const TRANSFER_PAUSE: Duration = Duration::from_secs(1);

struct Source {
    engine: Arc<EngineHandle>,
    events: Receiver<cairn_engine::Event>,
    /// The time of the next message of the status, if there is one to send.
    due: Option<Instant>,
    reported: Instant,
}

pub(super) fn source(engine: Arc<EngineHandle>) -> EventSource {
    let events = engine.events();
    let now = Instant::now();
    let source = Source {
        engine,
        events,
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
                event = self.events.recv() => match event {
                    Ok(cairn_engine::Event::Activity { at_ms, folder, kind, path, device, bytes }) => {
                        let row = ActivityRow { at_ms, folder, kind, path, device, bytes };
                        let folders = self.engine.folders().unwrap_or_default();
                        return Some(Event::Activity { activity: convert::activity(&row, &folders) });
                    }
                    // After a gap the status is what counts; the activity can be asked for.
                    Ok(cairn_engine::Event::Status) | Err(RecvError::Lagged(_)) => {
                        let soon = self.reported + STATUS_PAUSE;
                        self.due = Some(self.due.map_or(soon, |due| due.min(soon)));
                    }
                    Err(RecvError::Closed) => return None,
                },
                () = sleep_until(due), if self.due.is_some() => {
                    let status = convert::status(&self.engine.status());
                    self.reported = Instant::now();
                    self.due = (!status.transfers.is_empty()).then(|| self.reported + TRANSFER_PAUSE);
                    return Some(Event::Status { status });
                }
            }
        }
    }
}
