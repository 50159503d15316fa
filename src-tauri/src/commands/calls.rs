//! The table of everything that the window can ask for: arguments, reply and handler of each call.
//!
//! The functions that the page calls are generated from it (see `tests/bindings.rs`).

use super::account::{AccountView, LoginForm, RecoveryKeyView};
use super::assistants::{Assistant, AssistantConfig};
use super::context::{Commands, to_json};
use super::device::{AutostartView, ConfigKey, DaemonConfig, StartInfo};
use super::devices::{CompareView, DeviceList, RevokeChoices, RevokedView};
use super::folders::{FolderChoices, IgnoreCheck, LimitsView, RemoteFolder, RemoteItem};
use super::history::{PastPage, RewindView};
use super::links::{LinkAction, LinkChoices, LinkTarget, LinkView};
use super::sessions::{SessionView, UndoPreview};
use super::trash::{LocalTrashed, RemoteTrashed};
use super::versions::{VersionDiff, VersionText, VersionView};
use super::webhooks::{DeliveryView, WebhookAction, WebhookView};
use super::why::WhyView;
use super::{
    account, assistants, conflicts, device, devices, folders, history, links, sessions, sync,
    trash, versions, webhooks, why,
};
use crate::conflict::ConflictDetail;
use crate::program::ProgramError;
use crate::settings::Settings;
use crate::tray::PauseFor;
use crate::view::{ActivityView, TeamView};
use cairn_model::{DeletionDecision, EventKind, Keep};
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;
use ts_rs::{Config, TS, TypeVisitor};

/// One call as TypeScript writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The variant's name, for example `AddFolder`.
    pub name: &'static str,
    /// The first line of its documentation, empty if there is none.
    pub doc: &'static str,
    /// Name and type of each argument, in order.
    pub arguments: Vec<(&'static str, String)>,
    /// The type of the reply.
    pub reply: String,
}

