//! The dependencies of the tools: two clients of the service, the account's keys, local files, the daemon.

use crate::counted_transport::{ChangesSent, CountedTransport};
use crate::device_trust::DeviceTrust;
use crate::keys::Opened;
use crate::node_turns::NodeTurns;
use crate::rewinder::{Rewinder, Rewound};
use crate::session_file::SessionFiles;
use crate::session_intents::Intents;
use crate::session_journal::SessionJournal;
use crate::session_link_tools::LinkTools;
use crate::spaces::Location;
use crate::task_files::TaskFiles;
use crate::text_policy::ForeignTexts;
use cairn_api::{Api, ApiError, Auth, HttpTransport, RetryPolicy};
use cairn_crypto::{AccountKeys, RootCost};
use cairn_model::{DeviceId, Name, SpaceId};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tokio::sync::{OnceCell, watch};
use zeroize::Zeroizing;

/// A longer wait that the service asks for is reported to the assistant, which can do something else meanwhile.
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// The service's address and the account to use.
pub struct Account {
    pub auth: Arc<dyn Auth>,
    /// The service's address without `/api/v1`.
    pub url: String,
    /// The address for chunk upload and download, if it differs.
    pub file_server: Option<String>,
    /// The device that changes are attributed to.
    pub device: DeviceId,
    pub keys: KeySource,
}

/// The source of the account's keys.
pub enum KeySource {
    /// No keys: content tools explain how to configure them.
    Missing,
    /// The passphrase opens the keys, or creates them at `cost` for a new account.
    Passphrase {
        passphrase: Zeroizing<String>,
        cost: RootCost,
    },
    /// Keys that are already unlocked.
    Open(Arc<AccountKeys>),
}

/// The system-specific operations on local files.
pub trait LocalFiles: Send + Sync {
    /// Returns whether the owner may execute the file; `None` where the disk keeps no such bit.
    fn executable(&self, path: &Path) -> Option<bool>;

    /// Sets or clears the owner's permission to execute the file.
    ///
    /// # Errors
    /// The error of the file system.
    fn set_executable(&self, path: &Path, executable: bool) -> io::Result<()>;

    /// Waits until everything written to the file system of a folder lies on the disk.
    ///
    /// # Errors
    /// The error of the file system.
    fn sync_all(&self, dir: &Path) -> io::Result<()>;

    /// Checks that this system allows a file of that name.
    ///
    /// # Errors
    /// The reason why it doesn't.
    fn check_name(&self, name: &Name) -> Result<(), String>;

    /// Returns the folders that tools may read and write.
    fn allowed_dirs(&self) -> Vec<PathBuf>;

    /// Returns the folders inside the allowed ones that tools may not use, such as Cairn's own.
    fn private_dirs(&self) -> Vec<PathBuf>;

    /// Returns the name of the file that marks a folder, wherever it is, as one that tools may not use: that of another
    /// installation. Empty: no file does.
    fn private_mark(&self) -> &'static str;

    /// Returns true if tools may also use the folders that the client names as its roots.
    fn allows_client_roots(&self) -> bool;
}

/// The dependencies shared by all tools.
pub(crate) struct Services {
    /// A client that retries transient failures.
    pub(crate) reads: Arc<Api>,
    /// A client for changes: it repeats those that the service carries out once, however often it is asked.
    pub(crate) writes: Arc<Api>,
    /// The requests of both that may have changed something.
    pub(crate) changes_sent: ChangesSent,
    pub(crate) key_source: KeySource,
    /// The account's keys, once they were opened.
    pub(crate) opened: OnceCell<Opened>,
    /// The time of the last answer that the account's keys are still those that were opened.
    pub(crate) keys_checked: Mutex<Option<Instant>>,
    /// The locations of ids outside the account's own space, as far as they were looked up.
    pub(crate) locations: Mutex<HashMap<String, Location>>,
    /// The account's own space, once it was asked for.
    own_space: OnceCell<SpaceId>,
    /// Set when the passphrase did not open the account: each attempt costs up to half a second.
    pub(crate) wrong_passphrase: AtomicBool,
    pub(crate) trust: Arc<dyn DeviceTrust>,
    pub(crate) files: Arc<dyn LocalFiles>,
    /// The changes that this session made.
    pub(crate) journal: SessionJournal,
    /// The changes of which it is not known yet whether they were made.
    pub(crate) intents: Intents,
    pub(crate) turns: NodeTurns,
    pub(crate) link_tools: LinkTools,
    /// True if local files are replaced without a question.
    pub(crate) may_replace: bool,
    /// The daemon's socket, if one runs for this user.
    pub(crate) daemon: Option<PathBuf>,
    /// Brings folders back to a time; `None` if these tools use another account than this machine.
    pub(crate) rewinder: Option<Arc<dyn Rewinder>>,
    /// The rewinds that this process has carried out and not taken back.
    pub(crate) rewinds: Mutex<Vec<Rewound>>,
    /// The treatment of texts that other people wrote.
    pub(crate) foreign_texts: ForeignTexts,
    /// Becomes true when the client's input has ended: nobody replies to a question any more.
    pub(crate) input_ended: watch::Sender<bool>,
    /// The place of long transfers; `None` if all calls end with this process.
    pub(crate) tasks: Option<Arc<dyn TaskFiles>>,
}

impl Services {
    /// # Errors
    /// [`ApiError`] if the address is invalid.
    pub(crate) fn new(
        account: Account,
        trust: Arc<dyn DeviceTrust>,
        files: Arc<dyn LocalFiles>,
        may_replace: bool,
        daemon: Option<PathBuf>,
        sessions: Option<Arc<dyn SessionFiles>>,
        link_tools: LinkTools,
    ) -> Result<Self, ApiError> {
        let changes_sent = ChangesSent::default();
        let http = HttpTransport::default();
        let transport = Arc::new(CountedTransport::new(http, changes_sent.clone()));
        let client = |tries| {
            let retry = RetryPolicy {
                tries,
                longest_retry_after: LONGEST_WAIT,
                after_silence: false,
                ..RetryPolicy::default()
            };
            Api::new(
                transport.clone(),
                &account.url,
                account.file_server.as_deref(),
                account.auth.clone(),
                account.device,
            )
            .map(|api| Arc::new(api.with_retry(retry)))
        };
        Ok(Self {
            reads: client(3)?,
            writes: client(3)?,
            changes_sent,
            key_source: account.keys,
            opened: OnceCell::new(),
            keys_checked: Mutex::default(),
            own_space: OnceCell::new(),
            locations: Mutex::default(),
            wrong_passphrase: AtomicBool::new(false),
            trust,
            files,
            journal: SessionJournal::new(sessions),
            intents: Intents::default(),
            turns: NodeTurns::default(),
            link_tools,
            may_replace,
            daemon,
            rewinder: None,
            rewinds: Mutex::default(),
            foreign_texts: ForeignTexts::default(),
            input_ended: watch::Sender::new(false),
            tasks: None,
        })
    }

    /// Returns the id of the account's own space.
    ///
    /// # Errors
    /// [`ApiError`] if the service can't be asked.
    pub(crate) async fn own_space_id(&self) -> Result<SpaceId, ApiError> {
        let asked = self.own_space.get_or_try_init(|| async {
            let account = self.reads.account().await?;
            Ok(account.space_id)
        });
        asked.await.copied()
    }
}
