//! Sending file content: one big file, or many small ones in one request.
//!
//! A file is read only while its stat is what the scan saw; anything else throws the upload away
//! and looks again.

use crate::error::{Changing, EngineError};
use crate::key::Key;
use crate::node_rows::known_numbers;
use crate::observe::hash::local_stat;
use crate::record::{self, Content};
use crate::running::Running;
use crate::step::Ctx;
use crate::step::remote::row_of;
use crate::step::stable_file::StableFile;
use cairn_index::{Index, JournalRow, LocalRow, LocalStat, SentRow};
use cairn_model::{
    ActivityKind, FolderId, LocalId, Manifest, NodeId, RevisionId, TransferDirection,
};
use cairn_plan::ParentAndName;
use cairn_platform::Disk;
use cairn_transfer::{
    Progress, SmallUpload, Started, TransferError, Upload, UploadTarget, Uploaded,
};
use cairn_wire::nodes::Node;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::time::Instant;

/// One file to send.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) local: LocalId,
    pub(crate) over: Option<NodeId>,
    pub(crate) to: ParentAndName,
    pub(crate) size: u64,
}

/// A task with everything looked up.
struct Ready {
    row: LocalRow,
    path: String,
    absolute: PathBuf,
    target: UploadTarget,
    revision: RevisionId,
    resume: Option<Started>,
    unless: Option<cairn_model::ContentHash>,
}

/// The keys that a task holds while it runs.
pub(crate) fn keys(task: &Task) -> Vec<Key> {
    std::iter::once(Key::Local(task.local))
        .chain(task.over.map(Key::Node))
        .collect()
}

fn ready(ctx: &Ctx, task: &Task) -> Result<Ready, EngineError> {
    let engine = &ctx.engine;
    let (row, path, parent, journal, sent, over, synced) = engine.index.read(|db| {
        let row = db.local(task.local)?;
        let journal = match &row {
            Some(row) => db.journal(task.local, &row.stat)?,
            None => None,
        };
        // Known on the service as another's by now: then this file is a node of its own.
        let sent = match db.sent_by_local(task.local)? {
            Some(sent) if db.remote(sent.node)?.is_none() => Some(sent),
            Some(_) | None => None,
        };
        let over = match task.over {
            Some(node) => db.remote(node)?,
            None => None,
        };
        let synced = match task.over {
            Some(node) => db.synced(ctx.folder.id, node)?,
            None => None,
        };
        Ok((
            row,
            db.local_path(task.local)?,
            ctx.remote_parent(db, &task.to)?,
            journal,
            sent,
            over,
            synced,
        ))
    })?;
    let (row, path, parent) = (
        row.ok_or(EngineError::Stale)?,
        path.ok_or(EngineError::Stale)?,
        parent.ok_or(EngineError::Stale)?,
    );
    let started: Option<Started> = journal.as_ref().and_then(|j| started_from(&j.state));
    let fresh_revision = || RevisionId::from_random_bytes(engine.ports.id());
    let (target, unless) = match task.over {
        None => {
            // A node that was sent before and whose reply was lost: under another id it would exist twice.
            let node = journal
                .as_ref()
                .map(|journal| journal.node)
                .or(sent.map(|sent| sent.node))
                .unwrap_or_else(|| NodeId::from_random_bytes(engine.ports.id()));
            (
                UploadTarget::New {
                    node,
                    parent,
                    name: task.to.name.to_string(),
                },
                None,
            )
        }
        Some(node) => {
            let over = over.ok_or(EngineError::Stale)?;
            let base = over.revision.ok_or(EngineError::Stale)?;
            let synced = synced.ok_or(EngineError::Stale)?;
            // A new head with the bytes of the merge base is no other version.
            let same_bytes = over.hash.is_some() && over.hash == synced.hash;
            if synced.revision != Some(base) && !same_bytes {
                return Err(EngineError::Stale);
            }
            let numbers = known_numbers(&ctx.engine.keys, &over);
            let target = UploadTarget::Revision {
                node,
                parent: over.parent,
                name: over.name.to_string(),
                base,
                number: numbers.next_revision()?,
                content_key: over.content_key.ok_or(EngineError::Stale)?,
                content_source: over.source.map(|(node_id, revision_id)| {
                    cairn_wire::nodes::ContentSource {
                        node_id,
                        revision_id,
                    }
                }),
                seal_seq: numbers.next_seal()?,
            };
            (target, synced.hash)
        }
    };
    let resume = started.filter(|_| journal.as_ref().is_some_and(|j| j.node == target.node()));
    Ok(Ready {
        absolute: ctx.absolute(&path),
        path: path.to_string(),
        target,
        revision: resume.as_ref().map_or_else(fresh_revision, |s| s.revision),
        resume,
        unless,
        row,
    })
}