macro_rules! calls {
    ($(
        $(#[doc = $doc:literal])?
        $name:ident ( $($argument:ident : $type:ty),* ) -> $reply:ty = $handler:path;
    )*) => {
        /// A call of the window.
        #[derive(Clone, PartialEq, Debug, Deserialize)]
        #[serde(tag = "op", rename_all = "snake_case")]
        pub enum Call {
            $( $(#[doc = $doc])? $name { $($argument: $type),* }, )*
        }

        impl Commands {
            /// Runs a call and returns its reply as JSON.
            ///
            /// # Errors
            /// [`ProgramError`], with a text for a person.
            pub async fn handle(&self, call: Call) -> Result<Value, ProgramError> {
                match call {
                    $( Call::$name { $($argument),* } => {
                        let reply: $reply = $handler(self $(, $argument)*).await?;
                        to_json(&reply)
                    } )*
                }
            }
        }

        /// Returns all calls in the order of the table.
        #[must_use]
        pub fn signatures(config: &Config) -> Vec<Signature> {
            vec![ $( Signature {
                name: stringify!($name),
                doc: concat!($($doc)?),
                arguments: vec![ $( (stringify!($argument), <$type as TS>::name(config)) ),* ],
                reply: <$reply as TS>::name(config),
            } ),* ]
        }

        /// Visits the types of all arguments and replies.
        pub fn visit_types(visitor: &mut impl TypeVisitor) {
            $( $( visitor.visit::<$type>(); )* visitor.visit::<$reply>(); )*
        }
    };
}

calls! {
    /// The window has opened and wants everything that is known.
    Start() -> StartInfo = device::start;
    /// The newest first.
    Activity(limit: u32) -> Vec<ActivityView> = history::activity;
    /// Pauses one folder, or all.
    Pause(folder: Option<String>, span: PauseFor) -> () = sync::pause;
    /// Resumes one folder, or all.
    Resume(folder: Option<String>) -> () = sync::resume;
    /// Scans all folders again.
    Rescan() -> () = sync::rescan;
    /// Tries again to reach the daemon.
    Retry() -> () = sync::retry;
    /// Returns why a path does or does not sync: one below the folder, or absolute; empty for the folder itself.
    Why(folder: String, path: String) -> WhyView = why::why;
    /// Returns a path below the folder; null if the person cancelled.
    PickFile(folder: String) -> Option<String> = why::pick_file;
    Conflict(folder: String, path: String, copy: String) -> ConflictDetail = conflicts::detail;
    Resolve(folder: String, copy: String, keep: Keep) -> () = conflicts::resolve;
    /// Decides the deletions, or the overwriting, that waits in a folder.
    Confirm(folder: String, decision: DeletionDecision) -> () = conflicts::confirm;
    Folder(local: String) -> FolderChoices = folders::choices;
    /// Adds it to its team's space, or to the account's own.
    AddFolder(folder: FolderChoices) -> () = folders::add;
    ChangeFolder(folder: FolderChoices) -> () = folders::change;
    /// In force now, for all folders together.
    Limits() -> LimitsView = folders::limits;
    RemoveFolder(local: String) -> () = folders::remove;
    /// The teams of the account, by name.
    Teams() -> Vec<TeamView> = folders::teams;
    /// In the space of a team, by its id, or in the account's own.
    RemoteFolders(team: Option<String>, path: String) -> Vec<RemoteFolder> = folders::list_remote;
    /// Folders first, each kind by name.
    RemoteItems(team: Option<String>, path: String) -> Vec<RemoteItem> = folders::remote_items;
    /// The lines of the folder's rules file.
    Ignore(folder: String) -> Vec<String> = folders::rules;
    SetIgnore(folder: String, lines: Vec<String>) -> () = folders::set_rules;
    /// Checks a path below the folder as if the rules were these.
    TryIgnore(folder: String, lines: Vec<String>, path: String) -> IgnoreCheck = folders::try_rules;
    Reveal(folder: String, path: String) -> () = device::reveal;
    OpenFolder(folder: String) -> () = device::open_folder;
    /// Null if the person cancelled.
    PickFolder() -> Option<PathBuf> = device::pick_folder;
    /// True if it was saved, false if the person cancelled.
    SaveText(name: String, text: String) -> bool = device::save_text;
    /// The newest first.
    Versions(folder: String, path: String) -> Vec<VersionView> = versions::list;
    RestoreVersion(folder: String, path: String, revision: String) -> () = versions::restore;
    VersionText(folder: String, path: String, revision: String) -> VersionText = versions::text;
    CompareVersions(folder: String, path: String, older: String, newer: String) -> VersionDiff = versions::compare;
    /// True if it was saved, false if the person cancelled.
    SaveVersion(folder: String, path: String, revision: String) -> bool = versions::save;
    /// Lists the events below a path of a synced folder, the newest first; pages begin with 1.
    Past(folder: String, path: String, page: u64) -> PastPage = history::past;
    /// Makes it what it was at a time; a dry run returns the plan alone.
    Rewind(folder: String, path: String, at: String, dry_run: bool) -> RewindView = history::rewind;
    /// Lists the changes of commands on this device and of assistants, the newest first.
    Sessions() -> Vec<SessionView> = sessions::list;
    /// Returns what an undo would do; nothing is done.
    PreviewUndo(session: String) -> UndoPreview = sessions::preview;
    /// Takes a session or a rewind back; returns what could not be taken back.
    Undo(session: String) -> Vec<String> = sessions::undo;
    /// The newest first.
    LocalTrash() -> Vec<LocalTrashed> = trash::list_local;
    /// Returns the path below the folder.
    RestoreLocal(folder: String, id: String) -> String = trash::restore_local;
    /// The newest first.
    RemoteTrash() -> Vec<RemoteTrashed> = trash::list_remote;
    /// Returns the path on the service, with another name where its own is in use.
    RestoreRemote(id: String) -> String = trash::restore_remote;
    /// Brings back what was deleted last under a path; returns the path on the service.
    RestoreDeleted(folder: String, path: String) -> String = trash::restore_deleted;
    /// All links, or those of one synced folder.
    Links(folder: Option<String>) -> Vec<LinkView> = links::list;
    CreateLink(target: LinkTarget, choices: LinkChoices) -> LinkView = links::create;
    ChangeLink(id: String, action: LinkAction) -> () = links::change;
    Account() -> AccountView = account::account;
    Devices() -> DeviceList = devices::list;
    /// Returns the number of its logins that ended; none if it uses an API key, which stays valid.
    RemoveDevice(id: String) -> u64 = devices::remove;
    /// Shuts a device out: ends its logins, and replaces all keys of the account.
    RevokeDevice(id: String, choices: RevokeChoices) -> RevokedView = devices::revoke;
    /// Takes over keys that another device has replaced; false if this device has them already.
    UpdateKeys(passphrase: String) -> bool = devices::update_keys;
    /// The words that two devices in sync have in common, for each space.
    Compare() -> CompareView = devices::compare;
    /// Logs in; sends its steps as events, and ends when the device is logged in.
    Login(form: LoginForm) -> () = account::login;
    /// Returns the step of a login that waits for the passphrase.
    EnterPassphrase(passphrase: String) -> () = account::enter_passphrase;
    /// Ends a login that waits for the person.
    CancelLogin() -> () = account::cancel_login;
    Logout() -> () = account::logout;
    /// Creates a recovery key and returns it.
    RecoverySetup(passphrase: String) -> RecoveryKeyView = account::recovery_setup;
    /// True if there is a recovery key.
    RecoveryStatus() -> bool = account::recovery_status;
    /// Returns a new passphrase of random words.
    GeneratePassphrase() -> String = account::generate_passphrase;
    ChangePassphrase(current: String, next: String) -> () = account::change_passphrase;
    Config() -> DaemonConfig = device::config;
    SetConfig(key: ConfigKey, value: String) -> () = device::set_config;
    Autostart() -> AutostartView = device::autostart;
    SetAutostart(tray: bool, daemon: bool) -> () = device::set_autostart;
    AssistantConfig(assistant: Assistant) -> AssistantConfig = assistants::config;
    /// Writes it into the program's configuration file, whose other entries stay; returns the file's path.
    InstallAssistant(assistant: Assistant) -> String = assistants::install;
    /// Saves it where the person chooses; null if the person cancelled. With `names`: names, paths and addresses, too.
    BugReport(name: String, names: bool) -> Option<PathBuf> = device::bug_report;
    SetSettings(settings: Settings) -> () = device::set_settings;
    Webhooks() -> Vec<WebhookView> = webhooks::list;
    /// Returns the secret that signs its deliveries.
    AddWebhook(url: String, events: Vec<EventKind>) -> String = webhooks::add;
    ChangeWebhook(id: String, action: WebhookAction) -> () = webhooks::change;
    /// The newest first.
    Deliveries(id: String) -> Vec<DeliveryView> = webhooks::deliveries;
    RetryDelivery(id: String, delivery: String) -> () = webhooks::retry;
}
