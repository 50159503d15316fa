//! The dependencies of the tools: two clients of the service, the account's keys, local files, the daemon.

use crate::error::{ToolError, ToolResult};
use cairn_api::{Api, ApiError, Auth, HttpTransport, RetryPolicy};
use cairn_crypto::{CryptoError, SpaceKeys};
use cairn_model::{DeviceId, Name};
use cairn_space::{Space, account_keys};
use cairn_transfer::{Options, Transfer};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
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
        match self.open(false).await {
            Err(ToolError::NoPassphrase) => Ok(None),
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
                let passphrase = passphrase.clone();
                let opened = tokio::task::spawn_blocking(move || {
                    cairn_crypto::unlock(&bundle, &passphrase, info.id, info.space_id)
                })
                .await
                .map_err(|_| ToolError::Internal)?;
                match opened {
                    Ok((unlocked, _)) => Ok(Some(unlocked.space)),
                    Err(CryptoError::Opaque) => Err(ToolError::refused(
                        "the passphrase doesn't open this account: check SERVICE_PASSPHRASE",
                    )),
                    Err(error) => {
                        tracing::error!(%error, "the account's keys were refused");
                        Err(ToolError::refused(crate::mask::GENERIC))
                    }
                }
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
}

const NO_KEYS: &str = "the service has no keys for this account although it has been used: no new keys are created; ask the operator of the service";