fn started_from(bytes: &[u8]) -> Option<Started> {
    serde_json::from_slice(bytes).ok()
}

/// Sends one file of any size.
pub(crate) async fn one(ctx: &Ctx, task: &Task) -> Result<(), EngineError> {
    let ready = ready(ctx, task)?;
    let _arriving = ctx.engine.arriving.add(vec![ready.target.node()]);
    let stat = ready.row.stat;
    let guard = ctx
        .engine
        .running
        .start(ready.path.clone(), TransferDirection::Up, stat.size);
    let disk = Arc::clone(&ctx.engine.ports.disk);
    let source = Arc::new(StableFile::new(disk, ready.absolute, stat));
    let upload = Upload {
        target: ready.target.clone(),
        revision: ready.revision,
        source,
        size: stat.size,
        modified_ms: stat.mtime.div_euclid(1_000_000),
        executable: ready.row.executable,
        unless: ready.unless,
        resume: ready.resume,
    };
    let listener = Listener {
        index: Arc::clone(&ctx.engine.index),
        running: Arc::clone(&guard.running),
        folder: ctx.folder.id,
        local: task.local,
        node: ready.target.node(),
        stat,
    };
    let outcome = tokio::select! {
        biased;
        outcome = ctx.engine.transfer.upload(upload, &listener) => outcome,
        () = ctx.paused() => return Err(EngineError::Paused),
    };
    let outcome = match outcome {
        // What was begun goes nowhere: its place or its base is another one by now.
        Err(
            error @ (TransferError::UploadLost
            | TransferError::Conflict { .. }
            | TransferError::Gone { .. }),
        ) => {
            ctx.engine.index.write(|db| db.end_journal(task.local))?;
            return Err(error.into());
        }
        other => other?,
    };
    finish(ctx, task, &ready.path, &stat, outcome)
}

/// Sends small files together. The outcomes are in the order of the tasks.
pub(crate) async fn many(ctx: &Ctx, tasks: &[Task]) -> Vec<Result<(), EngineError>> {
    let began = Instant::now();
    let readies: Vec<Result<Ready, EngineError>> =
        tasks.iter().map(|task| ready(ctx, task)).collect();
    let making = readies.iter().flatten().map(|r| r.target.node()).collect();
    let _arriving = ctx.engine.arriving.add(making);
    let reads: Vec<(PathBuf, LocalStat)> = readies
        .iter()
        .flatten()
        .map(|r| (r.absolute.clone(), r.row.stat))
        .collect();
    let total: u64 = reads.iter().map(|(_, stat)| stat.size).sum();
    let label = match tasks {
        [one] => ctx.path_of(one.local),
        _ => format!("{} small files", tasks.len()),
    };
    let guard = ctx
        .engine
        .running
        .start(label, TransferDirection::Up, total);
    let disk = Arc::clone(&ctx.engine.ports.disk);
    let mut contents = ctx
        .engine
        .ports
        .blocking(move || {
            reads
                .iter()
                .map(|(path, stat)| read_whole(&*disk, path, stat))
                .collect::<Vec<_>>()
        })
        .await
        .into_iter();
    let mut outcomes: Vec<Option<Result<(), EngineError>>> = Vec::new();
    let mut files = Vec::new();
    let mut sent: Vec<(usize, Ready)> = Vec::new();
    for (at, ready) in readies.into_iter().enumerate() {
        let content = match &ready {
            Ok(_) => contents.next(),
            Err(_) => None,
        };
        match (ready, content) {
            (Ok(ready), Some(Ok(bytes))) => {
                files.push(SmallUpload {
                    target: ready.target.clone(),
                    revision: ready.revision,
                    bytes,
                    modified_ms: ready.row.stat.mtime.div_euclid(1_000_000),
                    executable: ready.row.executable,
                    unless: ready.unless,
                });
                sent.push((at, ready));
                outcomes.push(None);
            }
            (Ok(_), Some(Err(error))) => outcomes.push(Some(Err(EngineError::Disk(error)))),
            (Ok(_), None) => outcomes.push(Some(Err(EngineError::ShortBatch))),
            (Err(error), _) => outcomes.push(Some(Err(error))),
        }
    }
    if let Err(error) = record_sent(ctx, tasks, &sent, &files) {
        tracing::warn!(%error, "uploads can't be journalled; they wait");
        return tasks
            .iter()
            .map(|_| Err(EngineError::NotRecorded))
            .collect();
    }
    let answers = ctx
        .engine
        .transfer
        .upload_batch(files, &ByteCounter(Arc::clone(&guard.running)))
        .await;
    let mut committed = Vec::new();
    for ((at, ready), answer) in sent.into_iter().zip(answers) {
        match answer {
            Ok(uploaded) => committed.push((at, ready, uploaded)),
            Err(error) => outcomes[at] = Some(Err(error.into())),
        }
    }
    let sent = began.elapsed();
    let recorded = record_many(ctx, tasks, &committed);
    tracing::debug!(
        files = committed.len(),
        sent_ms = sent.as_millis(),
        recorded_ms = (began.elapsed() - sent).as_millis(),
        "batch uploaded"
    );
    for ((at, _, _), outcome) in committed.iter().zip(recorded) {
        outcomes[*at] = Some(outcome);
    }
    outcomes
        .into_iter()
        .map(|outcome| outcome.unwrap_or(Err(EngineError::ShortBatch)))
        .collect()
}

