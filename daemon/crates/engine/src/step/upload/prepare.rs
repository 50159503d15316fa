//! The facts that an upload needs: the local row, the parent folder, the revision that it replaces, and what an
//! earlier try has left.

use super::Task;
use crate::error::EngineError;
use crate::node_rows::{download_of, known_numbers};
use crate::step::Ctx;
use cairn_crypto::SpaceKeys;
use cairn_index::{Db, IndexError, JournalRow, LocalRow, RemoteRow, Skipped, SyncedRow};
use cairn_model::{ContentHash, NodeId, RelPath, RevisionId};
use cairn_transfer::{Download, ResumableUpload, UploadTarget};
use std::path::PathBuf;

/// A task with everything looked up.
pub(super) struct PreparedUpload {
    pub(super) row: LocalRow,
    pub(super) path: String,
    pub(super) absolute: PathBuf,
    pub(super) target: UploadTarget,
    pub(super) revision: RevisionId,
    pub(super) resume: Option<ResumableUpload>,
    pub(super) unless: Option<ContentHash>,
}

/// The rows of a task.
struct Rows {
    local: LocalRow,
    path: RelPath,
    parent: Option<NodeId>,
    journal: Option<JournalRow>,
    /// The node as which it was sent, if the reply was lost.
    sent_as_new: Option<NodeId>,
    over: Option<RemoteRow>,
    synced: Option<SyncedRow>,
}

/// Looks everything up that the uploads of some files need, from one state of the index.
///
/// # Errors
/// For each, [`EngineError::Stale`] if anything is not as it was planned, the index's, or
/// [`EngineError::NotRecorded`] if the index can't be read at all.
pub(super) fn prepare_uploads(
    ctx: &Ctx,
    tasks: Vec<Task>,
) -> Vec<(Task, Result<PreparedUpload, EngineError>)> {
    let found = ctx.engine.index.read(|db| {
        let rows = tasks.iter().map(|task| rows(ctx, db, task));
        Ok(rows.collect::<Vec<_>>())
    });
    let found = found.unwrap_or_else(|error| {
        tracing::warn!(%error, "uploads can't be looked up; they wait");
        Vec::new()
    });
    let mut found = found.into_iter();
    tasks
        .into_iter()
        .map(|task| {
            let ready = match found.next() {
                Some(rows) => rows
                    .map_err(EngineError::from)
                    .and_then(|rows| with_rows(ctx, &task, rows)),
                None => Err(EngineError::NotRecorded),
            };
            (task, ready)
        })
        .collect()
}

/// Looks everything up that the upload of a file needs.
///
/// # Errors
/// [`EngineError::Stale`] if anything is not as it was planned, or the index's.
pub(super) fn prepare_upload(ctx: &Ctx, task: &Task) -> Result<PreparedUpload, EngineError> {
    let rows = ctx.engine.index.read(|db| rows(ctx, db, task))?;
    with_rows(ctx, task, rows)
}

fn with_rows(ctx: &Ctx, task: &Task, rows: Option<Rows>) -> Result<PreparedUpload, EngineError> {
    let rows = rows.ok_or(EngineError::Stale)?;
    let (target, unless) = match task.over {
        None => (new_node(ctx, task, &rows), None),
        Some(node) => new_revision(ctx, node, &rows)?,
    };
    let resume = rows
        .journal
        .filter(|journal| journal.node == target.node())
        .and_then(|journal| read_started(&journal.state));
    let revision = match &resume {
        Some(started) => started.revision,
        None => ctx.engine.new_revision(),
    };
    Ok(PreparedUpload {
        absolute: ctx.absolute_path(&rows.path),
        path: rows.path.to_string(),
        target,
        revision,
        resume,
        unless,
        row: rows.local,
    })
}

/// Reads the rows of a task; `None` if the file or the parent is not there any more, or is not synced.
fn rows(ctx: &Ctx, db: &Db<'_>, task: &Task) -> Result<Option<Rows>, IndexError> {
    let (Some(local), Some(path), Some(parent)) = (
        db.local_row(task.local)?,
        db.local_path(task.local)?,
        ctx.remote_parent(db, &task.to)?,
    ) else {
        return Ok(None);
    };
    // The rules have changed since, or something else lies there now.
    if local.skipped != Skipped::No {
        return Ok(None);
    }
    // Known on the service as another's by now: then this file is a node of its own.
    let sent_as_new = match db.sent_as_new(task.local)? {
        Some(node) if db.remote_row(node)?.is_none() => Some(node),
        Some(_) | None => None,
    };
    let (over, synced) = match task.over {
        Some(node) => (db.remote_row(node)?, db.synced_row(ctx.folder.id, node)?),
        None => (None, None),
    };
    Ok(Some(Rows {
        journal: db.journal(task.local, &local.stat)?,
        local,
        path,
        parent,
        sent_as_new,
        over,
        synced,
    }))
}

