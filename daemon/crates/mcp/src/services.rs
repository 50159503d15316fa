//! The dependencies of the tools: two clients of the service, the account's keys, local files, the daemon.

use crate::error::{ToolError, ToolResult};
use crate::spaces::Location;
use cairn_api::{Api, ApiError, Auth, HttpTransport, RetryPolicy};
use cairn_crypto::{AuthValue, CryptoError, KeyBundle, SpaceKeys, Unlocked};
use cairn_model::{DeviceId, Name};
use cairn_space::{Space, account_keys};
use cairn_transfer::{Options, Transfer};
use cairn_wire::account::AccountInfo;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::OnceCell;
use zeroize::Zeroizing;

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
    /// The passphrase opens the keys, or creates them with `iterations` for a new account.
    Passphrase {
        passphrase: Zeroizing<String>,
        iterations: u32,
    },
    /// Keys that are already unlocked.
    Open(Arc<SpaceKeys>),
}

/// The system-specific operations on local files.
pub trait LocalFiles: Send + Sync {
    /// Returns true if the owner may execute the file.
    fn executable(&self, path: &Path) -> bool;

    /// Sets or clears the owner's permission to execute the file.
    ///
    /// # Errors
    /// The file system's.
    fn set_executable(&self, path: &Path, executable: bool) -> io::Result<()>;

    /// Checks that this system allows a file of that name.
    ///
    /// # Errors
    /// The reason why it doesn't.
    fn acceptable(&self, name: &Name) -> Result<(), String>;

    /// Returns the folders that tools may read and write.
    fn allowed_dirs(&self) -> Vec<PathBuf>;

    /// Returns the folders inside the allowed ones that tools may not use, such as Cairn's own.
    fn private_dirs(&self) -> Vec<PathBuf>;

    /// Returns true if tools may also use the folders that the client names as its roots.
    fn allows_client_roots(&self) -> bool;
}

/// The dependencies shared by all tools.
pub(crate) struct Services {
    /// A client that retries transient failures.
    pub(crate) reads: Arc<Api>,
    /// A client that sends every request once.
    pub(crate) writes: Arc<Api>,
    key_source: KeySource,
    space: OnceCell<Space>,
    /// The locations of ids outside the account's own space, as far as they were looked up.
    pub(crate) locations: Mutex<HashMap<String, Location>>,
    /// Set when the passphrase did not open the account: each attempt costs up to half a second.
    wrong_passphrase: AtomicBool,
    pub(crate) files: Arc<dyn LocalFiles>,
    /// True if local files are replaced without a question.
    pub(crate) may_replace: bool,
    /// The daemon's socket, if one runs for this user.
    pub(crate) daemon: Option<PathBuf>,
}

impl Services {
    /// # Errors
    /// [`ApiError`] if the address is invalid or TLS is unavailable.
    pub(crate) fn new(
        account: Account,
        files: Arc<dyn LocalFiles>,
        may_replace: bool,
        daemon: Option<PathBuf>,
    ) -> Result<Self, ApiError> {
        let transport =
            Arc::new(HttpTransport::new().map_err(|e| ApiError::Offline(e.to_string()))?);
        let client = |tries| {
            let retry = RetryPolicy {
                tries,
                longest_retry_after: Duration::from_secs(20),
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
            writes: client(1)?,
            key_source: account.keys,
            space: OnceCell::new(),
            locations: Mutex::default(),
            wrong_passphrase: AtomicBool::new(false),
            files,
            may_replace,
            daemon,
        })
    }

    /// Opens the keys before the first call needs them. That call reports a failure.
    pub(crate) async fn open_keys_early(&self) {
        if let Err(error) = self.space_if_any().await {
            tracing::warn!(%error, "the keys could not be opened at start");
        }
    }

    /// Returns the account's space with its keys, creating them for an account that was never used.
    pub(crate) async fn space(&self) -> ToolResult<Space> {
        self.open(true)
            .await?
            .ok_or_else(|| ToolError::refused(NO_KEYS))
    }

    /// Returns the account's space if there is a passphrase and the account has keys.
    pub(crate) async fn space_if_any(&self) -> ToolResult<Option<Space>> {
        if self.wrong_passphrase.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match self.open(false).await {
            // Only content needs the keys: the rest works without them, as it does without a passphrase.
            Err(ToolError::NoPassphrase | ToolError::WrongPassphrase) => Ok(None),
            response => response,
        }
    }

