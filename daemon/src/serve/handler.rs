//! Requests of the control protocol, carried out on the engine, the index and the files.

use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::folders;
use crate::output::text::rfc3339;
use crate::serve::disk::GuardedDisk;
use crate::serve::{convert, events, why};
use crate::session::Session;
use async_trait::async_trait;
use cairn_control::{
    Accepted, ActivityList, Conflict, ConflictList, DoctorInfo, EventSource, FailureCode, Handler,
    Limits, NewFolder, Reply, Request, TrashedList,
};
use cairn_engine::{EngineHandle, WaitResult};
use cairn_model::{DeletionDecision, FolderId, Keep, ProblemCode, SyncState};
use cairn_platform::{Home, RealDisk};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;

/// The longest wait until the status shows a change of the pairs.
const APPLIED_TIMEOUT: Duration = Duration::from_secs(5);

/// The running daemon, as its clients see it.
pub(super) struct Daemon {
    home: Home,
    session: Session,
    engine: Arc<EngineHandle>,
    disk: Arc<GuardedDisk>,
    config: Mutex<Config>,
    stop: Arc<Notify>,
    started_ms: i64,
}

impl Daemon {
    pub(super) fn new(
        home: Home,
        session: Session,
        engine: Arc<EngineHandle>,
        disk: Arc<GuardedDisk>,
        config: Config,
        stop: Arc<Notify>,
    ) -> Self {
        let started_ms = crate::output::text::now_ms();
        Self {
            home,
            session,
            engine,
            disk,
            config: Mutex::new(config),
            stop,
            started_ms,
        }
    }

    pub(super) fn engine(&self) -> &Arc<EngineHandle> {
        &self.engine
    }

    pub(super) fn config(&self) -> Config {
        self.config.lock().clone()
    }

    fn folder(&self, local: &str) -> CommandResult<FolderId> {
        folders::find(self.engine.index(), local).map(|row| row.id)
    }

    fn optional(&self, local: Option<&String>) -> CommandResult<Option<FolderId>> {
        local.map(|local| self.folder(local)).transpose()
    }

    /// Returns the status with every problem.
    fn full_status(&self) -> cairn_control::Status {
        let mut status = self.engine.status();
        for folder in &mut status.folders {
            folder.errors = self.engine.problems(FolderId(folder.id));
        }
        convert::status(&status)
    }

    async fn wait_until_synced(&self, timeout_ms: Option<u64>) -> CommandResult<Reply> {
        let idle = self.engine.wait_until_idle();
        let idle = match timeout_ms {
            Some(ms) => tokio::time::timeout(Duration::from_millis(ms), idle)
                .await
                .map_err(|_| {
                    let seconds = ms.div_ceil(1000);
                    let message =
                        format!("still not in sync after {seconds} s: see `cairn status`");
                    Failure::new(Exit::TimedOut, message)
                })?,
            None => idle.await,
        };
        match idle? {
            WaitResult::InSync => Ok(Reply::Status(convert::status(&self.engine.status()))),
            WaitResult::NeedsPerson => {
                let message =
                    "not everything is in sync, and the rest needs a person: see `cairn status`";
                Err(Failure::new(Exit::Decision, message))
            }
            WaitResult::Paused => Err(Failure::failed("syncing is paused: run `cairn resume`")),
        }
    }

    async fn add_folder(&self, new: &NewFolder) -> CommandResult<Reply> {
        let row = folders::add(self.engine.index(), new)?;
        self.disk.guard(
            self.engine
                .folders()?
                .into_iter()
                .map(|row| row.root.into())
                .collect(),
        );
        self.engine.reload();
        self.applied(|status| status.folders.iter().any(|f| f.local == row.root))
            .await;
        Ok(Reply::Folder(folders::to_control(&row)))
    }

    async fn remove_folder(&self, folder: &str) -> CommandResult<Reply> {
        folders::remove(self.engine.index(), folder)?;
        self.engine.reload();
        self.applied(|status| status.folders.iter().all(|f| f.local != folder))
            .await;
        Ok(Reply::DONE)
    }

    /// Waits until the engine's status shows a change of the pairs, for a while: a busy engine takes
    /// it over later.
    async fn applied(&self, shows: impl Fn(&cairn_engine::Status) -> bool) {
        let mut events = self.engine.events();
        let waiting = async {
            while !shows(&self.engine.status()) {
                if let Err(RecvError::Closed) = events.recv().await {
                    return;
                }
            }
        };
        // Late is not wrong: the change is in the index.
        drop(tokio::time::timeout(APPLIED_TIMEOUT, waiting).await);
    }