fn new_node(ctx: &Ctx, task: &Task, rows: &Rows) -> UploadTarget {
    // Under another id, a node whose reply was lost would exist twice.
    let node = rows.sent_as_new.unwrap_or_else(|| ctx.engine.new_node());
    UploadTarget::New {
        node,
        parent: rows.parent,
        name: task.to.name.to_string(),
    }
}

fn new_revision(
    ctx: &Ctx,
    node: NodeId,
    rows: &Rows,
) -> Result<(UploadTarget, Option<ContentHash>), EngineError> {
    let over = rows.over.as_ref().ok_or(EngineError::Stale)?;
    let base = over.revision.ok_or(EngineError::Stale)?;
    let synced = rows.synced.as_ref().ok_or(EngineError::Stale)?;
    // A new head with the bytes of the merge base is no other version.
    let same_bytes = over.hash.is_some() && over.hash == synced.hash;
    if synced.revision != Some(base) && !same_bytes {
        return Err(EngineError::Stale);
    }
    let numbers = known_numbers(&ctx.engine.keys, over);
    let target = UploadTarget::Revision {
        node,
        parent: over.parent,
        name: over.name.to_string(),
        base,
        number: numbers.next_revision()?,
        replaced: reusable_content(&ctx.engine.keys, over, synced),
        seal_seq: numbers.next_seal()?,
        version: Some(over.version),
    };
    // Without a seal the bit has no request of its own.
    let is_bit_new = !numbers.sealed && rows.local.executable != over.executable;
    Ok((target, synced.hash.filter(|_| !is_bit_new)))
}

/// Returns the content whose chunks may stay: the one that the index has as synced. Its chunks were not opened
/// here where it was adopted because its hash equals that of a file.
fn reusable_content(keys: &SpaceKeys, over: &RemoteRow, synced: &SyncedRow) -> Option<Download> {
    download_of(keys, over).filter(|present| synced.revision == Some(present.revision))
}

/// Reads a journal's state; one of another version of the program begins the upload again.
fn read_started(bytes: &[u8]) -> Option<ResumableUpload> {
    serde_json::from_slice(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;
    use cairn_model::{FolderId, Kind, LocalId, Name, SpaceId};
    use cairn_plan::{Parent, ParentAndName};

    #[test]
    fn a_file_that_takes_no_part_any_more_is_not_sent() {
        let test = TestEngine::new();
        let locals = [Skipped::No, Skipped::Ignored, Skipped::Special]
            .map(|skipped| test.local_file(&format!("{skipped:?}"), skipped));
        let (ctx, _dir) = test.into_ctx();
        let is_ready = locals.map(|local| {
            let task = Task {
                local,
                over: None,
                to: ParentAndName {
                    parent: Parent::Root,
                    name: Name::new("n".to_owned()).unwrap(),
                },
                size: 0,
            };
            prepare_upload(&ctx, &task).is_ok()
        });
        assert_eq!(is_ready, [true, false, false]);
    }

    #[test]
    fn chunks_stay_only_of_the_revision_that_was_here() {
        let keys = SpaceKeys::from_raw(SpaceId::from_random_bytes([1; 16]), 1, &[2; 32]).unwrap();
        let (node, name) = (
            NodeId::from_random_bytes([3; 16]),
            Name::new("n".to_owned()).unwrap(),
        );
        let revision = RevisionId::from_random_bytes([4; 16]);
        let over = RemoteRow {
            kind: Kind::File,
            revision: Some(revision),
            size: 1,
            version: 2,
            hash: Some(ContentHash([5; 32])),
            number: Some(2),
            ..RemoteRow::folder(node, None, name.clone())
        };
        let synced = |revision| SyncedRow {
            folder: FolderId(1),
            node,
            local: LocalId(1),
            parent: None,
            name: name.clone(),
            kind: Kind::File,
            revision,
            hash: over.hash,
            size: 1,
            executable: false,
        };
        assert!(reusable_content(&keys, &over, &synced(Some(revision))).is_some());
        let other = RevisionId::from_random_bytes([6; 16]);
        assert!(reusable_content(&keys, &over, &synced(Some(other))).is_none());
        assert!(reusable_content(&keys, &over, &synced(None)).is_none());
    }
}
