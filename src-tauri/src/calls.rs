//! What the window can ask for: one enum, one answer for each.
//!
//! Most of it goes on to the daemon or to the `cairn` program as it is; what a person's machine does
//! (pickers, file managers) goes through [`Desktop`].

mod account;
mod folders;
mod history;
mod machine;
mod webhooks;

pub use account::{AccountView, DeviceView, LoginForm};
pub use folders::{FolderChoices, GateView, RemoteFolder, VerdictView};
pub use history::VersionView;
pub(crate) use machine::pause as pause_request;
pub use machine::{Assistant, AssistantConfig, AutostartView, Start};
pub use webhooks::{DeliveryView, WebhookAct, WebhookView};

use crate::conflict;
use crate::controller::Input;
use crate::link::Daemon;
use crate::program::{Fault, Program, Run};
use crate::settings::{Settings, SettingsFile};
use crate::tray::PauseFor;
use crate::view;
use async_trait::async_trait;
use cairn_control::{Answer, Keep, Request};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, mpsc};
use ts_rs::TS;

/// Which version of a conflict stays under the name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeepView {
    Mine,
    Theirs,
    Both,
    Merge,
}

/// A request of the window.
#[derive(Clone, PartialEq, Debug, Deserialize, TS)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Call {
    /// [`Start`].
    Start,
    /// A list of [`view::ActivityView`], the newest first.
    Activity {
        limit: u32,
    },
    Pause {
        span: PauseFor,
    },
    Resume,
    /// Reads all folders again.
    Rescan,
    /// Tries again to reach the daemon.
    Retry,
    /// [`conflict::ConflictDetail`].
    Conflict {
        folder: String,
        path: String,
        copy: String,
    },
    Resolve {
        folder: String,
        copy: String,
        keep: KeepView,
    },
    Confirm {
        folder: String,
        delete: bool,
    },
    /// [`FolderChoices`].
    Folder {
        local: String,
    },
    AddFolder {
        folder: FolderChoices,
    },
    ChangeFolder {
        folder: FolderChoices,
    },
    RemoveFolder {
        local: String,
    },
    /// A list of [`RemoteFolder`].
    RemoteFolders {
        path: String,
    },
    /// The lines of the folder's rules file.
    Ignore {
        folder: String,
    },
    SetIgnore {
        folder: String,
        lines: Vec<String>,
    },
    /// [`VerdictView`] of a path below the folder, as if the rules were these.
    TryIgnore {
        folder: String,
        lines: Vec<String>,
        path: String,
    },
    Reveal {
        folder: String,
        path: String,
    },
    OpenFolder {
        folder: String,
    },
    /// A path, or null.
    PickFolder,
    /// True if it was saved.
    SaveText {
        name: String,
        text: String,
    },
    /// A list of [`VersionView`], the newest first.
    Versions {
        folder: String,
        path: String,
    },
    RestoreVersion {
        folder: String,
        path: String,
        revision: String,
    },
    /// [`AccountView`].
    Account,
    /// A list of [`DeviceView`].
    Devices,
    Login {
        form: LoginForm,
    },
    /// Ends a login that waits for the browser.
    CancelLogin,
    Logout,
    /// The recovery key.
    RecoverySetup {
        passphrase: String,
    },
    /// True if there is one.
    RecoveryStatus,
    ChangePassphrase {
        present: String,
        new: String,
    },
    /// The daemon's settings by key.
    Config,
    SetConfig {
        key: String,
        value: String,
    },
    /// [`AutostartView`].
    Autostart,
    SetAutostart {
        tray: bool,
        daemon: bool,
    },
    /// [`AssistantConfig`].
    AssistantConfig {
        assistant: Assistant,
    },
    SetSettings {
        settings: Settings,
    },
    /// A list of [`WebhookView`].
    Webhooks,
    /// The secret of its signatures.
    AddWebhook {
        url: String,
        events: Vec<String>,
    },
    ActWebhook {
        id: String,
        act: WebhookAct,
    },
    /// A list of [`DeliveryView`], the newest first.
    Deliveries {
        id: String,
    },
    RetryDelivery {
        id: String,
        delivery: String,
    },
}

/// What the person's desktop does for the window.
#[async_trait]
pub trait Desktop: Send + Sync + 'static {
    /// Lets a person choose a folder.
    async fn pick_folder(&self) -> Option<PathBuf>;
    /// Lets a person choose where to save a file.
    async fn pick_save(&self, name: &str) -> Option<PathBuf>;
    /// Shows a file in its folder.
    ///
    /// # Errors
    /// Says why not.
    fn reveal(&self, path: PathBuf) -> Result<(), Fault>;
    /// Opens a folder.
    ///
    /// # Errors
    /// Says why not.
    fn open(&self, path: PathBuf) -> Result<(), Fault>;
    /// Tells whether the tray starts with the session.
    fn autostarts(&self) -> bool;
    /// Lets the tray start with the session, or no longer.
    ///
    /// # Errors
    /// Says why not.
    fn set_autostart(&self, on: bool) -> Result<(), Fault>;
}

/// Everything that answering takes.
pub struct Desk {
    pub daemon: Arc<dyn Daemon>,
    pub program: Arc<dyn Program>,
    pub desktop: Arc<dyn Desktop>,
    pub settings: Mutex<Settings>,
    pub file: SettingsFile,
    /// Where the `cairn` program is, for other programs that run it.
    pub cairn: String,
    /// The controller.
    pub inputs: mpsc::Sender<Input>,
    /// A person has had enough of waiting for a login.
    pub cancel: Notify,
}

