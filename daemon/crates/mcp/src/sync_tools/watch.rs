//! Changes of the daemon's state, for clients that subscribe to it. A daemon that stops or starts is a change.

use crate::services::Services;
use cairn_control::{Client, Event};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use std::time::Duration;

/// The time between two looks for a daemon that does not run.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// The shortest time between two reports: transfers change the state many times a second.
const PAUSE: Duration = Duration::from_millis(200);

/// Calls `report` after each change, until that returns false. The first is reported at once, and those that follow
/// closely as one.
pub(crate) async fn changes<F: Future<Output = bool>>(
    services: &Services,
    mut report: impl FnMut() -> F,
) {
    let mut running = None;
    loop {
        let connected = connect(services).await;
        let was_running = running.replace(connected.is_some());
        if was_running.is_some_and(|was| was != connected.is_some()) && !report().await {
            return;
        }
        let Some((client, events)) = connected else {
            tokio::time::sleep(LOOK_AGAIN).await;
            continue;
        };
        // The first event is the state as it is.
        let mut events = events.skip(1);
        while events.next().await.is_some() {
            while let Some(Some(_)) = futures_util::FutureExt::now_or_never(events.next()) {}
            if !report().await {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
        drop(client);
    }
}

/// Connects to the daemon; the events last as long as the client is kept.
async fn connect(services: &Services) -> Option<(Client, BoxStream<'static, Event>)> {
    let socket = services.daemon.as_deref()?;
    let client = Client::connect(socket, "mcp").await.ok()?;
    let events = client.subscribe().await.ok()?;
    Some((client, events))
}