/// Records what is about to be sent: if the reply is lost, the feed's news of it are known as our own.
fn record_sent(
    ctx: &Ctx,
    tasks: &[Task],
    sent: &[(usize, Ready)],
    files: &[SmallUpload],
) -> Result<(), cairn_index::IndexError> {
    ctx.engine.index.write(|db| {
        for ((at, ready), file) in sent.iter().zip(files) {
            db.put_sent(&SentRow {
                revision: ready.revision,
                node: ready.target.node(),
                folder: ctx.folder.id,
                local: tasks[*at].local,
                hash: cairn_model::ContentHash(*blake3::hash(&file.bytes).as_bytes()),
                size: file.bytes.len() as u64,
            })?;
        }
        Ok(())
    })
}

fn record_many(
    ctx: &Ctx,
    tasks: &[Task],
    done: &[(usize, Ready, Uploaded)],
) -> Vec<Result<(), EngineError>> {
    let mut outcomes = Vec::new();
    let mut rows = Vec::new();
    for (_, _, uploaded) in done {
        rows.push(match uploaded {
            Uploaded::Committed { node, manifest } => {
                committed_row(ctx, (**node).clone(), manifest)
                    .map(|row| Some((row, (**manifest).clone())))
            }
            Uploaded::Unchanged => Ok(None),
        });
    }
    let at_ms = ctx.engine.ports.clock.now_ms();
    let mut announced = Vec::new();
    let written = ctx.engine.index.write(|db| {
        let folders = db.folders()?;
        for ((at, ready, _), row) in done.iter().zip(&rows) {
            let task = &tasks[*at];
            match row {
                Ok(Some((row, manifest))) => {
                    db.put_remote(&folders, row)?;
                    commit(db, ctx, task, &ready.row.stat, row, manifest)?;
                    let activity = activity_row(ctx, at_ms, &ready.path, manifest.size);
                    db.add_activity(&activity)?;
                    announced.push(activity);
                }
                Ok(None) => unchanged(db, ctx, task, &ready.row.stat)?,
                Err(_) => {}
            }
        }
        Ok(())
    });
    if let Err(error) = written {
        tracing::error!(%error, "uploads are on the service but can't be recorded; the next scan finds them");
        return done.iter().map(|_| Err(EngineError::NotRecorded)).collect();
    }
    for activity in announced {
        ctx.engine.count(|c| {
            c.uploads += 1;
            c.uploaded_bytes += activity.bytes;
        });
        ctx.engine.announce(activity);
    }
    for row in rows {
        outcomes.push(row.map(|_| ()));
    }
    outcomes
}

fn activity_row(ctx: &Ctx, at_ms: i64, path: &str, bytes: u64) -> cairn_index::ActivityRow {
    cairn_index::ActivityRow {
        at_ms,
        folder: Some(ctx.folder.id),
        kind: ActivityKind::Uploaded,
        path: path.to_owned(),
        device: Some(ctx.engine.device_name.clone()),
        bytes,
    }
}