    fn set_limits(&self, limits: Limits) -> CommandResult<Reply> {
        let text =
            |rate: Option<u64>| rate.map_or_else(|| "off".to_owned(), |rate| rate.to_string());
        Config::store(&self.home, "limits.up", &text(limits.up))?;
        Config::store(&self.home, "limits.down", &text(limits.down))?;
        self.reload()
    }

    /// Takes over what can change while the daemon runs; the rest waits for a restart.
    fn reload(&self) -> CommandResult<Reply> {
        let config = Config::load(&self.home)?;
        let limits = self.engine.transfer().limits();
        limits.set_up(config.limits.up);
        limits.set_down(config.limits.down);
        self.engine
            .tune(config.rescan_every, config.parallel, config.verify);
        *self.config.lock() = config;
        self.engine.reload();
        Ok(Reply::DONE)
    }

    fn activity(&self, limit: u32) -> CommandResult<Reply> {
        let (rows, folders) = self
            .engine
            .index()
            .read(|db| Ok((db.activity(limit)?, db.folders()?)))?;
        let events = rows
            .iter()
            .map(|row| {
                let mut activity = convert::activity(row, &folders);
                activity.device = activity.device.map(|name| self.engine.device_name(&name));
                activity
            })
            .collect();
        Ok(Reply::Activity(ActivityList { events }))
    }

    fn conflicts(&self) -> CommandResult<Reply> {
        let conflicts = self.engine.conflicts()?;
        let folders = self.engine.folders()?;
        let conflicts = conflicts
            .into_iter()
            .map(|open| Conflict {
                path: open.path.to_string(),
                copy: open.copy.to_string(),
                folder: convert::root(&folders, open.folder).unwrap_or_default(),
                kind: open.kind,
                device: self.engine.device_name(&open.device),
                copy_device: open.copy_device,
                copy_made_here: open.copy_made_here,
                at: rfc3339(open.at_ms),
            })
            .collect();
        Ok(Reply::Conflicts(ConflictList { conflicts }))
    }

    async fn resolve(&self, path: &str, keep: Keep) -> CommandResult<Reply> {
        let (row, below) = folders::containing(self.engine.index(), Path::new(path))?;
        self.engine.resolve(Some(row.id), below, keep).await?;
        Ok(Reply::DONE)
    }

    fn confirm(&self, folder: &str, decision: DeletionDecision) -> CommandResult<Reply> {
        self.engine.confirm(self.folder(folder)?, decision)?;
        Ok(Reply::DONE)
    }

    fn trash(&self, folder: Option<&String>) -> CommandResult<Reply> {
        let rows = match folder {
            Some(local) => vec![folders::find(self.engine.index(), local)?],
            None => self.engine.folders()?,
        };
        let mut trashed = Vec::new();
        for row in rows {
            trashed.extend(crate::folders::trash::list(&RealDisk::new(), &row)?);
        }
        Ok(Reply::Trash(TrashedList { trashed }))
    }

    fn restore(&self, folder: &str, id: &str) -> CommandResult<Reply> {
        let row = folders::find(self.engine.index(), folder)?;
        let trashed = crate::folders::trash::restore(&RealDisk::new(), &row, id, None)?;
        self.engine.rescan(Some(row.id));
        Ok(Reply::Trashed(trashed))
    }

    async fn accept_disk(&self, path: &str) -> CommandResult<Reply> {
        let (row, below) = folders::containing(self.engine.index(), Path::new(path))?;
        self.engine.accept_disk(row.id, below).await?;
        Ok(Reply::DONE)
    }

    fn doctor(&self) -> Reply {
        let (status, account) = (self.engine.status(), &self.session.account);
        let watch_problems = status
            .folders
            .iter()
            .flat_map(|folder| folder.errors.iter())
            .filter(|problem| problem.code == ProblemCode::Watch)
            .cloned()
            .collect();
        Reply::Doctor(DoctorInfo {
            version: self.version(),
            pid: std::process::id(),
            started_at: rfc3339(self.started_ms),
            server: account.server.clone(),
            account: account.email.clone(),
            device: account.device_name.clone(),
            device_id: account.device.to_string(),
            online: status.state != SyncState::Offline,
            watch_problems,
        })
    }

