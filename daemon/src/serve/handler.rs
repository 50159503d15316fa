//! Requests of the control protocol, carried out on the engine, the index and the files.

mod changes;
mod reports;

use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::folders;
use crate::folders::pairs::{self, Pair};
use crate::logging::FileLevel;
use crate::serve::engines::Engines;
use crate::serve::shared::Shared;
use crate::serve::{events, why};
use async_trait::async_trait;
use cairn_control::{Accepted, EventSource, FailureCode, Handler, Limits, Reply, Request, Status};
use cairn_engine::EngineHandle;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{Mutex as AsyncMutex, Notify};

/// The running daemon, as its clients see it.
pub(super) struct Daemon {
    shared: Arc<Shared>,
    engines: Arc<Engines>,
    /// Held while a pair is added: none that overlaps another one may slip in between.
    adding: AsyncMutex<()>,
    stop: Arc<Notify>,
    log_level: FileLevel,
    started_ms: i64,
}

impl Daemon {
    pub(super) fn new(
        shared: Arc<Shared>,
        engines: Arc<Engines>,
        stop: Arc<Notify>,
        log_level: FileLevel,
    ) -> Self {
        let started_ms = crate::output::text::now_ms();
        Self {
            shared,
            engines,
            adding: AsyncMutex::default(),
            stop,
            log_level,
            started_ms,
        }
    }

    pub(super) fn engines(&self) -> &Arc<Engines> {
        &self.engines
    }

    pub(super) fn config(&self) -> Config {
        self.shared.config.lock().clone()
    }

    /// Returns the pair of a local folder.
    fn pair(&self, local: &str) -> CommandResult<Pair> {
        pairs::find(&self.engines.indexes(), local)
    }

    fn optional(&self, local: Option<&String>) -> CommandResult<Option<Pair>> {
        local.map(|local| self.pair(local)).transpose()
    }

    /// Returns the engine of a pair's space, for a request that needs it to run.
    fn engine_of(&self, pair: &Pair) -> CommandResult<Arc<EngineHandle>> {
        self.engines.of(pair).map_err(|halt| {
            let local = &pair.row.root;
            Failure::failed(format!("{local} is not synced now: {}", halt.sentence()))
        })
    }

    /// Adds the limits in force to a status.
    fn with_limits(&self, status: Status) -> Status {
        let limits = &self.shared.limits;
        Status {
            limits: Some(Limits {
                up: limits.up(),
                down: limits.down(),
            }),
            ..status
        }
    }

    async fn carry_out(&self, request: Request) -> CommandResult<Reply> {
        match request {
            Request::Status => Ok(Reply::Status(self.with_limits(self.engines.status()))),
            Request::FullStatus => Ok(Reply::Status(self.with_limits(self.engines.full_status()))),
            Request::WaitUntilSynced { timeout_ms } => self.wait_until_synced(timeout_ms).await,
            // The server of the protocol carries them out; nothing is left to do.
            Request::Subscribe | Request::Ping => Ok(Reply::DONE),
            Request::Rescan { folder } => {
                self.engines
                    .rescan(self.optional(folder.as_ref())?.as_ref());
                Ok(Reply::DONE)
            }
            Request::SyncNow { folder } => self.sync_now(folder.as_ref()).await,
            Request::Pause { folder, until } => self.set_paused(folder.as_ref(), true, until).await,
            Request::Resume { folder } => self.set_paused(folder.as_ref(), false, None).await,
            Request::Activity { limit } => self.activity(limit),
            Request::Conflicts => self.conflicts(),
            Request::Resolve { path, keep } => self.resolve(&path, keep).await,
            Request::PreviewResolve { path, keep } => self.preview_resolve(&path, keep).await,
            Request::Accept => {
                let mut accepted = 0;
                for engine in self.engines.running_engines() {
                    accepted += engine.accept().await?;
                }
                Ok(Reply::Accepted(Accepted { accepted }))
            }
            Request::Confirm { folder, decision } => self.confirm(&folder, decision),
            Request::Folders => {
                let pairs = pairs::list(&self.engines.indexes())?;
                Ok(Reply::Folders(pairs.iter().map(Pair::to_control).collect()))
            }
            Request::AddFolder { folder } => self.add_folder(None, &folder).await,
            Request::AddTeamFolder { folder, space } => {
                self.add_folder(Some(&space), &folder).await
            }
            Request::ChangeFolder { folder } => {
                let pair = pairs::change(&self.engines.indexes(), &folder)?;
                self.engines.reload(&pair)?;
                Ok(Reply::Folder(pair.to_control()))
            }
            Request::RemoveFolder { folder } => self.remove_folder(&folder).await,
            Request::AcceptDisk { path } => self.accept_disk(&path).await,
            Request::Ignore { folder } => Ok(Reply::IgnoreRules(folders::ignore::rules(
                &self.pair(&folder)?.row,
            )?)),
            Request::AddIgnore { folder, pattern } => {
                let pair = self.pair(&folder)?;
                folders::ignore::add(&pair.row, &pattern)?;
                self.engines.rescan(Some(&pair));
                Ok(Reply::DONE)
            }
            Request::SetIgnore { folder, lines } => {
                let pair = self.pair(&folder)?;
                folders::ignore::replace(&pair.row, &lines)?;
                self.engines.rescan(Some(&pair));
                Ok(Reply::DONE)
            }
            Request::CheckIgnore {
                folder,
                path,
                lines,
            } => {
                let row = self.pair(&folder)?.row;
                let (home, path) = (&self.shared.home, Path::new(&path));
                Ok(Reply::IgnoreDecision(match lines {
                    Some(lines) => folders::ignore::try_out(home, &row, &lines, path)?,
                    None => folders::ignore::check(home, &row, path)?,
                }))
            }
            Request::Limits => Ok(Reply::Limits(self.config().limits)),
            Request::SetLimits { limits } => self.set_limits(limits),
            Request::Reload => self.reload(),
            Request::Trash { folder } => self.trash(folder.as_ref()),
            Request::RestoreTrashed { folder, id } => self.restore(&folder, &id),
            Request::DeleteTrashed { folder, ids } => self.delete_trashed(&folder, ids).await,
            Request::Why { path } => Ok(Reply::Why(Box::new(why::report(&self.engines, &path)?))),
            Request::Waiting { limit } => {
                Ok(Reply::Waiting(why::waiting_list(&self.engines, limit)?))
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
        events::source(self.engines.clone())
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }
}
