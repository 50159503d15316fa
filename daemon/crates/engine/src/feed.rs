//! The remote tree: polling the change feed.
//!
//! Each page is recorded in one transaction together with the cursor after it, so memory stays bounded
//! however much there is, and a crash repeats one page at most. A node whose folder comes with a later
//! page waits in the index until then. Plans are made only when the last page was recorded: a state
//! in the middle never was the service's. A cursor that the service does not know any more (too old, or
//! its data was restored) means that the shared history is gone: then no absence may count as a
//! deletion, and the synced tree is dropped.

mod earlier_epochs;
mod left_out;
mod listing;
mod pending;
mod record;
mod snapshot;
pub(crate) mod view;
mod went_back;

use crate::engine::Engine;
use crate::error::EngineError;
use cairn_api::ApiError;
use cairn_index::{Db, IndexError};
use cairn_model::{Cursor, NodeId, Verification};
use cairn_wire::changes::Changes;
use left_out::{LIST_AGAIN, must_list_again};
use record::{Page, record};
pub(crate) use snapshot::{accept, restore_held_problems};
use std::collections::BTreeSet;
pub(crate) use went_back::day;

/// Key of the cursor in the index.
const CURSOR: &str = "cursor";
/// Key in the index of the highest number of a change that the feed or a listing has shown.
const LAST_SEQ: &str = "last_seq";
/// Key in the index of the epoch of the keys that the remote tree was last checked with.
const KEY_EPOCH: &str = "key_epoch";
/// Maximum pages recorded before others (commands, hints) have their turn.
const PAGES: usize = 50;

/// The result of polling the feed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PollResult {
    Nothing,
    Changes,
    /// The history was replaced: everything was compared afresh.
    Reset,
    /// There are more pages. No plan may be made before they are recorded.
    More,
}

/// Notes the epoch (the generation) of the keys. If an earlier run had other keys, everything is listed again: this
/// one may have the keys for what that one could not check.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn note_key_epoch(engine: &Engine) -> Result<(), IndexError> {
    let epoch = engine.keys.epoch().to_be_bytes();
    let before = engine.index.read(|db| db.meta(KEY_EPOCH))?;
    if before.as_deref() == Some(epoch.as_slice()) {
        // An index from before this was noted: everything in it was listed with these keys.
        return engine.index.write(|db| {
            if db.meta(CURSOR)?.is_some() && db.meta(LIST_AGAIN)?.is_none() {
                earlier_epochs::note_listed(engine, db)?;
            }
            Ok(())
        });
    }
    engine.index.write(|db| {
        if before.is_some() {
            db.set_meta(LIST_AGAIN, b"1")?;
        }
        db.set_meta(KEY_EPOCH, &epoch)
    })
}

/// Returns the feed position up to which everything is recorded.
pub(crate) fn cursor(engine: &Engine) -> Result<Option<Cursor>, IndexError> {
    engine.index.read(read_cursor)
}

/// Returns the same of an index.
pub(crate) fn read_cursor(db: &Db<'_>) -> Result<Option<Cursor>, IndexError> {
    let Some(bytes) = db.meta(CURSOR)? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes).map_err(|_| IndexError::Corrupt("cursor"))?;
    Ok(Some(Cursor(text)))
}

/// Returns whether the feed has removed a node since the change at `seq`, which a reply shows: a reply can be
/// slower than the news of what happened after it.
pub(crate) fn has_removed(db: &Db<'_>, node: NodeId, seq: u64) -> Result<bool, IndexError> {
    Ok(seq <= last_seq(db)? && db.remote_row(node)?.is_none())
}

fn last_seq(db: &Db<'_>) -> Result<u64, IndexError> {
    let Some(bytes) = db.meta(LAST_SEQ)? else {
        return Ok(0);
    };
    let bytes = <[u8; 8]>::try_from(bytes).map_err(|_| IndexError::Corrupt(LAST_SEQ))?;
    Ok(u64::from_be_bytes(bytes))
}

