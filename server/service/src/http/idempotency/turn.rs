//! The turn of a request with an `Idempotency-Key` among those of the same key on other servers.

use super::kept::Name;
use crate::error::{Error, Result};
use crate::state::AppState;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The longest wait for a request of the same key on another server: longer than the lease of one that was killed.
const LONGEST: Duration = Duration::from_secs(10);
/// The interval at which a turn is asked for.
const INTERVAL: Duration = Duration::from_millis(20);

/// The turn of one request, which is given back when it is dropped: also where its client has gone away.
pub(super) struct Turn<'a> {
    app: &'a AppState,
    name: &'a Name,
}

impl<'a> Turn<'a> {
    /// Waits until no other server carries out a request of this name.
    ///
    /// # Errors
    /// 503 where that takes too long; a database that fails.
    pub(super) async fn wait(app: &'a AppState, name: &'a Name) -> Result<Self> {
        let begun = Instant::now();
        while !app.store.take_turn(name.0, &name.1)? {
            if begun.elapsed() > LONGEST {
                return Err(Error::Unavailable(
                    "the request with this `Idempotency-Key` is still carried out; try again"
                        .into(),
                ));
            }
            sleep(INTERVAL).await;
        }
        Ok(Self { app, name })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.app.store.give_turn_back(self.name.0, &self.name.1) {
            tracing::debug!(%error, "a turn is not given back before its server ends");
        }
    }
}