    async fn carry_out(&self, request: Request) -> CommandResult<Reply> {
        let index = self.engine.index();
        match request {
            Request::Status => Ok(Reply::Status(convert::status(&self.engine.status()))),
            Request::FullStatus => Ok(Reply::Status(self.full_status())),
            Request::Settle { timeout_ms } => self.wait_until_synced(timeout_ms).await,
            // The server of the protocol answers it; nothing is left to do.
            Request::Subscribe => Ok(Reply::DONE),
            Request::Rescan { folder } => {
                self.engine.rescan(self.optional(folder.as_ref())?);
                Ok(Reply::DONE)
            }
            Request::Pause { folder, until } => {
                self.engine.pause(self.optional(folder.as_ref())?, until)?;
                Ok(Reply::DONE)
            }
            Request::Resume { folder } => {
                self.engine.resume(self.optional(folder.as_ref())?)?;
                Ok(Reply::DONE)
            }
            Request::Activity { limit } => self.activity(limit),
            Request::Conflicts => self.conflicts(),
            Request::Resolve { path, keep } => self.resolve(&path, keep).await,
            Request::Accept => {
                let accepted = self.engine.accept().await?;
                Ok(Reply::Accepted(Accepted { accepted }))
            }
            Request::Confirm { folder, decision } => self.confirm(&folder, decision),
            Request::Folders => Ok(Reply::Folders(
                self.engine
                    .folders()?
                    .iter()
                    .map(folders::to_control)
                    .collect(),
            )),
            Request::AddFolder { folder } => self.add_folder(&folder).await,
            Request::ChangeFolder { folder } => {
                let row = folders::change(index, &folder)?;
                self.engine.reload();
                Ok(Reply::Folder(folders::to_control(&row)))
            }
            Request::RemoveFolder { folder } => self.remove_folder(&folder).await,
            Request::AcceptDisk { path } => self.accept_disk(&path).await,
            Request::Ignore { folder } => Ok(Reply::IgnoreRules(folders::ignore::rules(
                &folders::find(index, &folder)?,
            )?)),
            Request::AddIgnore { folder, pattern } => {
                let row = folders::find(index, &folder)?;
                folders::ignore::add(&row, &pattern)?;
                self.engine.rescan(Some(row.id));
                Ok(Reply::DONE)
            }
            Request::SetIgnore { folder, lines } => {
                let row = folders::find(index, &folder)?;
                folders::ignore::replace(&row, &lines)?;
                self.engine.rescan(Some(row.id));
                Ok(Reply::DONE)
            }
            Request::CheckIgnore {
                folder,
                path,
                lines,
            } => {
                let row = folders::find(index, &folder)?;
                let path = Path::new(&path);
                Ok(Reply::IgnoreDecision(match lines {
                    Some(lines) => folders::ignore::try_out(&row, &lines, path)?,
                    None => folders::ignore::check(&row, path)?,
                }))
            }
            Request::Limits => Ok(Reply::Limits(self.config().limits)),
            Request::SetLimits { limits } => self.set_limits(limits),
            Request::Reload => self.reload(),
            Request::Trash { folder } => self.trash(folder.as_ref()),
            Request::RestoreTrashed { folder, id } => self.restore(&folder, &id),
            Request::Why { path } => Ok(Reply::Why(Box::new(why::report(&self.engine, &path)?))),
            Request::Waiting { limit } => Ok(Reply::Waiting(why::waiting(&self.engine, limit)?)),
            Request::Doctor => Ok(self.doctor()),
            Request::Shutdown => {
                self.stop.notify_one();
                Ok(Reply::DONE)
            }
        }
    }
}

#[async_trait]
impl Handler for Daemon {
    async fn handle(&self, request: Request) -> Result<Reply, cairn_control::Failure> {
        self.carry_out(request).await.map_err(|failure| {
            let code = match failure.exit {
                Exit::Failed => FailureCode::Failed,
                Exit::Usage => FailureCode::Usage,
                Exit::NotLoggedIn => FailureCode::NotLoggedIn,
                Exit::Offline => FailureCode::Offline,
                Exit::Decision => FailureCode::Decision,
                Exit::TimedOut => FailureCode::TimedOut,
            };
            cairn_control::Failure::new(code, failure.message)
        })
    }

    fn events(&self) -> EventSource {
        events::source(self.engine.clone())
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }
}
