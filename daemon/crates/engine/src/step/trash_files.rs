//! Removing files on this disk, many together: one flush of names and one transaction for all.

use super::batch::BatchResults;
use super::trash_local::{is_unchanged, put_back};
use crate::error::EngineError;
use crate::observe::hash::local_stat;
use crate::observe::unsettled::check_unchanged;
use crate::step::Ctx;
use crate::trash;
use cairn_index::{IndexError, LocalRow};
use cairn_model::{NodeId, RelPath};
use cairn_plan::Step;
use std::io;
use std::path::PathBuf;

/// A file that is to go.
pub(super) struct File {
    pub(super) node: NodeId,
    pub(super) row: LocalRow,
    pub(super) path: RelPath,
}

/// A file that lies in the trash and is not recorded yet.
struct Moved {
    file: File,
    from: PathBuf,
    kept: PathBuf,
}

/// Moves files to the local trash, if each is as the index says. Each step gets its own result.
pub(super) fn trash_files(ctx: &Ctx, files: Vec<(Step, File)>, results: &mut BatchResults<Step>) {
    let moved = results.proceed(files.into_iter().map(|(step, file)| {
        let moved = move_to_trash(ctx, file);
        (step, moved)
    }));
    if moved.is_empty() {
        return;
    }
    // Before the index says that they are gone: a name that a crash takes back would look like something that the
    // user did.
    let mut dirs: Vec<PathBuf> = moved
        .iter()
        .flat_map(|(_, moved)| [&moved.from, &moved.kept])
        .filter_map(|path| path.parent().map(PathBuf::from))
        .collect();
    dirs.sort_unstable();
    dirs.dedup();
    let flushed = ctx.engine.ports.disk.sync_dirs(&dirs);
    let checked = results.proceed(moved.into_iter().map(|(step, moved)| {
        let checked = check(ctx, moved, &flushed);
        (step, checked)
    }));
    match record(ctx, &checked) {
        Ok(()) => results.extend(checked.into_iter().map(|(step, _)| (step, Ok(())))),
        Err(error) => {
            tracing::warn!(%error, "files went to the trash but this can't be recorded; the next scan finds it");
            results.fail_unrecorded(checked.into_iter().map(|(step, _)| step), error);
        }
    }
}

fn move_to_trash(ctx: &Ctx, file: File) -> Result<Moved, EngineError> {
    let disk = &*ctx.engine.ports.disk;
    let from = ctx.absolute_path(&file.path);
    check_unchanged(&file.row.stat, &local_stat(&disk.stat(&from)?))?;
    let now_ms = ctx.engine.ports.clock.now_ms();
    let kept = trash::put(disk, ctx.root(), &from, &file.path, now_ms)?;
    Ok(Moved { file, from, kept })
}

/// Checks a file that nobody reaches by its path any more: what it holds now is all that it will hold, but for
/// programs that have it open. It goes back if it is not what the index says.
fn check(ctx: &Ctx, moved: Moved, flushed: &io::Result<()>) -> Result<Moved, EngineError> {
    let unchanged = match flushed {
        Ok(()) => is_unchanged(ctx, &moved.file.row, &moved.file.path, &moved.kept),
        Err(error) => Err(io::Error::new(error.kind(), error.to_string()).into()),
    };
    if matches!(unchanged, Ok(true)) {
        return Ok(moved);
    }
    put_back(ctx, &moved.kept, &moved.from)?;
    unchanged?;
    Err(EngineError::Stale)
}

