//! The change feed: pages of changes, the snapshot of all nodes, and the event stream that says when to poll; and what
//! nodes were before.

use crate::call::Call;
use crate::client::Api;
use crate::error::ApiError;
use crate::sse::Events;
use cairn_model::Cursor;
use cairn_wire::Timestamp;
use cairn_wire::changes::{
    Changes, ChangesQuery, FeedMoved, PastStates, PastStatesQuery, Snapshot, SnapshotQuery,
    StreamQuery,
};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

/// Notices that the feed has moved, until the connection ends.
pub type FeedStream = BoxStream<'static, Result<FeedMoved, ApiError>>;

impl Api {
    /// `GET /changes`: up to 1,000 changes after the cursor (`None`: from the beginning).
    ///
    /// # Errors
    /// [`ApiError::Gone`] if the cursor is too old or from another history: take a snapshot.
    pub async fn changes(&self, cursor: Option<&Cursor>) -> Result<Changes, ApiError> {
        let query = ChangesQuery {
            cursor: cursor.cloned(),
            limit: None,
        };
        self.json_with_names(Call::get("/api/v1/changes").query(&query)?)
            .await
    }

    /// `GET /changes/snapshot`: one page of all active nodes; `after` is `next` of the page before.
    ///
    /// # Errors
    /// [`ApiError::Gone`] if `after` is from another history: begin again.
    pub async fn snapshot(&self, after: Option<&str>) -> Result<Snapshot, ApiError> {
        let query = SnapshotQuery {
            after: after.map(Into::into),
            limit: None,
        };
        self.json_with_names(Call::get("/api/v1/changes/snapshot").query(&query)?)
            .await
    }

    /// `GET /changes/past`: one page of what nodes were until a time after `since` (`None`: all that is known);
    /// `after` is `next` of the page before.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] of a server that keeps no past.
    pub async fn past_states(
        &self,
        since: Option<Timestamp>,
        after: Option<&str>,
    ) -> Result<PastStates, ApiError> {
        let query = PastStatesQuery {
            since,
            after: after.map(Into::into),
            limit: None,
        };
        self.json_with_names(Call::get("/api/v1/changes/past").query(&query)?)
            .await
    }

    /// `GET /changes/stream`: waits for changes after the cursor, and yields their positions only: the changes
    /// themselves are fetched in pages. The stream ends when the connection does, with an error if it broke; the
    /// caller opens the next one.
    ///
    /// # Errors
    /// [`ApiError::Gone`] as for [`Api::changes`].
    pub async fn stream(&self, cursor: Option<&Cursor>) -> Result<FeedStream, ApiError> {
        let query = StreamQuery {
            cursor: cursor.cloned(),
            bare: true,
        };
        let call = Call::get("/api/v1/changes/stream")
            .query(&query)?
            .header("accept", "text/event-stream")?;
        let response = self.open(call).await?;
        let events = Events::new(response.body, self.shared_counters());
        let moved = futures_util::stream::unfold(Some(events), |state| async move {
            let mut events = state?;
            loop {
                match events.next().await {
                    Ok(Some(event)) if event.name == "change" => {
                        let moved = serde_json::from_str(&event.data).map_err(|e| {
                            ApiError::Protocol(format!("an event of the feed is other JSON: {e}"))
                        });
                        let next = moved.is_ok().then_some(events);
                        return Some((moved, next));
                    }
                    // Other events are none of ours; a newer server may have some.
                    Ok(Some(_)) => {}
                    Ok(None) => return None,
                    Err(error) => return Some((Err(error), None)),
                }
            }
        });
        Ok(moved.boxed())
    }
}