impl Desk {
    /// The settings as they are now.
    pub fn settings(&self) -> Settings {
        self.settings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Answers a call.
    ///
    /// # Errors
    /// [`Fault`], with a text for a person.
    pub async fn answer(&self, call: Call) -> Result<Value, Fault> {
        match call {
            Call::Start => {
                // If the controller has ended, so does the program.
                let _ = self.inputs.send(Input::WindowReady).await;
                document(&machine::start(self))
            }
            Call::Activity { limit } => {
                let list: cairn_control::ActivityList =
                    self.ask(Request::Activity { limit }).await?;
                document(&list.events.iter().map(view::activity).collect::<Vec<_>>())
            }
            Call::Pause { span } => self.order(machine::pause(span)).await,
            Call::Resume => self.order(Request::Resume { folder: None }).await,
            Call::Rescan => self.order(Request::Rescan { folder: None }).await,
            Call::Retry => {
                self.daemon.release();
                Ok(Value::Null)
            }
            Call::Conflict { folder, path, copy } => {
                let reading = move || conflict::read(&folder, &path, &copy);
                document(&blocking(reading).await?)
            }
            Call::Resolve { folder, copy, keep } => {
                let path = below(&folder, &copy)?.to_string_lossy().into_owned();
                let keep = match keep {
                    KeepView::Mine => Keep::Mine,
                    KeepView::Theirs => Keep::Theirs,
                    KeepView::Both => Keep::Both,
                    KeepView::Merge => Keep::Merge,
                };
                self.order(Request::Resolve { path, keep }).await
            }
            Call::Confirm { folder, delete } => {
                let answer = if delete { Answer::Delete } else { Answer::Keep };
                self.order(Request::Confirm { folder, answer }).await
            }
            Call::Folder { local } => document(&folders::choices(self, &local).await?),
            Call::AddFolder { folder } => folders::add(self, &folder).await,
            Call::ChangeFolder { folder } => {
                self.order(Request::ChangeFolder {
                    folder: folder.into(),
                })
                .await
            }
            Call::RemoveFolder { local } => {
                self.order(Request::RemoveFolder { folder: local }).await
            }
            Call::RemoteFolders { path } => document(&folders::remote(self, &path).await?),
            Call::Ignore { folder } => document(&folders::rules(self, folder).await?),
            Call::SetIgnore { folder, lines } => {
                self.order(Request::SetIgnore { folder, lines }).await
            }
            Call::TryIgnore {
                folder,
                lines,
                path,
            } => document(&folders::try_rules(self, folder, lines, &path).await?),
            Call::Reveal { folder, path } => {
                self.desktop.reveal(below(&folder, &path)?)?;
                Ok(Value::Null)
            }
            Call::OpenFolder { folder } => {
                self.desktop.open(folder.into())?;
                Ok(Value::Null)
            }
            Call::PickFolder => document(&self.desktop.pick_folder().await),
            Call::SaveText { name, text } => machine::save(self, &name, text).await,
            Call::Versions { folder, path } => {
                document(&history::versions(self, &folder, &path).await?)
            }
            Call::RestoreVersion {
                folder,
                path,
                revision,
            } => history::restore(self, &folder, &path, &revision).await,
            Call::Account => document(&account::account(self).await?),
            Call::Devices => document(&account::devices(self).await?),
            Call::Login { form } => account::login(self, form).await,
            Call::CancelLogin => {
                self.cancel.notify_waiters();
                Ok(Value::Null)
            }
            Call::Logout => account::logout(self).await,
            Call::RecoverySetup { passphrase } => account::recovery_setup(self, passphrase).await,
            Call::RecoveryStatus => account::recovery_status(self).await,
            Call::ChangePassphrase { present, new } => {
                account::change_passphrase(self, present, new).await
            }
            Call::Config => self.program.run(Run::of(["config", "get"])).await,
            Call::SetConfig { key, value } => {
                self.program
                    .run(Run::of(["config", "set", &key, &value]))
                    .await
            }
            Call::Autostart => document(&machine::autostart(self).await?),
            Call::SetAutostart { tray, daemon } => machine::set_autostart(self, tray, daemon).await,
            Call::AssistantConfig { assistant } => {
                document(&machine::assistant(assistant, &self.cairn))
            }
            Call::Webhooks => document(&webhooks::list(self).await?),
            Call::AddWebhook { url, events } => webhooks::add(self, &url, &events).await,
            Call::ActWebhook { id, act } => webhooks::act(self, &id, act).await,
            Call::Deliveries { id } => webhooks::deliveries(self, &id).await,
            Call::RetryDelivery { id, delivery } => webhooks::retry(self, &id, &delivery).await,
            Call::SetSettings { settings } => machine::set_settings(self, settings).await,
        }
    }

    pub(crate) async fn ask<T: DeserializeOwned>(&self, request: Request) -> Result<T, Fault> {
        let value = self.daemon.ask(request).await?;
        serde_json::from_value(value)
            .map_err(|error| Fault::failed(format!("the daemon's answer can't be read: {error}")))
    }

    async fn order(&self, request: Request) -> Result<Value, Fault> {
        self.daemon.ask(request).await.map(|_| Value::Null)
    }
}

pub(crate) fn document(value: &impl Serialize) -> Result<Value, Fault> {
    serde_json::to_value(value).map_err(|error| Fault::failed(error.to_string()))
}

/// A path in a folder; one that leads out of it is refused.
pub(crate) fn below(folder: &str, path: &str) -> Result<PathBuf, Fault> {
    use std::path::{Component, Path};
    let path = Path::new(path);
    let inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if inside {
        Ok(Path::new(folder).join(path))
    } else {
        Err(Fault::failed(format!(
            "{} is not in {folder}",
            path.display()
        )))
    }
}

/// Files are read away from the threads that answer.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(Fault::failed(error.to_string())))
}

#[cfg(test)]
mod tests;
