//! Creating folders on this disk, many together: one flush of names and one transaction for all.

use super::remote::Outcomes;
use crate::error::EngineError;
use crate::observe::hash::local_stat;
use crate::record;
use crate::step::Ctx;
use cairn_index::{Db, IndexError, LocalRow, Skipped};
use cairn_model::{Kind, LocalId, NodeId, RelPath};
use cairn_plan::{Parent, ParentAndName, Step};
use cairn_platform::Stat;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// Folders that are created together. Between two batches a pause takes effect.
pub(crate) const BATCH: usize = 200;

/// A folder that stands on the disk and is not recorded yet.
struct Created<'a> {
    at: usize,
    node: NodeId,
    to: &'a ParentAndName,
    stat: Stat,
}

/// Creates the local sides of remote folders, parents before children, under the disk lock. The outcomes are
/// in the order of the steps.
pub(crate) async fn create(ctx: &Ctx, steps: &[Step]) -> Outcomes {
    let _lock = ctx.engine.disk_lock.lock().await;
    let (ctx2, steps) = (ctx.clone(), steps.to_vec());
    let create = move || create_all(&ctx2, &steps);
    ctx.engine.ports.blocking(create).await
}

fn create_all(ctx: &Ctx, steps: &[Step]) -> Outcomes {
    let mut outcomes: Vec<_> = steps.iter().map(|_| Err(EngineError::Stale)).collect();
    let mut paths = BTreeMap::new();
    let mut created = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let Step::CreateLocalFolder { node, to } = step else {
            continue;
        };
        match create_one(ctx, to, &paths) {
            Ok((path, stat)) => {
                paths.insert(*node, path);
                let node = *node;
                created.push(Created { at, node, to, stat });
            }
            Err(error) => outcomes[at] = Err(error),
        }
    }
    // Before the index says that they are there: a name that a crash takes back would look like
    // something that the user did.
    let mut parents: Vec<PathBuf> = paths
        .values()
        .map(|path| ctx.absolute(&path.parent().unwrap_or_default()))
        .collect();
    parents.sort_unstable();
    parents.dedup();
    if let Err(error) = ctx.engine.ports.disk.sync_dirs(&parents) {
        for folder in &created {
            let same = io::Error::new(error.kind(), error.to_string());
            outcomes[folder.at] = Err(same.into());
        }
        return outcomes;
    }
    match ctx.engine.index.write(|db| record_all(ctx, db, &created)) {
        Ok(recorded) => {
            for at in recorded {
                outcomes[at] = Ok(());
            }
        }
        Err(error) => {
            tracing::warn!(%error, "folders were created but can't be recorded; the next scan finds them");
            for folder in &created {
                outcomes[folder.at] = Err(EngineError::NotRecorded);
            }
            if let Some(first) = created.first() {
                outcomes[first.at] = Err(error.into());
            }
        }
    }
    outcomes
}

/// Creates one folder; `made` are the paths of those that were created before it and are not recorded yet.
fn create_one(
    ctx: &Ctx,
    to: &ParentAndName,
    made: &BTreeMap<NodeId, RelPath>,
) -> Result<(RelPath, Stat), EngineError> {
    let above = match to.parent {
        Parent::Node(node) => made.get(&node),
        Parent::Root | Parent::Local(_) => None,
    };
    let path = match above {
        Some(dir) => dir.join(to.name.clone()),
        None => {
            let place = ctx.engine.index.read(|db| ctx.local_place(db, to))?;
            place.ok_or(EngineError::Stale)?.1
        }
    };
    let stat = ctx.engine.ports.disk.mkdir(&ctx.absolute(&path))?;
    Ok((path, stat))
}

/// Records folders that stand on the disk. Returns the positions of those whose node is still there.
fn record_all(ctx: &Ctx, db: &Db<'_>, created: &[Created<'_>]) -> Result<Vec<usize>, IndexError> {
    let mut recorded = Vec::new();
    for folder in created {
        // Those above were recorded just now.
        let place = ctx.local_place(db, folder.to)?;
        let (Some((parent, _)), Some(remote)) = (place, db.remote(folder.node)?) else {
            continue;
        };
        let id = db.insert_local(&LocalRow {
            id: LocalId(0),
            folder: ctx.folder.id,
            parent,
            name: folder.to.name.clone(),
            kind: Kind::Folder,
            stat: local_stat(&folder.stat),
            executable: false,
            hash: None,
            skipped: Skipped::No,
        })?;
        record::adopt(db, &ctx.folder, id, &remote, record::Content::default())?;
        recorded.push(folder.at);
    }
    Ok(recorded)
}
