//! The rules of each folder: read from this disk, and from the service as long as its rules file is not
//! synced here. Nothing may be sent that the other devices leave out.

use super::Dispatcher;
use super::folder::Folder;
use crate::engine::Engine;
use crate::error::{Disposition, EngineError};
use crate::key::Key;
use crate::observe::rules::{IGNORE_FILE, Rules, Texts, read_text, text_of};
use crate::planning::download_of;
use crate::status::Problem;
use crate::step::Ctx;
use cairn_index::{Db, FolderRow, IndexError, RemoteRow, SharedRules};
use cairn_model::{FolderId, Kind, Name, NodeId, ProblemCode};
use cairn_transfer::{MemoryTarget, Target};
use std::path::Path;
use std::sync::Arc;

/// Rules, with the problem of their file.
type LoadedRules = (Arc<Rules>, Option<Problem>);

/// Loads the rules of a folder. If the file can't be read, its last text counts.
pub(super) fn load(engine: &Engine, row: &FolderRow) -> LoadedRules {
    let (texts, problem) = texts(engine, row);
    (Arc::new(Rules::new(texts, &row.settings)), problem)
}

fn texts(engine: &Engine, row: &FolderRow) -> (Texts, Option<Problem>) {
    let (last, shared) = engine
        .index
        .read(|db| Ok((db.rules_text(row.id)?, db.shared_rules(row.id)?)))
        .unwrap_or_else(|error| {
            tracing::warn!(%error, "the last rules can't be read from the index");
            (None, None)
        });
    let shared = shared.map(|shared| shared.text).unwrap_or_default();
    let last = last.unwrap_or_default();
    match read_text(&*engine.ports.disk, Path::new(&row.root)) {
        Ok(file) => {
            if !file.is_empty() && file != last {
                let kept = engine.index.write(|db| db.set_rules_text(row.id, &file));
                if let Err(error) = kept {
                    tracing::warn!(%error, "the rules can't be kept in the index");
                }
            }
            (Texts { file, shared }, None)
        }
        Err(error) => {
            let problem = Problem {
                path: IGNORE_FILE.into(),
                code: ProblemCode::Unreadable,
                message: format!("the rules can't be read, so the last ones go on: {error}"),
                hint: "give this user the right to read it, or remove it".into(),
            };
            (Texts { file: last, shared }, Some(problem))
        }
    }
}

impl Folder {
    /// Loads the rules again if one of their texts has changed.
    fn refresh_rules(&mut self, engine: &Engine) {
        let (texts, problem) = texts(engine, &self.row);
        self.rules_problem = problem;
        if !self.rules.are_of(&texts) {
            self.rules = Arc::new(Rules::new(texts, &self.row.settings));
        }
    }
}

impl Dispatcher {
    /// Loads the rules of a folder again if the rules file has changed.
    pub(super) fn refresh_rules(&mut self, id: FolderId) {
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.refresh_rules(&self.engine);
        }
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
                folder.refresh_rules(&self.engine);
                folder.schedule.rescan();
                folder.plan_due = true;
                // Planned under other rules.
                folder.queue.clear();
                return Followed::Changed;
            }
            Ok(Followed::Missing) => {
                folder.waiting = folder.waiting.max(1);
                return Followed::Missing;
            }
            Ok(Followed::AsBefore) => return Followed::AsBefore,
            Err(failed) => failed,
        };
        match (node, error.disposition()) {
            (None, _) | (_, Disposition::Stop) => {
                folder.plan_due = true;
                self.back_off(&error);
            }
            (Some(node), disposition) => {
                folder.waiting = folder.waiting.max(1);
                self.poll_due |= disposition == Disposition::Replan;
                let (key, path) = (Key::Node(node), IGNORE_FILE.to_owned());
                self.engine.health().park(id, key, path, &error, false);
            }
        }
        Followed::Missing
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
        .read(|db| Ok((unsynced(ctx, db)?, db.shared_rules(id)?)))
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
fn unsynced(ctx: &Ctx, db: &Db<'_>) -> Result<Option<RemoteRow>, IndexError> {
    let Ok(name) = Name::new(IGNORE_FILE.to_owned()) else {
        return Ok(None);
    };
    let found = db.remote_children_by_key(ctx.base(), &name)?;
    let Some(row) = found
        .into_iter()
        .find(|row| row.name == name && row.kind == Kind::File && row.revision.is_some())
    else {
        return Ok(None);
    };
    let synced = db.synced(ctx.folder.id, row.node)?;
    Ok((synced.and_then(|synced| synced.revision) != row.revision).then_some(row))
}

async fn fetch(ctx: &Ctx, row: &RemoteRow) -> Result<SharedRules, EngineError> {
    let download = download_of(&ctx.engine, row).ok_or(EngineError::Stale)?;
    let target = Arc::new(MemoryTarget::default());
    let into = Arc::clone(&target) as Arc<dyn Target>;
    ctx.engine.transfer.download(download, into, &()).await?;
    ctx.engine
        .health()
        .clear(ctx.folder.id, Key::Node(row.node));
    Ok(SharedRules {
        revision: download.revision,
        text: text_of(&target.take()),
    })
}
