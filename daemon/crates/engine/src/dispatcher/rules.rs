//! The service's ignore rules count here before its rules files are synced: nothing may be uploaded that the other
//! devices leave out.

use super::Dispatcher;
use super::folder::Folder;
use crate::engine::Engine;
use crate::error::{Disposition, EngineError};
use crate::health::RetryHint;
use crate::key::Key;
use crate::node_rows::download_of;
use crate::observe::rules::text_of;
use crate::rules_rows::unsynced_rules;
use crate::step::Ctx;
use cairn_index::{Db, IndexError, RemoteRow, SharedRules};
use cairn_model::{FolderId, RelPath};
use cairn_transfer::{MemoryTarget, Target};
use std::sync::Arc;
use tokio::time::Instant;

/// A larger rules file of the service is not fetched.
const MAX_SHARED: u64 = 8 * 1024 * 1024;

impl Dispatcher {
    /// Loads the rules of a folder again before a scan. If the rules file has changed without a hint, a scan of a
    /// part would know nothing of what they change elsewhere, and the file may not be written to its end:
    /// everything is scanned once it is no longer written. Returns whether to scan now.
    pub(super) fn refresh_rules(&mut self, id: FolderId) -> bool {
        let Some(folder) = self.folders.get_mut(&id) else {
            return false;
        };
        let is_part = !folder.schedule.is_whole_next();
        if is_part && folder.rules.is_outdated(&self.engine, &folder.row) {
            folder.schedule.record_rules_changed(Instant::now());
            return false;
        }
        folder.rules.refresh(&self.engine, &folder.row);
        true
    }

    /// Makes the service's rules count before anything is planned, if its rules file is not synced here.
    pub(super) async fn follow_shared_rules(&mut self, ctx: &Ctx) -> RulesUpdate {
        let id = ctx.folder.id;
        let followed = try_follow(ctx).await;
        let Some(folder) = self.folders.get_mut(&id) else {
            return RulesUpdate::Missing;
        };
        let (file, error) = match followed {
            Ok(RulesUpdate::Changed) => {
                return follow_change(&self.engine, folder);
            }
            Ok(RulesUpdate::Missing) => {
                folder.wait_for_rules();
                return RulesUpdate::Missing;
            }
            Ok(RulesUpdate::AsBefore) if folder.rules.have_ended(&self.engine, &folder.row) => {
                return follow_change(&self.engine, folder);
            }
            Ok(RulesUpdate::AsBefore) => {
                // A step may have brought, moved or removed the file, of which a watcher need not tell.
                if folder.rules.is_outdated(&self.engine, &folder.row) {
                    folder.schedule.record_rules_changed(Instant::now());
                }
                return RulesUpdate::AsBefore;
            }
            Err(failed) => failed,
        };
        // Rules that nobody knows may forbid what was planned.
        folder.forget_queue();
        match (file, error.disposition()) {
            (None, _) | (_, Disposition::Stop) => {
                folder.plan_due = true;
                self.back_off(&error);
            }
            (Some((row, path)), disposition) => {
                folder.wait_for_rules();
                self.poll_due |= disposition == Disposition::Replan;
                let (key, path) = (Key::Node(row.node), path.to_string());
                self.engine
                    .health()
                    .park(id, key, path, &error, RetryHint::Later);
            }
        }
        RulesUpdate::Missing
    }
}

/// Has a folder scanned and planned with the rules that count now.
fn follow_change(engine: &Engine, folder: &mut Folder) -> RulesUpdate {
    folder.rules.refresh(engine, &folder.row);
    folder.rules.forget_outliving();
    folder.schedule.rescan();
    folder.plan_due = true;
    // Planned under other rules.
    folder.forget_queue();
    RulesUpdate::Changed
}

/// Returns whether the service has rules for a folder that don't count here yet, or may have some.
pub(super) fn awaits_rules(ctx: &Ctx) -> bool {
    let missing = ctx.engine.index.read(|db| {
        let known = db.shared_rules(ctx.folder.id)?;
        let wanted = wanted_rules(ctx, db)?;
        Ok(wanted.iter().any(|(row, _)| !is_known(&known, row)))
    });
    missing.unwrap_or(true)
}

/// The result of reading the service's rules.
pub(super) enum RulesUpdate {
    AsBefore,
    /// Other rules count now: the disk is to be scanned with them.
    Changed,
    /// The rules can't be had now: nothing may be planned.
    Missing,
}

/// A rules file of the service, with its path.
type RulesRow = (RemoteRow, RelPath);

/// A failure, with the rules file if it is about that one.
type Failed = (Option<RulesRow>, EngineError);

async fn try_follow(ctx: &Ctx) -> Result<RulesUpdate, Failed> {
    let engine = &ctx.engine;
    let id = ctx.folder.id;
    let failed = |error: IndexError| (None, EngineError::from(error));
    let (wanted, known) = engine
        .index
        .read(|db| Ok((wanted_rules(ctx, db)?, db.shared_rules(id)?)))
        .map_err(failed)?;
    let is_wanted = |known: &&SharedRules| wanted.iter().any(|(row, _)| row.node == known.node);
    let (_, done): (Vec<_>, Vec<_>) = known.iter().partition(is_wanted);
    let mut has_changed = false;
    for rules in done {
        engine
            .index
            .write(|db| db.remove_shared_rules(id, rules.node))
            .map_err(failed)?;
        has_changed = true;
    }
    let mut is_missing = false;
    for (row, path) in wanted {
        if is_known(&known, &row) {
            continue;
        }
        if engine.health().is_parked(id, Key::Node(row.node)) {
            is_missing = true;
            continue;
        }
        let fetched = fetch(ctx, &row).await;
        let rules = fetched.map_err(|error| (Some((row, path)), error))?;
        engine
            .index
            .write(|db| db.put_shared_rules(id, &rules))
            .map_err(failed)?;
        has_changed = true;
    }
    // What has come counts first; the next plan finds the rest missing again.
    Ok(match (has_changed, is_missing) {
        (true, _) => RulesUpdate::Changed,
        (false, true) => RulesUpdate::Missing,
        (false, false) => RulesUpdate::AsBefore,
    })
}

/// Returns whether the text of a rules file of the service is there already.
fn is_known(known: &[SharedRules], row: &RemoteRow) -> bool {
    known
        .iter()
        .any(|known| known.node == row.node && Some(known.revision) == row.revision)
}

/// Returns the service's rules files of a folder that are not synced here, but for those where nothing is synced.
fn wanted_rules(ctx: &Ctx, db: &Db<'_>) -> Result<Vec<RulesRow>, IndexError> {
    unsynced_rules(db, &ctx.folder, |dir| ctx.rules.ignores(dir, true))
}

async fn fetch(ctx: &Ctx, row: &RemoteRow) -> Result<SharedRules, EngineError> {
    let download = download_of(&ctx.engine.keys, row).ok_or(EngineError::Stale)?;
    let transfer = &ctx.engine.transfer;
    let manifest = transfer.manifest(download).await?;
    if manifest.size > MAX_SHARED {
        return Err(EngineError::RulesTooLarge(manifest.size));
    }
    let target = Arc::new(MemoryTarget::default());
    let into = Arc::clone(&target) as Arc<dyn Target>;
    transfer.download(download, into, &()).await?;
    ctx.engine
        .health()
        .clear(ctx.folder.id, Key::Node(row.node));
    Ok(SharedRules {
        node: row.node,
        revision: download.revision,
        text: text_of(&target.take()),
    })
}
