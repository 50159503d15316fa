//! Serving over TCP until the process is asked to end.

use crate::app::App;
use crate::error::{Error, Result};
use axum::serve::ListenerExt as _;
use std::fs::{File, TryLockError};
use std::time::Duration;
use tokio::net::TcpListener;

/// How long requests on their way may take once the server is to end.
const GRACE: Duration = Duration::from_secs(5);
const HOUSEKEEPING: Duration = Duration::from_secs(600);

/// Serves until `stop` is there, then ends streams and waits up to 5 s for the other requests.
///
/// # Errors
/// [`Error::Config`] if another server uses the data directory, [`Error::Io`] if accepting fails.
pub async fn serve(app: &App, listener: TcpListener, stop: impl Future<Output = ()>) -> Result<()> {
    let _lock = lock(app)?;
    let background = tokio::spawn(look_after(app.clone(), app.source().now_ms()));
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "can't set TCP_NODELAY");
        }
    });
    let mut closing = app.inner.closing.subscribe();
    let server = axum::serve(listener, app.router()).with_graceful_shutdown(async move {
        // An error means that the app is gone, which is an end, too.
        drop(closing.wait_for(|closing| *closing).await);
    });
    let mut server = tokio::spawn(server.into_future());
    let ended = tokio::select! {
        ended = &mut server => ended,
        () = stop => {
            app.close();
            match tokio::time::timeout(GRACE, &mut server).await {
                Ok(ended) => ended,
                Err(_) => {
                    server.abort();
                    Ok(Ok(()))
                }
            }
        }
    };
    background.abort();
    app.inner.bandwidth.flush_all(&app.inner)?;
    ended
        .map_err(|e| Error::Internal(format!("the server task ended: {e}")))?
        .map_err(|source| Error::Io {
            what: "can't accept connections".into(),
            source,
        })
}

/// Keeps a second server off the data directory; the command line may still work on it.
fn lock(app: &App) -> Result<Option<File>> {
    let options = &app.inner.options;
    if options.ephemeral {
        return Ok(None);
    }
    let path = options.data.join("server.lock");
    let io = |source| Error::Io {
        what: format!("can't lock {}", path.display()),
        source,
    };
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Error::Config(format!(
            "another cairn-server uses {}; stop it, or choose another --data",
            options.data.display()
        ))),
        Err(TryLockError::Error(source)) => Err(io(source)),
    }
}

/// Deletes what a crash left behind, once, and what has expired, from time to time.
async fn look_after(app: App, started_ms: i64) {
    match app.sweep_objects(started_ms).await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "deleted objects that a crash had left behind"),
        Err(error) => tracing::warn!(%error, "can't look for objects that a crash left behind"),
    }
    let mut timer = tokio::time::interval(HOUSEKEEPING);
    loop {
        timer.tick().await;
        if let Err(error) = app.housekeep().await {
            tracing::warn!(%error, "housekeeping failed");
        }
    }
}
