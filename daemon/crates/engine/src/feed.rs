//! The remote tree: catching up with the change feed.
//!
//! All pages are fetched first and then recorded in one transaction together with the cursor, so the
//! remote tree is always a state that the service really had. A cursor that the service does not
//! know any more (too old, or its data was restored) means that the shared history is gone: then no
//! absence may count as a deletion, and the synced tree is dropped in the same transaction.

mod record;
mod snapshot;

use crate::error::EngineError;
use crate::shared::Shared;
use cairn_api::ApiError;
use cairn_index::IndexError;
use cairn_model::Cursor;
use cairn_wire::changes::Change;
pub(crate) use record::Admission;
use record::record;
pub(crate) use snapshot::{accept, recall_held};

/// Where the cursor stands in the index.
const CURSOR: &str = "cursor";

/// What catching up found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Caught {
    Nothing,
    Changes,
    /// The history was replaced: everything was compared afresh.
    Anew,
}

/// The feed position up to which everything is recorded.
pub(crate) fn cursor(shared: &Shared) -> Result<Option<Cursor>, IndexError> {
    let bytes = shared.index.read(|db| db.meta(CURSOR))?;
    Ok(bytes.and_then(|b| String::from_utf8(b).ok()).map(Cursor))
}

/// Brings the remote tree up to date.
///
/// # Errors
/// The network's, the index's, or a service that breaks the protocol.
pub(crate) async fn catch_up(shared: &Shared) -> Result<Caught, EngineError> {
    match cursor(shared)? {
        None => {
            snapshot::begin(shared).await?;
            Ok(Caught::Anew)
        }
        // Held by an earlier run that was stricter.
        Some(_)
            if shared.admission() == Admission::All
                && shared.index.read(|db| db.has_unaccepted())? =>
        {
            accept(shared).await?;
            Ok(Caught::Anew)
        }
        Some(from) => match changes_since(shared, &from).await {
            Ok((changes, to)) => {
                if to == from && changes.is_empty() {
                    return Ok(Caught::Nothing);
                }
                let news = shared
                    .index
                    .write(|db| record(shared, db, &changes, &to, shared.admission()))?;
                Ok(if news {
                    Caught::Changes
                } else {
                    Caught::Nothing
                })
            }
            Err(EngineError::Api(ApiError::Gone { message })) => {
                tracing::warn!(%message, "the change feed's history was replaced; comparing afresh, deleting nothing");
                snapshot::begin_anew(shared).await?;
                Ok(Caught::Anew)
            }
            Err(error) => Err(error),
        },
    }
}

async fn changes_since(
    shared: &Shared,
    from: &Cursor,
) -> Result<(Vec<Change>, Cursor), EngineError> {
    let mut all = Vec::new();
    let mut cursor = from.clone();
    loop {
        let page = shared.api.changes(Some(&cursor)).await?;
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
