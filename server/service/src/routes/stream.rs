//! The change feed (each file and folder once, in the order of its latest change) as server-sent events.
//!
//! A woken stream reads everything since its position, so a burst of changes is one event, and a
//! slow reader gets fewer and larger ones.

use crate::auth::{self, Caller};
use crate::bounds::CHANGES_PAGE;
use crate::error::{Error, Result};
use crate::http::extract::QueryParams;
use crate::http::metrics::Subscriber;
use crate::state::AppState;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use cairn_model::{AccountId, Cursor};
use cairn_store::Error as StoreError;
use cairn_store::Space;
use cairn_wire::changes::{FeedMoved, StreamQuery};
use futures_util::Stream;
use std::time::Duration;
use tokio::sync::watch;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Well within the 60 s after which clients and proxies give a silent connection up.
const HEARTBEAT: Duration = Duration::from_secs(25);
/// The longest time for which a stream outlives its credential: the command line ends logins and disables
/// accounts from another process.
const CHECK_EVERY: Duration = Duration::from_secs(20);

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(stream))
}

struct Listener {
    app: AppState,
    space: Space,
    /// The credential of the request, and the time at which it came (milliseconds since 1970).
    credential: (String, i64),
    /// The account that listens in the space of a team, as long as it belongs to the team.
    member: Option<AccountId>,
    cursor: Cursor,
    bare: bool,
    moved: watch::Receiver<i64>,
    closing: watch::Receiver<bool>,
    _subscriber: Subscriber,
}

impl Listener {
    /// Checks that the listener may still hear of this space.
    fn check_access(&self) -> Result<()> {
        let (token, presented) = &self.credential;
        let holder = auth::holder_as_of(&self.app, token, *presented)?;
        match self.member {
            Some(account) => self
                .app
                .store
                .membership_in_space(account, self.space.id)
                .map(drop)
                .map_err(Error::from),
            None if holder.space.id == self.space.id => Ok(()),
            None => Err(Error::unauthorized("the account of this stream is gone")),
        }
    }

    /// Returns what has changed since the last event.
    fn news(&self) -> Result<Option<FeedMoved>> {
        self.check_access()?;
        let store = &self.app.store;
        if self.bare {
            // A position of another history is an error here, as it is for the changes.
            store.position(self.space, &self.cursor.0)?;
            let cursor = store.head(self.space)?;
            let changes = Vec::new();
            return Ok((cursor != self.cursor).then_some(FeedMoved { cursor, changes }));
        }
        let page = store.changes(self.space, Some(&self.cursor), CHANGES_PAGE as usize)?;
        Ok((!page.changes.is_empty()).then_some(FeedMoved {
            cursor: page.cursor,
            changes: page.changes,
        }))
    }

    /// The next event; `None` ends the stream.
    async fn next(&mut self) -> Option<Result<Event>> {
        loop {
            if *self.closing.borrow() {
                return None;
            }
            // Before reading: a change that comes meanwhile wakes the next turn.
            self.moved.mark_unchanged();
            let moved = match self.news() {
                Ok(moved) => moved,
                // Another history has begun, the credential has ended, or the listener has left the team;
                // the client learns it when it asks again.
                Err(Error::Store(
                    StoreError::Gone(_)
                    | StoreError::Unauthorized(_)
                    | StoreError::Forbidden(_)
                    | StoreError::NotFound(_),
                )) => return None,
                Err(error) => return Some(Err(error)),
            };
            if let Some(moved) = moved {
                self.cursor = moved.cursor.clone();
                let event = Event::default()
                    .event("change")
                    .id(moved.cursor.0.clone())
                    .json_data(&moved);
                return Some(
                    event.map_err(|e| Error::internal(format!("can't write an event: {e}"))),
                );
            }
            let mut closing = self.closing.clone();
            tokio::select! {
                moved = self.moved.changed() => moved.ok()?,
                closed = closing.changed() => closed.ok()?,
                () = tokio::time::sleep(CHECK_EVERY) => {}
            }
        }
    }
}

fn events(listener: Listener) -> impl Stream<Item = Result<Event>> {
    futures_util::stream::unfold(Some(listener), |state| async {
        let mut listener = state?;
        let event = listener.next().await?;
        let next = event.is_ok().then_some(listener);
        Some((event, next))
    })
}

/// Pushes changes as they happen: `event: change`, the cursor as id, `FeedMoved` as data.
#[utoipa::path(
    get, path = "/api/v1/changes/stream", tag = "changes", params(StreamQuery),
    responses(
        (status = 200, description = "Server-sent events; a comment every 25 s", body = FeedMoved, content_type = "text/event-stream"),
        (status = 410, description = "The cursor belongs to another history or space; take a snapshot")
    )
)]
async fn stream(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<StreamQuery>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event>>>> {
    let moved = app.store.feed_notifier().listen(caller.space.row);
    let resumed = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok())
        .map(|text| Cursor(text.to_owned()));
    let cursor = match resumed.or(query.cursor) {
        Some(cursor) => {
            app.store.position(caller.space, &cursor.0)?;
            cursor
        }
        None => app.store.head(caller.space)?,
    };
    let closing = app.closing.subscribe();
    let token = auth::bearer(&headers).unwrap_or_default().to_owned();
    let credential = (token, app.source.now_ms());
    let subscriber = app.metrics.subscribe();
    let listener = Listener {
        app,
        space: caller.space,
        credential,
        member: caller.team.map(|_| caller.account),
        cursor,
        bare: query.bare,
        moved,
        closing,
        _subscriber: subscriber,
    };
    Ok(Sse::new(events(listener)).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
}
