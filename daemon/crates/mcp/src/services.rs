//! What tools work with: two clients of the service, the account's keys, the local disk, the daemon.

use crate::failure::{Outcome, ToolError};
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

/// How to reach the service, and as whom.
pub struct Account {
    pub auth: Arc<dyn Auth>,
    /// Without `/api/v1`.
    pub url: String,
    /// Where chunks go up and down, if that is another address.
    pub file_server: Option<String>,
    /// What changes are attributed to.
    pub device: DeviceId,
    pub keys: KeySource,
}

/// Where the account's keys come from.
pub enum KeySource {
    /// There are none: content tools say what to do.
    Missing,
    /// They are opened with the passphrase, or made with so many iterations for a new account.
    Passphrase {
        passphrase: Zeroizing<String>,
        iterations: u32,
    },
    /// They are open already.
    Open(Arc<SpaceKeys>),
}

/// What differs between systems about a file on this machine.
pub trait LocalFiles: Send + Sync {
    /// Tells whether its owner may execute a file.
    fn executable(&self, path: &Path) -> bool;

    /// Lets the owner execute a file, or not.
    ///
    /// # Errors
    /// The file system's.
    fn set_executable(&self, path: &Path, executable: bool) -> io::Result<()>;

    /// Tells whether this system can have a file of that name.
    ///
    /// # Errors
    /// Why it can't.
    fn acceptable(&self, name: &Name) -> Result<(), String>;
}

/// What every tool can use.
pub(crate) struct Services {
    /// Repeats requests that failed for a moment.
    pub(crate) reads: Arc<Api>,
    /// Sends every request once.
    pub(crate) writes: Arc<Api>,
    source: KeySource,
    space: OnceCell<Space>,
    pub(crate) files: Arc<dyn LocalFiles>,
    /// The daemon's socket, if one runs for this user.
    pub(crate) daemon: Option<PathBuf>,
}

impl Services {
    /// # Errors
    /// An address that is none, or a machine without TLS.
    pub(crate) fn new(
        account: Account,
        files: Arc<dyn LocalFiles>,
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
            source: account.keys,
            space: OnceCell::new(),
            files,
            daemon,
        })
    }

    /// Opens the keys ahead of the first call that needs them. What goes wrong is told to that call.
    pub(crate) async fn open_early(&self) {
        if let Err(error) = self.space_if_any().await {
            tracing::warn!(%error, "the keys are not open yet");
        }
    }

    /// The account's space with its keys; they are made for an account that was never used.
    pub(crate) async fn space(&self) -> Outcome<Space> {
        self.open(true)
            .await?
            .ok_or_else(|| ToolError::refused(NO_KEYS))
    }

    /// The account's space, if there is a passphrase and the account has keys.
    pub(crate) async fn space_if_any(&self) -> Outcome<Option<Space>> {
        match self.open(false).await {
            Err(ToolError::NoPassphrase) => Ok(None),
            answer => answer,
        }
    }

    async fn open(&self, may_create: bool) -> Outcome<Option<Space>> {
        if let Some(space) = self.space.get() {
            return Ok(Some(space.clone()));
        }
        let opened = self
            .space
            .get_or_try_init(|| async {
                let keys = match &self.source {
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

    /// Opens the keys of the account, or makes them with so many iterations.
    async fn unlock(
        &self,
        passphrase: &Zeroizing<String>,
        iterations: Option<u32>,
    ) -> Outcome<Option<Arc<SpaceKeys>>> {
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
                .map_err(|_| ToolError::Panicked)?;
                match opened {
                    Ok((unlocked, _)) => Ok(Some(unlocked.space)),
                    Err(CryptoError::Opaque) => Err(ToolError::refused(
                        "the passphrase doesn't open this account: check SERVICE_PASSPHRASE",
                    )),
                    Err(error) => {
                        tracing::error!(%error, "the account's keys are refused");
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

const NO_KEYS: &str = "the service says that this account has no keys although it has been used: no new ones are made; ask whoever runs the service";
