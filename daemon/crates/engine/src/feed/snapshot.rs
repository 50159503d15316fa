//! The remote tree from a full listing of the service: at the beginning, when the feed's history was replaced,
//! and when a person accepts the changes that were blocked.

use super::earlier_epochs;
use super::listing::Listing;
use super::record::{Page, record};
use super::went_back;
use super::{CURSOR, LAST_SEQ, LIST_AGAIN, PollResult, changes_since, last_seq};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::restored;
use crate::unverified;
use cairn_index::{Db, IndexError, UnacceptedRow};
use cairn_model::{ContentHash, Cursor, NodeId, RevisionId, Verification};
use cairn_wire::changes::{Change, ChangeKind, Snapshot};
use std::collections::{BTreeMap, BTreeSet};

/// Records the remote tree for the first time.
///
/// # Errors
/// Errors of the network or the index, or a service that breaks the protocol.
pub(super) async fn load_first(engine: &Engine) -> Result<(), EngineError> {
    // An earlier try may have left nodes that are gone by now.
    engine.index.write(|db| {
        db.clear_remote()?;
        db.clear_pending()?;
        db.clear_left_out()
    })?;
    // An earlier run may have begun to take another history.
    let verification = match engine.index.read(went_back::is_taken)? {
        true => Verification::Warn,
        false => engine.verification.get(),
    };
    let start = load(engine, verification, &BTreeSet::new(), |db, page| {
        went_back::put_history(db, &page.history_id)
    })
    .await?;
    finish(engine, start, verification).await?;
    end_listing(engine)
}

/// Notes that everything was listed with the present keys.
fn end_listing(engine: &Engine) -> Result<(), EngineError> {
    engine.index.write(|db| {
        went_back::end_recording(db)?;
        earlier_epochs::note_listed(engine, db)
    })?;
    engine.earlier_seals.lock().clear();
    Ok(())
}

/// Records the remote tree of another history: what is known says nothing about deletions any more.
///
/// # Errors
/// Fails like [`load_first`].
pub(super) async fn load_replaced(
    engine: &Engine,
    verification: Verification,
) -> Result<(), EngineError> {
    let known = engine.index.read(known_manifests)?;
    earlier_epochs::remember_known(engine)?;
    let mut begun = false;
    let start = load(engine, verification, &BTreeSet::new(), |db, page| {
        // Not before the service has responded: the old trees are the best there is until then.
        if std::mem::replace(&mut begun, true) {
            return Ok(());
        }
        db.remove_meta(CURSOR)?;
        let known_seq = last_seq(db)?;
        db.remove_meta(LAST_SEQ)?;
        db.clear_remote()?;
        db.clear_pending()?;
        db.clear_left_out()?;
        db.clear_synced()?;
        db.clear_unaccepted()?;
        db.clear_sent()?;
        db.clear_own_views()?;
        went_back::begin_recording(engine, db, page, known_seq, verification)?;
        restored::begin(db, &page.history_id)
    })
    .await?;
    finish(engine, start, verification).await?;
    engine.index.write(|db| {
        for (revision, (node, hash, number)) in known {
            db.set_remote_manifest(node, revision, hash, number)?;
        }
        Ok(())
    })?;
    end_listing(engine)
}

/// Records every node again, because a change of one was lost, or nodes were left out. Deletions are taken from the
/// feed alone, so that is read on from where it was, not from where the list begins.
///
/// # Errors
/// Fails like [`load_first`].
pub(super) async fn list_again(engine: &Engine) -> Result<(), EngineError> {
    let verification = engine.verification.get();
    let read_to = super::cursor(engine)?;
    let listed = load(engine, verification, &BTreeSet::new(), |_, _| Ok(())).await?;
    finish(engine, listed.from(read_to), verification).await?;
    engine.index.write(|db| {
        db.remove_meta(LIST_AGAIN)?;
        db.end_left_out()
    })?;
    end_listing(engine)
}

/// Accepts every change that was blocked until a person decides, as the service has the nodes now, and that the
/// service went back to an earlier state. Returns how many there were.
///
/// # Errors
/// Fails like [`load_first`].
pub(crate) async fn accept(engine: &Engine) -> Result<u64, EngineError> {
    if engine.index.read(went_back::is_waiting)? {
        load_replaced(engine, Verification::Warn).await?;
    }
    let went_back = engine.index.write(|db| went_back::dismiss(engine, db))?;
    Ok(accept_changes(engine).await? + u64::from(went_back))
}

/// Takes every change that was blocked, because the device is no longer strict: nobody has accepted any.
///
/// # Errors
/// Fails like [`load_first`].
pub(super) async fn release_changes(engine: &Engine) -> Result<(), EngineError> {
    let held = engine.index.read(|db| db.unaccepted_nodes())?;
    take_changes(engine, &held, &BTreeSet::new()).await
}