/// Brings the remote tree up to date. After an error a part of the changes may be recorded.
///
/// # Errors
/// Errors of the network or the index, a service that breaks the protocol, or one that went back to an earlier state.
pub(crate) async fn poll(engine: &Engine) -> Result<PollResult, EngineError> {
    let result = poll_once(engine).await;
    engine.index.read(|db| went_back::report(engine, db))?;
    result
}

async fn poll_once(engine: &Engine) -> Result<PollResult, EngineError> {
    match cursor(engine)? {
        None => {
            snapshot::load_first(engine).await?;
            Ok(PollResult::Reset)
        }
        // Held by an earlier run that was stricter.
        Some(_)
            if engine.verification.get() == Verification::Warn
                && engine.index.read(|db| db.has_unaccepted())? =>
        {
            snapshot::release_changes(engine).await?;
            Ok(PollResult::Reset)
        }
        Some(from) => match changes_since(engine, from, engine.verification.get()).await {
            Err(EngineError::Api(ApiError::Gone { message })) => {
                tracing::warn!(%message, "the change feed's history was replaced; comparing afresh, deleting nothing");
                let verification = engine.verification.get();
                if verification == Verification::Strict && went_back::is_held(engine).await? {
                    return Err(EngineError::WentBack);
                }
                snapshot::load_replaced(engine, verification).await?;
                Ok(PollResult::Reset)
            }
            Ok(PollResult::Nothing | PollResult::Changes)
                if engine.index.read(must_list_again)? =>
            {
                snapshot::list_again(engine).await?;
                Ok(PollResult::Reset)
            }
            Ok(result) => {
                engine
                    .index
                    .write(|db| went_back::end_waiting(engine, db))?;
                Ok(result)
            }
            other => other,
        },
    }
}

/// Refuses pages that no honest service sends: the feed would never end, however often it is polled.
fn check_page(engine: &Engine, from: &Cursor, page: &Changes) -> Result<(), ApiError> {
    let mut pages = engine.feed_pages.lock();
    pages.begin_at(&from.0);
    let next = page.has_more.then_some(page.cursor.0.as_str());
    pages.advance(page.changes.len(), next)
}

/// Records pages of changes after a cursor, up to the last one or for a while.
async fn changes_since(
    engine: &Engine,
    from: Cursor,
    verification: Verification,
) -> Result<PollResult, EngineError> {
    let mut result = PollResult::Nothing;
    let mut cursor = from;
    for _ in 0..PAGES {
        let page = engine.api.changes(Some(&cursor)).await?;
        check_page(engine, &cursor, &page)?;
        let unmoved = page.cursor == cursor && page.changes.is_empty();
        cursor = page.cursor;
        let has_pending = || {
            engine
                .index
                .read(|db| Ok(!db.pending_changes(None, 1)?.is_empty()))
        };
        if !unmoved || has_pending()? {
            let record_page = Page {
                changes: &page.changes,
                cursor: Some(&cursor),
                is_last: !page.has_more,
                accepted: &BTreeSet::new(),
            };
            if engine
                .index
                .write(|db| record(engine, db, &record_page, verification))?
            {
                result = PollResult::Changes;
            }
        }
        if !page.has_more {
            return Ok(result);
        }
    }
    Ok(PollResult::More)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;
    use cairn_crypto::SpaceKeys;
    use cairn_index::Index;
    use cairn_model::SpaceId;
    use std::sync::Arc;

    #[test]
    fn everything_is_listed_again_with_keys_of_another_epoch() {
        let index = Arc::new(Index::memory().unwrap());
        let lists_again = |epoch| {
            let mut test = TestEngine::new();
            let space = SpaceId::from_random_bytes([2; 16]);
            let keys = SpaceKeys::from_raw(space, epoch, &[3; 32]).unwrap();
            (test.options.index, test.options.keys) = (Arc::clone(&index), Arc::new(keys));
            let (engine, _dir) = test.into_engine();
            note_key_epoch(&engine).unwrap();
            let marked = index.read(|db| db.meta(LIST_AGAIN)).unwrap().is_some();
            index.write(|db| db.remove_meta(LIST_AGAIN)).unwrap();
            marked
        };
        let found = [1, 1, 2, 2].map(lists_again);
        assert_eq!(found, [false, false, true, false]);
    }
}