fn record(ctx: &Ctx, moved: &[(Step, Moved)]) -> Result<(), IndexError> {
    let folder = ctx.folder.id;
    ctx.record_deletions(None, moved, |db, (_, Moved { file, .. })| {
        db.forget_local_below(folder, file.row.id)?;
        db.remove_local(folder, file.row.id)?;
        db.clean_node(folder, file.node)?;
        Ok(file.path.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::trash_local::run;
    use crate::testing::TestEngine;
    use cairn_index::Skipped;
    use cairn_model::{Kind, LocalId};
    use std::fs;
    use std::path::Path;

    /// Records the stat of what lies at a path.
    fn record_stat(test: &TestEngine, local: LocalId, path: &Path) {
        let stat = local_stat(&test.options.ports.disk.stat(path).unwrap());
        let index = &test.options.index;
        let known = index.read(|db| db.local_row(local)).unwrap().unwrap();
        index
            .write(|db| db.update_local(&LocalRow { stat, ..known }))
            .unwrap();
    }

    #[tokio::test]
    async fn each_file_of_a_batch_goes_only_as_the_index_knows_it() {
        let test = TestEngine::new();
        let names = ["same", "edited", "missing", "last"];
        let locals = names.map(|name| {
            let local = test.local_file(name, Skipped::No);
            let path = test.dir.path().join(name);
            fs::write(&path, name).unwrap();
            record_stat(&test, local, &path);
            local
        });
        let (ctx, dir) = test.into_ctx();
        let index = &ctx.engine.index;
        fs::write(dir.path().join("edited"), "longer than before").unwrap();
        fs::remove_file(dir.path().join("missing")).unwrap();
        let node = |local: LocalId| NodeId::from_random_bytes([local.0 as u8; 16]);
        let steps = locals.map(|local| Step::TrashLocal {
            node: node(local),
            local,
        });
        let results = run(&ctx, steps.to_vec()).await;
        assert_eq!(results.len(), names.len());
        for (local, name) in locals.into_iter().zip(names) {
            let goes = matches!(name, "same" | "last");
            let step = Step::TrashLocal {
                node: node(local),
                local,
            };
            let (_, result) = results.iter().find(|(done, _)| *done == step).unwrap();
            assert_eq!(result.is_ok(), goes, "{name}: {result:?}");
            let row = index.read(|db| db.local_row(local)).unwrap();
            assert_eq!(row.is_none(), goes, "{name} in the index");
        }
        let edited = fs::read(dir.path().join("edited")).unwrap();
        assert_eq!(edited, b"longer than before");
        let trashed = trash::list(&*ctx.engine.ports.disk, dir.path()).unwrap();
        let mut trashed: Vec<_> = trashed.iter().map(|t| t.path.to_string()).collect();
        trashed.sort_unstable();
        assert_eq!(trashed, ["last", "same"]);
    }

    #[tokio::test]
    async fn what_keeps_the_folders_of_a_batch_is_recorded_for_all_of_them_at_once() {
        let test = TestEngine::new();
        fs::write(test.dir.path().join(".cairnignore"), "*.tmp\n").unwrap();
        let names = ["one", "two"];
        let folders = names.map(|name| {
            let path = test.dir.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("x.tmp"), "mine").unwrap();
            let local = test.local_node(name, Kind::Folder, Skipped::No);
            record_stat(&test, local, &path);
            local
        });
        let (ctx, dir) = test.into_ctx();
        let steps = folders.map(|local| Step::TrashLocal {
            node: NodeId::from_random_bytes([local.0 as u8; 16]),
            local,
        });
        let results = run(&ctx, steps.to_vec()).await;
        assert!(results.iter().all(|(_, result)| result.is_ok()));
        for (local, name) in folders.into_iter().zip(names) {
            let index = &ctx.engine.index;
            let inside = index.read(|db| db.children(ctx.folder.id, Some(local)));
            let inside = inside.unwrap();
            let rows: Vec<_> = inside
                .iter()
                .map(|r| (r.name.as_str(), r.skipped))
                .collect();
            assert_eq!(rows, [("x.tmp", Skipped::Ignored)]);
            assert!(dir.path().join(name).join("x.tmp").exists());
        }
        let again = run(&ctx, steps.to_vec()).await;
        assert!(again.iter().all(|(_, result)| result.is_err()));
    }

    #[tokio::test]
    async fn an_edit_stays_that_the_look_at_a_folder_before_it_has_found() {
        let test = TestEngine::new();
        let gone = test.local_node("gone", Kind::Folder, Skipped::No);
        let edited = test.local_file("edited", Skipped::No);
        let (ctx, dir) = test.into_ctx();
        fs::write(dir.path().join("edited"), "after the plan").unwrap();
        let steps = [gone, edited].map(|local| Step::TrashLocal {
            node: NodeId::from_random_bytes([local.0 as u8; 16]),
            local,
        });
        let results = run(&ctx, steps.to_vec()).await;
        assert!(results.iter().all(|(_, result)| result.is_err()));
        let kept = fs::read(dir.path().join("edited")).unwrap();
        assert_eq!(kept, b"after the plan");
        // The look was at all that there is.
        let row = ctx.engine.index.read(|db| db.local_row(edited)).unwrap();
        assert_eq!(row.unwrap().stat.size, 14);
    }
}
