//! Requests of the control protocol, carried out on the engine, the index and the files.

mod changes;
mod reports;

use crate::config::Config;
use crate::failure::{CommandResult, Exit};
use crate::folders;
use crate::serve::disk::GuardedDisk;
use crate::serve::{convert, events, why};
use crate::session::Session;
use async_trait::async_trait;
use cairn_control::{Accepted, EventSource, FailureCode, Handler, Reply, Request};
use cairn_engine::EngineHandle;
use cairn_model::FolderId;
use cairn_platform::Home;
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Notify;

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

    async fn carry_out(&self, request: Request) -> CommandResult<Reply> {
        let index = self.engine.index();
        match request {
            Request::Status => Ok(Reply::Status(convert::status(&self.engine.status()))),
            Request::FullStatus => Ok(Reply::Status(self.full_status())),
            Request::WaitUntilSynced { timeout_ms } => self.wait_until_synced(timeout_ms).await,
            // The server of the protocol carries it out; nothing is left to do.
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
                    Some(lines) => folders::ignore::try_out(&self.home, &row, &lines, path)?,
                    None => folders::ignore::check(&self.home, &row, path)?,
                }))
            }
            Request::Limits => Ok(Reply::Limits(self.config().limits)),
            Request::SetLimits { limits } => self.set_limits(limits),
            Request::Reload => self.reload(),
            Request::Trash { folder } => self.trash(folder.as_ref()),
            Request::RestoreTrashed { folder, id } => self.restore(&folder, &id),
            Request::Why { path } => Ok(Reply::Why(Box::new(why::report(&self.engine, &path)?))),
            Request::Waiting { limit } => {
                Ok(Reply::Waiting(why::waiting_list(&self.engine, limit)?))
            }
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
