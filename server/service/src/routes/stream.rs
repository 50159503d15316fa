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
use crate::state::shared_pages::{Asked, News};
use crate::state::streams::StreamPlace;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use cairn_model::{AccountId, Cursor};
use cairn_store::Error as StoreError;
use cairn_store::Space;
use cairn_wire::changes::{FeedMoved, StreamQuery};
use futures_util::Stream;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Well within the 60 s after which clients and proxies give a silent connection up.
const HEARTBEAT: Duration = Duration::from_secs(25);
/// The longest time for which a stream outlives its credential: access tokens expire, and the command line ends logins
/// and disables accounts from another process.
const CHECK_EVERY: Duration = Duration::from_secs(20);

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(stream))
}

struct Listener {
    app: AppState,
    space: Space,
    /// The credential of the request.
    token: String,
    /// The account that listens in the space of a team, as long as it belongs to the team.
    member: Option<AccountId>,
    cursor: Cursor,
    bare: bool,
    moved: watch::Receiver<u64>,
    closing: watch::Receiver<bool>,
    _subscriber: Subscriber,
    _place: StreamPlace,
}

impl Listener {
    /// Checks that the listener may still hear of this space.
    fn check_access(&self) -> Result<()> {
        let holder = auth::holder(&self.app, &self.token)?;
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

    /// Returns what has changed since the last event. `report` is that of the latest change, if one has woken the
    /// stream.
    async fn news(&self, report: Option<u64>) -> Result<Option<Arc<News>>> {
        self.check_access()?;
        let asked = Asked {
            space: self.space.row,
            from: self.cursor.clone(),
            bare: self.bare,
        };
        let pages = &self.app.shared_pages;
        pages.read(asked, report, || self.read_news()).await
    }

    fn read_news(&self) -> Result<Option<News>> {
        let store = &self.app.store;
        let moved = if self.bare {
            // A position of another history is an error here, as it is for the changes.
            store.position(self.space, &self.cursor.0)?;
            let cursor = store.head(self.space)?;
            let changes = Vec::new();
            (cursor != self.cursor).then_some(FeedMoved { cursor, changes })
        } else {
            let page = store.changes(self.space, Some(&self.cursor), CHANGES_PAGE as usize)?;
            (!page.changes.is_empty()).then_some(FeedMoved {
                cursor: page.cursor,
                changes: page.changes,
            })
        };
        let news = moved.as_ref().map(News::new).transpose();
        news.map_err(|e| Error::internal(format!("can't write an event: {e}")))
    }

    /// The next event; `None` ends the stream.
    async fn next(&mut self) -> Option<Result<Event>> {
        let mut is_woken = true;
        loop {
            if *self.closing.borrow() {
                return None;
            }
            // Before reading: a change that comes meanwhile wakes the next turn.
            let report = *self.moved.borrow_and_update();
            let news = match self.news(is_woken.then_some(report)).await {
                Ok(news) => news,
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
            if let Some(news) = news {
                self.cursor = news.cursor.clone();
                let event = Event::default().event("change").id(&news.cursor.0);
                return Some(Ok(event.data(&news.json)));
            }
            let mut closing = self.closing.clone();
            tokio::select! {
                moved = self.moved.changed() => {
                    moved.ok()?;
                    is_woken = true;
                }
                closed = closing.changed() => closed.ok()?,
                () = tokio::time::sleep(CHECK_EVERY) => is_woken = false,
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
        (status = 410, description = "The cursor belongs to another history or space; take a snapshot"),
        (status = 429, description = "The account has as many streams open as it may have")
    )
)]
async fn stream(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<StreamQuery>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event>>>> {
    let place = StreamPlace::take(&app, caller.account)?;
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
    let subscriber = app.metrics.subscribe();
    let listener = Listener {
        app,
        space: caller.space,
        token,
        member: caller.team.map(|_| caller.account),
        cursor,
        bare: query.bare,
        moved,
        closing,
        _subscriber: subscriber,
        _place: place,
    };
    Ok(Sse::new(events(listener)).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
}