fn committed_row(
    ctx: &Ctx,
    node: Node,
    manifest: &Manifest,
) -> Result<cairn_index::RemoteRow, EngineError> {
    let mut row = row_of(ctx, Some(node))?;
    // The answer may already show a later revision than ours.
    if row.revision == Some(manifest.revision) {
        row.hash = Some(manifest.hash);
        row.number = Some(manifest.number);
    }
    Ok(row)
}

fn finish(
    ctx: &Ctx,
    task: &Task,
    path: &str,
    stat: &LocalStat,
    uploaded: Uploaded,
) -> Result<(), EngineError> {
    match uploaded {
        Uploaded::Committed { node, manifest } => {
            let row = committed_row(ctx, *node, &manifest)?;
            ctx.engine.index.write(|db| {
                db.put_remote(&db.folders()?, &row)?;
                commit(db, ctx, task, stat, &row, &manifest)
            })?;
            ctx.engine.count(|c| {
                c.uploads += 1;
                c.uploaded_bytes += manifest.size;
            });
            let device = Some(ctx.engine.device_name.clone());
            ctx.engine.activity(
                ctx.folder.id,
                ActivityKind::Uploaded,
                path,
                device,
                manifest.size,
            );
        }
        Uploaded::Unchanged => ctx
            .engine
            .index
            .write(|db| unchanged(db, ctx, task, stat))?,
    }
    Ok(())
}

fn commit(
    db: &cairn_index::Db<'_>,
    ctx: &Ctx,
    task: &Task,
    stat: &LocalStat,
    row: &cairn_index::RemoteRow,
    manifest: &Manifest,
) -> Result<(), cairn_index::IndexError> {
    db.set_local_hash(task.local, stat, manifest.hash)?;
    db.end_journal(task.local)?;
    db.end_sent(task.local)?;
    let content = Content {
        revision: Some(manifest.revision),
        hash: Some(manifest.hash),
        size: manifest.size,
    };
    match task.over {
        Some(node) => record::agree_content(db, &ctx.folder, node, content, manifest.executable),
        None => record::adopt(db, &ctx.folder, task.local, row, content),
    }
}

/// The bytes are those that the service has: only the stat was new.
fn unchanged(
    db: &cairn_index::Db<'_>,
    ctx: &Ctx,
    task: &Task,
    stat: &LocalStat,
) -> Result<(), cairn_index::IndexError> {
    if let Some(node) = task.over
        && let Some(synced) = db.synced(ctx.folder.id, node)?
        && let Some(hash) = synced.hash
    {
        db.set_local_hash(task.local, stat, hash)?;
    }
    db.end_journal(task.local)?;
    db.end_sent(task.local)
}

fn read_whole(disk: &dyn Disk, path: &std::path::Path, stat: &LocalStat) -> io::Result<Vec<u8>> {
    let mut file = disk.open(path)?;
    if local_stat(&file.stat()?) != *stat {
        return Err(io::Error::other(Changing));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stat.size).unwrap_or(0));
    // One more than expected shows that it grows; a file of /proc would never end.
    (&mut file).take(stat.size + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != stat.size || local_stat(&file.stat()?) != *stat {
        return Err(io::Error::other(Changing));
    }
    Ok(bytes)
}

/// Keeps the journal and the figures of a running upload.
struct Listener {
    index: Arc<Index>,
    running: Arc<Running>,
    folder: FolderId,
    local: LocalId,
    node: NodeId,
    stat: LocalStat,
}

impl Progress for Listener {
    fn started(&self, started: &Started) {
        let Ok(state) = serde_json::to_vec(started) else {
            return;
        };
        let row = JournalRow {
            local: self.local,
            node: self.node,
            state,
        };
        let sent = SentRow {
            revision: started.revision,
            node: self.node,
            folder: self.folder,
            local: self.local,
            hash: started.hash,
            size: self.stat.size,
        };
        let journalled = self.index.write(|db| {
            db.put_journal(&row, &self.stat)?;
            db.put_sent(&sent)
        });
        if let Err(error) = journalled {
            tracing::warn!(%error, "an upload can't be journalled; after a crash it begins again");
        }
    }

    fn moved(&self, done: u64, _total: u64) {
        self.running.set_done(done);
    }
}

/// Keeps the figures only.
pub(crate) struct ByteCounter(pub(crate) Arc<Running>);

impl Progress for ByteCounter {
    fn moved(&self, done: u64, _total: u64) {
        self.0.set_done(done);
    }
}
