//! Following the service's rules as long as its rules file is not synced here: nothing may be sent that
//! the other devices leave out.

use super::Dispatcher;
use super::folder::Folder;
use crate::engine::Engine;
use crate::error::{Disposition, EngineError};
use crate::folder_rules::remote_file;
use crate::health::RetryHint;
use crate::key::Key;
use crate::node_rows::download_of;
use crate::observe::rules::{IGNORE_FILE, text_of};
use crate::step::Ctx;
use cairn_index::{Db, IndexError, RemoteRow, SharedRules};
use cairn_model::{FolderId, NodeId};
use cairn_transfer::{MemoryTarget, Target};
use std::sync::Arc;
use tokio::time::Instant;

/// A larger rules file of the service is not fetched.
const MAX_SHARED: u64 = 8 * 1024 * 1024;

impl Dispatcher {
    /// Loads the rules of a folder again before a scan. If the rules file has changed without a hint, a
    /// scan of a part would know nothing of what they change elsewhere, and the file may not be written to
    /// its end: everything is scanned as soon as it rests. Returns whether to scan now.
    pub(super) fn refresh_rules(&mut self, id: FolderId) -> bool {
        let Some(folder) = self.folders.get_mut(&id) else {
            return false;
        };
        let is_part = !folder.schedule.is_whole_due();
        if is_part && folder.rules.is_outdated(&self.engine, &folder.row) {
            folder.schedule.record_rules_changed(Instant::now());
            return false;
        }
        folder.rules.refresh(&self.engine, &folder.row);
        true
    }

    /// Makes the service's rules count before anything is planned, if its rules file is not synced here.
    pub(super) async fn follow_shared_rules(&mut self, ctx: &Ctx) -> Followed {
        let id = ctx.folder.id;
        let followed = try_follow(ctx).await;
        let Some(folder) = self.folders.get_mut(&id) else {
            return Followed::Missing;
        };
        let (node, error) = match followed {
            Ok(Followed::Changed) => {
                return follow_change(&self.engine, folder);
            }
            Ok(Followed::Missing) => {
                folder.queue.clear();
                folder.waiting = folder.waiting.max(1);
                return Followed::Missing;
            }
            Ok(Followed::AsBefore) if folder.rules.have_ended(&self.engine, &folder.row) => {
                return follow_change(&self.engine, folder);
            }
            Ok(Followed::AsBefore) => return Followed::AsBefore,
            Err(failed) => failed,
        };
        // Rules that nobody knows may forbid what was planned.
        folder.queue.clear();
        match (node, error.disposition()) {
            (None, _) | (_, Disposition::Stop) => {
                folder.plan_due = true;
                self.back_off(&error);
            }
            (Some(node), disposition) => {
                folder.waiting = folder.waiting.max(1);
                self.poll_due |= disposition == Disposition::Replan;
                let (key, path) = (Key::Node(node), IGNORE_FILE.to_owned());
                self.engine
                    .health()
                    .park(id, key, path, &error, RetryHint::Later);
            }
        }
        Followed::Missing
    }
}

/// Has a folder scanned and planned with the rules that count now.
fn follow_change(engine: &Engine, folder: &mut Folder) -> Followed {
    folder.rules.refresh(engine, &folder.row);
    folder.schedule.rescan();
    folder.plan_due = true;
    // Planned under other rules.
    folder.queue.clear();
    Followed::Changed
}

/// Returns whether the service has rules for a folder that don't count here yet, or may have some.
pub(super) fn awaits_rules(ctx: &Ctx) -> bool {
    let known = ctx
        .engine
        .index
        .read(|db| Ok((unsynced_rules(ctx, db)?, db.shared_rules(ctx.folder.id)?)));
    match known {
        Ok((Some(row), known)) => known.map(|known| known.revision) != row.revision,
        Ok((None, _)) => false,
        Err(_) => true,
    }
}

/// The result of looking at the service's rules.
pub(super) enum Followed {
    AsBefore,
    /// Other rules count now: the disk is to be scanned with them.
    Changed,
    /// They can't be had now: nothing may be planned.
    Missing,
}

/// A failure, with the rules file if it is about that one.
type Failed = (Option<NodeId>, EngineError);

async fn try_follow(ctx: &Ctx) -> Result<Followed, Failed> {
    let engine = &ctx.engine;
    let id = ctx.folder.id;
    let failed = |error: IndexError| (None, EngineError::from(error));
    let (wanted, known) = engine
        .index
        .read(|db| Ok((unsynced_rules(ctx, db)?, db.shared_rules(id)?)))
        .map_err(failed)?;
    let shared = match wanted {
        None if known.is_none() => return Ok(Followed::AsBefore),
        None => None,
        Some(row) if known.as_ref().map(|k| k.revision) == row.revision => {
            return Ok(Followed::AsBefore);
        }
        Some(row) if engine.health().is_parked(id, Key::Node(row.node)) => {
            return Ok(Followed::Missing);
        }
        Some(row) => {
            let fetched = fetch(ctx, &row).await;
            Some(fetched.map_err(|error| (Some(row.node), error))?)
        }
    };
    engine
        .index
        .write(|db| db.set_shared_rules(id, shared.as_ref()))
        .map_err(failed)?;
    Ok(Followed::Changed)
}

/// Returns the service's rules file of a folder if that revision is not the one that is synced here.
fn unsynced_rules(ctx: &Ctx, db: &Db<'_>) -> Result<Option<RemoteRow>, IndexError> {
    let Some(row) = remote_file(db, ctx.base())? else {
        return Ok(None);
    };
    let synced = db.synced_row(ctx.folder.id, row.node)?;
    Ok((synced.and_then(|synced| synced.revision) != row.revision).then_some(row))
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
        revision: download.revision,
        text: text_of(&target.take()),
    })
}
