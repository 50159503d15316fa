//! Listening to the notifications of other servers on the same database.

use super::super::error::Result;
use super::client::config;
use super::tls;
use super::wait::runtime_handle;
use futures_util::{FutureExt as _, StreamExt as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio_postgres::{AsyncMessage, Config};

/// The wait before another attempt to connect, and its largest multiple after several that failed.
const RETRY: Duration = Duration::from_millis(200);
const MOST_WAITS: u32 = 10;

/// A connection that listens for as long as this lives.
pub(crate) struct Listening(AbortHandle);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Listens to a channel on a connection of its own, which is made again whenever it breaks. `handler` gets the payload of
/// each notification, and `None` whenever some may have been missed: each time that the connection has been made.
///
/// # Errors
/// An address that is none; a machine that gives no thread.
pub(in crate::db) fn listen(
    url: &str,
    channel: String,
    handler: impl Fn(Option<&str>) + Send + Sync + 'static,
) -> Result<Listening> {
    let config = config(url)?;
    let task = runtime_handle()?.spawn(async move {
        let mut failures = 0;
        loop {
            let has_begun = AtomicBool::new(false);
            let note = |payload: Option<&str>| {
                has_begun.store(true, Ordering::Relaxed);
                handler(payload);
            };
            let ended = listen_once(&config, &channel, &note).await;
            failures = if has_begun.into_inner() {
                0
            } else {
                failures + 1
            };
            let error = ended
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            if failures < 2 {
                tracing::warn!(
                    error,
                    "no news of the other servers until the database is back"
                );
            } else {
                tracing::debug!(error, failures, "still no news of the other servers");
            }
            tokio::time::sleep(RETRY * (failures + 1).min(MOST_WAITS)).await;
        }
    });
    Ok(Listening(task.abort_handle()))
}

/// Listens until the connection breaks.
async fn listen_once(
    config: &Config,
    channel: &str,
    handler: &(impl Fn(Option<&str>) + Send + Sync),
) -> Result<()> {
    let (client, mut messages) = tls::connect(config).await?;
    let command = format!("LISTEN {channel}");
    let mut begun = std::pin::pin!(client.batch_execute(&command).fuse());
    loop {
        tokio::select! {
            begun = &mut begun => {
                begun?;
                handler(None);
            }
            message = messages.next() => match message {
                Some(Ok(AsyncMessage::Notification(news))) => handler(Some(news.payload())),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.into()),
                None => return Ok(()),
            },
        }
    }
}