/// Accepts every change that was blocked, for a person. Returns how many there were.
async fn accept_changes(engine: &Engine) -> Result<u64, EngineError> {
    let held = engine.index.read(|db| db.unaccepted_nodes())?;
    let accepted = held.iter().map(|row| row.node).collect();
    take_changes(engine, &held, &accepted).await?;
    Ok(held.len() as u64)
}

async fn take_changes(
    engine: &Engine,
    held: &[UnacceptedRow],
    accepted: &BTreeSet<NodeId>,
) -> Result<(), EngineError> {
    if held.is_empty() {
        return Ok(());
    }
    // The whole tree: a folder that was held has kept everything below it from being recorded.
    let mut missing: BTreeSet<NodeId> = held.iter().map(|row| row.node).collect();
    let read_to = super::cursor(engine)?;
    let listed = load(engine, Verification::Warn, accepted, |_, page| {
        for node in &page.nodes {
            missing.remove(&node.id);
        }
        Ok(())
    })
    .await?;
    engine.index.write(|db| {
        // Only what was held: an upload may have ended since, and its node be in no snapshot yet.
        for node in &missing {
            db.remove_remote(*node)?;
        }
        db.clear_unaccepted()
    })?;
    finish(engine, listed.from(read_to), Verification::Warn).await?;
    engine.index.write(|db| db.end_left_out())?;
    for row in held {
        engine.health().accept(row.node);
    }
    Ok(())
}

/// Reports the changes that an earlier run has blocked as problems again.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn restore_held_problems(engine: &Engine) -> Result<(), IndexError> {
    engine.index.read(|db| {
        went_back::report(engine, db)?;
        let folders = db.folders()?;
        for row in db.unaccepted_nodes()? {
            unverified::restore_problem(engine, db, &folders, row)?;
        }
        Ok(())
    })
}

/// The beginning of a listing.
struct Start {
    /// The position from which changes have come since the first page.
    cursor: Cursor,
    /// The number of the latest change before it, if the service has told that.
    seq: Option<u64>,
}

impl Start {
    /// Returns the same listing, after which the feed is read from another position.
    fn from(self, cursor: Option<Cursor>) -> Self {
        Self {
            cursor: cursor.unwrap_or(self.cursor),
            ..self
        }
    }
}

/// Records every node of the space, page by page, each after `before` has seen it. A person has accepted some as they
/// are.
async fn load(
    engine: &Engine,
    verification: Verification,
    accepted: &BTreeSet<NodeId>,
    mut before: impl FnMut(&Db<'_>, &Snapshot) -> Result<(), IndexError>,
) -> Result<Start, EngineError> {
    let mut listing = Listing::default();
    let mut first: Option<Start> = None;
    while let Some(mut page) = listing.next(engine).await? {
        first.get_or_insert_with(|| Start {
            cursor: page.cursor.clone(),
            seq: page.seq,
        });
        engine.index.write(|db| {
            before(db, &page)?;
            let changes: Vec<Change> = std::mem::take(&mut page.nodes)
                .into_iter()
                .map(|node| Change {
                    seq: node.seq,
                    kind: ChangeKind::Created,
                    node_id: node.id,
                    node: Some(node),
                })
                .collect();
            let page = Page {
                changes: &changes,
                cursor: None,
                is_last: false,
                accepted,
            };
            record(engine, db, &page, verification)
        })?;
    }
    first.ok_or_else(|| EngineError::Protocol("a list without a page".into()))
}

/// Records what has changed since a snapshot was begun, and compares everything afresh.
async fn finish(
    engine: &Engine,
    start: Start,
    verification: Verification,
) -> Result<(), EngineError> {
    let mut at = start.cursor;
    while changes_since(engine, at.clone(), verification).await? == PollResult::More {
        at = super::cursor(engine)?.unwrap_or(at);
    }
    engine.index.write(|db| {
        if db.meta(CURSOR)?.is_none() {
            db.set_meta(CURSOR, at.0.as_bytes())?;
        }
        let last = last_seq(db)?.max(start.seq.unwrap_or(0));
        db.set_meta(LAST_SEQ, &last.to_be_bytes())?;
        for folder in db.folders()? {
            db.mark_differing(&folder)?;
        }
        Ok(())
    })?;
    Ok(())
}

type KnownManifests = BTreeMap<RevisionId, (NodeId, ContentHash, u64)>;

/// Returns the contents of opened manifests, which stay valid for the same revisions.
fn known_manifests(db: &Db<'_>) -> Result<KnownManifests, IndexError> {
    Ok(db
        .all_remotes()?
        .into_iter()
        .filter_map(|row| Some((row.revision?, (row.node, row.hash?, row.number?))))
        .collect())
}
