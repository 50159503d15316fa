//! Creating folders on this disk, many together: one flush of names and one transaction for all.

use super::batch::{BatchResults, StepResult};
use crate::error::EngineError;
use crate::observe::hash::local_stat;
use crate::record;
use crate::step::{Ctx, spelling};
use cairn_index::{Db, IndexError, LocalRow, Skipped};
use cairn_model::{Kind, LocalId, NodeId, RelPath};
use cairn_plan::{Parent, ParentAndName, Step};
use cairn_platform::Stat;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

/// Folders that are created together. Between two batches a pause takes effect.
pub(crate) const BATCH: usize = 200;

/// A folder that was created on the disk and is not recorded yet.
struct Created {
    node: NodeId,
    to: ParentAndName,
    stat: Stat,
}

/// Creates the local sides of remote folders, parents before children, under the disk lock. Each step comes
/// back with its own result.
pub(crate) async fn create(ctx: &Ctx, steps: Vec<Step>) -> Vec<(Step, StepResult)> {
    let _lock = ctx.engine.disk_lock.lock().await;
    let ctx2 = ctx.clone();
    let create = move || create_all(&ctx2, steps);
    ctx.engine.ports.run_blocking(create).await
}

fn create_all(ctx: &Ctx, steps: Vec<Step>) -> Vec<(Step, StepResult)> {
    let (mut paths, mut places) = (BTreeMap::new(), BTreeSet::new());
    let mut results = BatchResults::new();
    let created = results.proceed(steps.into_iter().map(|step| {
        let created = if let Step::CreateLocalFolder { node, to } = &step {
            create_one(ctx, *node, to, (&mut paths, &mut places))
        } else {
            Err(EngineError::Stale)
        };
        (step, created)
    }));
    // Before the index says that they are there: a name that a crash takes back would look like
    // something that the user did.
    let mut parents: Vec<PathBuf> = paths
        .values()
        .map(|path| ctx.absolute_path(&path.parent().unwrap_or_default()))
        .collect();
    parents.sort_unstable();
    parents.dedup();
    if let Err(error) = ctx.engine.ports.disk.sync_dirs(&parents) {
        results.extend(created.into_iter().map(|(step, _)| {
            let same = io::Error::new(error.kind(), error.to_string());
            (step, Err(same.into()))
        }));
        return results.into_vec();
    }
    if let Err(error) = places
        .iter()
        .try_for_each(|place| ctx.check_disk_of(*place))
    {
        tracing::warn!(%error, "folders were created, but the root or a folder above them is another one by now");
        let steps = created.into_iter().map(|(step, _)| step);
        results.extend(steps.map(|step| (step, Err(EngineError::Stale))));
        return results.into_vec();
    }
    match ctx.engine.index.write(|db| record_all(ctx, db, &created)) {
        Ok(recorded) => results.extend(created.into_iter().map(|(step, folder)| {
            let is_recorded = recorded.contains(&folder.node);
            let result = is_recorded.then_some(()).ok_or(EngineError::Stale);
            (step, result)
        })),
        Err(error) => {
            tracing::warn!(%error, "folders were created but can't be recorded; the next scan finds them");
            results.fail_unrecorded(created.into_iter().map(|(step, _)| step), error);
        }
    }
    results.into_vec()
}

/// Creates one folder, and adds its path to `made`. `places` gets its parent (`None` is the root), if that is in the
/// index already.
fn create_one(
    ctx: &Ctx,
    node: NodeId,
    to: &ParentAndName,
    (made, places): (
        &mut BTreeMap<NodeId, RelPath>,
        &mut BTreeSet<Option<LocalId>>,
    ),
) -> Result<Created, EngineError> {
    let above = match to.parent {
        Parent::Node(node) => made.get(&node),
        Parent::Root | Parent::Local(_) => None,
    };
    let path = match above {
        Some(dir) => dir.join(to.name.clone()),
        None => {
            let place = ctx.engine.index.read(|db| ctx.local_place(db, to))?;
            let (parent, path) = place.ok_or(EngineError::Stale)?;
            ctx.check_free(parent, &to.name, None)?;
            ctx.check_disk_of(parent)?;
            places.insert(parent);
            path
        }
    };
    let (disk, absolute) = (&*ctx.engine.ports.disk, ctx.absolute_path(&path));
    let stat = disk.mkdir(&absolute);
    let stat =
        stat.map_err(|error| spelling::explain(disk, (ctx.root(), &absolute), &to.name, error))?;
    made.insert(node, path);
    Ok(Created {
        node,
        to: to.clone(),
        stat,
    })
}

/// Records folders that were created on the disk. Returns those of the nodes that are still there.
fn record_all(
    ctx: &Ctx,
    db: &Db<'_>,
    created: &[(Step, Created)],
) -> Result<BTreeSet<NodeId>, IndexError> {
    let mut recorded = BTreeSet::new();
    for (_, folder) in created {
        // Those above were recorded just now.
        let place = ctx.local_place(db, &folder.to)?;
        let (Some((parent, _)), Some(remote)) = (place, db.remote_row(folder.node)?) else {
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
        recorded.insert(folder.node);
    }
    Ok(recorded)
}
