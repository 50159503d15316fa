//! The remote tree: catching up with the change feed.
//!
//! All pages are fetched first and then recorded in one transaction together with the cursor, so the
//! remote tree is always a state that the service really had. A cursor that the service does not
//! know any more (too old, or its data was restored) means that the engine history is gone: then no
//! absence may count as a deletion, and the synced tree is dropped in the same transaction.

mod record;
mod snapshot;

use crate::admission::Admission;
use crate::engine::Engine;
use crate::error::EngineError;
use cairn_api::ApiError;
use cairn_index::IndexError;
use cairn_model::Cursor;
use cairn_wire::changes::Change;
use record::record;
pub(crate) use snapshot::{accept, restore_held_problems};

/// Key of the cursor in the index.
const CURSOR: &str = "cursor";

/// The result of polling the feed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PollResult {
    Nothing,
    Changes,
    /// The history was replaced: everything was compared afresh.
    Reset,
}

/// The feed position up to which everything is recorded.
pub(crate) fn cursor(engine: &Engine) -> Result<Option<Cursor>, IndexError> {
    let bytes = engine.index.read(|db| db.meta(CURSOR))?;
    Ok(bytes.and_then(|b| String::from_utf8(b).ok()).map(Cursor))
}

/// Brings the remote tree up to date.
///
/// # Errors
/// The network's, the index's, or a service that breaks the protocol.
pub(crate) async fn poll(engine: &Engine) -> Result<PollResult, EngineError> {
    match cursor(engine)? {
        None => {
            snapshot::load_first(engine).await?;
            Ok(PollResult::Reset)
        }
        // Skipped by an earlier run that was stricter.
        Some(_)
            if engine.admission.get() == Admission::All
                && engine.index.read(|db| db.has_unaccepted())? =>
        {
            accept(engine).await?;
            Ok(PollResult::Reset)
        }
        Some(from) => match changes_since(engine, &from).await {
            Ok((changes, to)) => {
                if to == from && changes.is_empty() {
                    return Ok(PollResult::Nothing);
                }
                let news = engine
                    .index
                    .write(|db| record(engine, db, &changes, &to, engine.admission.get()))?;
                Ok(if news {
                    PollResult::Changes
                } else {
                    PollResult::Nothing
                })
            }
            Err(EngineError::Api(ApiError::Gone { message })) => {
                tracing::warn!(%message, "the change feed's history was replaced; comparing afresh, deleting nothing");
                snapshot::load_replaced(engine).await?;
                Ok(PollResult::Reset)
            }
            Err(error) => Err(error),
        },
    }
}

async fn changes_since(
    engine: &Engine,
    from: &Cursor,
) -> Result<(Vec<Change>, Cursor), EngineError> {
    let mut all = Vec::new();
    let mut cursor = from.clone();
    loop {
        let page = engine.api.changes(Some(&cursor)).await?;
        all.extend(page.changes);
        if page.has_more && page.cursor == cursor {
            return Err(EngineError::Protocol(
                "the change feed does not move on".into(),
            ));
        }
        cursor = page.cursor;
        if !page.has_more {
            return Ok((all, cursor));
        }
    }
}