    async fn open(&self, may_create: bool) -> ToolResult<Option<Space>> {
        if let Some(space) = self.space.get() {
            return Ok(Some(space.clone()));
        }
        let opened = self
            .space
            .get_or_try_init(|| async {
                let keys = match &self.key_source {
                    KeySource::Missing => return Err(Some(ToolError::NoPassphrase)),
                    KeySource::Open(keys) => keys.clone(),
                    KeySource::Passphrase {
                        passphrase,
                        iterations,
                    } => {
                        let iterations = may_create.then_some(*iterations);
                        self.unlock(passphrase, iterations)
                            .await
                            .map_err(Some)?
                            .ok_or(None)?
                    }
                };
                let transfer = Transfer::new(
                    self.reads.clone(),
                    keys.clone(),
                    self.reads.device(),
                    Options::default(),
                );
                Ok(Space::new(self.reads.clone(), keys, transfer))
            })
            .await;
        match opened {
            Ok(space) => Ok(Some(space.clone())),
            Err(None) => Ok(None),
            Err(Some(error)) => Err(error),
        }
    }

    /// Opens the account's keys, or creates them if `iterations` is given.
    async fn unlock(
        &self,
        passphrase: &Zeroizing<String>,
        iterations: Option<u32>,
    ) -> ToolResult<Option<Arc<SpaceKeys>>> {
        let api = &self.reads;
        let info = api.account().await?;
        match api.keys().await {
            Ok(bundle) => {
                let bundle = account_keys::from_wire(&bundle);
                let (unlocked, _) = self.open_bundle(&bundle, passphrase, &info).await?;
                Ok(Some(unlocked.space))
            }
            Err(ApiError::NotFound { .. }) => {
                let Some(iterations) = iterations else {
                    return Ok(None);
                };
                if account_keys::is_used(api).await? {
                    return Err(ToolError::refused(NO_KEYS));
                }
                let (_, unlocked) =
                    account_keys::create(api, &info, passphrase, iterations).await?;
                Ok(Some(unlocked.space))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the account's keys with the passphrase, `None` without one or for an account without keys.
    pub(crate) async fn open_with_passphrase(&self) -> ToolResult<Option<OpenedBundle>> {
        let KeySource::Passphrase { passphrase, .. } = &self.key_source else {
            return Ok(None);
        };
        let info = self.reads.account().await?;
        let bundle = match self.reads.keys().await {
            Ok(bundle) => account_keys::from_wire(&bundle),
            Err(ApiError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let (unlocked, auth) = self.open_bundle(&bundle, passphrase, &info).await?;
        Ok(Some(OpenedBundle {
            bundle,
            unlocked,
            auth,
        }))
    }

    async fn open_bundle(
        &self,
        bundle: &KeyBundle,
        passphrase: &Zeroizing<String>,
        info: &AccountInfo,
    ) -> ToolResult<(Unlocked, AuthValue)> {
        let (bundle, passphrase) = (bundle.clone(), passphrase.clone());
        let (account, space) = (info.id, info.space_id);
        let opened = tokio::task::spawn_blocking(move || {
            cairn_crypto::unlock(&bundle, &passphrase, account, space)
        })
        .await
        .map_err(|_| ToolError::Internal)?;
        self.wrong_passphrase.store(
            matches!(opened, Err(CryptoError::Opaque)),
            Ordering::Relaxed,
        );
        match opened {
            Ok(opened) => Ok(opened),
            Err(CryptoError::Opaque) => Err(ToolError::WrongPassphrase),
            Err(error) => {
                tracing::error!(%error, "the account's keys were refused");
                Err(ToolError::refused(crate::mask::GENERIC))
            }
        }
    }

    /// Returns where the account's keys come from.
    pub(crate) fn key_source(&self) -> &KeySource {
        &self.key_source
    }
}

/// The account's keys as the service has them, opened.
pub(crate) struct OpenedBundle {
    pub(crate) bundle: KeyBundle,
    pub(crate) unlocked: Unlocked,
    pub(crate) auth: AuthValue,
}

const NO_KEYS: &str = "the service has no keys for this account although it has been used: no new keys are created; ask the operator of the service";
