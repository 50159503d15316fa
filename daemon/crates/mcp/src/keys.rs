//! The account's keys: opened with the passphrase, or made for an account that has none and was never used.

use crate::error::{ToolError, ToolResult};
use crate::services::{KeySource, Services};
use cairn_api::ApiError;
use cairn_crypto::{AccountKeys, AuthValue, CryptoError, KeyBundle, RootCost};
use cairn_space::account_keys::Comparison;
use cairn_space::{Space, account_keys};
use cairn_transfer::{Options, Transfer};
use cairn_wire::account::AccountInfo;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// The account's keys, opened, and its own space.
pub(crate) struct Opened {
    unlocked: Arc<AccountKeys>,
    space: Space,
}

impl Services {
    /// Opens the keys before the first call needs them. That call reports a failure.
    pub(crate) async fn open_keys_early(&self) {
        if let Err(error) = self.space_if_any().await {
            tracing::warn!(%error, "the keys could not be opened at start");
        }
    }

    /// Returns the account's space with its keys, creating them for an account that was never used.
    pub(crate) async fn space(&self) -> ToolResult<Space> {
        let opened = self.open(true).await?;
        let opened = opened.ok_or_else(|| ToolError::refused(NO_KEYS))?;
        self.refuse_replaced(&opened.unlocked).await?;
        Ok(opened.space.clone())
    }

    /// Returns the account's space if there is a passphrase and the account has keys.
    pub(crate) async fn space_if_any(&self) -> ToolResult<Option<Space>> {
        if self.wrong_passphrase.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match self.open(false).await {
            // Only content needs the keys: the rest works without them, as it does without a passphrase.
            Err(ToolError::NoPassphrase | ToolError::WrongPassphrase) => Ok(None),
            Err(error) => Err(error),
            Ok(opened) => Ok(opened.map(|opened| opened.space.clone())),
        }
    }

    /// Returns the account's space as [`Self::space_if_any`] does; an account that was never used gets its keys now, so
    /// that what is made in it is sealed from the beginning.
    pub(crate) async fn space_if_possible(&self) -> ToolResult<Option<Space>> {
        if let Some(space) = self.space_if_any().await? {
            return Ok(Some(space));
        }
        let has_passphrase = matches!(self.key_source, KeySource::Passphrase { .. });
        if !has_passphrase || self.wrong_passphrase.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match self.open(true).await {
            Ok(opened) => Ok(opened.map(|opened| opened.space.clone())),
            // An account with files and no keys, or a service that keeps none.
            Err(
                ToolError::WrongPassphrase
                | ToolError::Refused(_)
                | ToolError::Api(
                    ApiError::NotFound { .. } | ApiError::Forbidden { .. } | ApiError::Protocol(_),
                ),
            ) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Refuses to go on where the passphrase does not open the account's keys.
    ///
    /// # Errors
    /// [`ToolError::WrongPassphrase`].
    pub(crate) async fn check_passphrase(&self) -> ToolResult {
        let is_known = self.wrong_passphrase.load(Ordering::Relaxed);
        if is_known || matches!(self.open(false).await, Err(ToolError::WrongPassphrase)) {
            return Err(ToolError::WrongPassphrase);
        }
        Ok(())
    }

    /// Returns the account's opened keys, creating them for an account that was never used.
    pub(crate) async fn unlocked_keys(&self) -> ToolResult<Arc<AccountKeys>> {
        let opened = self.open(true).await?;
        let opened = opened.ok_or_else(|| ToolError::refused(NO_KEYS))?;
        self.refuse_replaced(&opened.unlocked).await?;
        Ok(opened.unlocked.clone())
    }

    /// Refuses to go on with keys that were replaced on another device: whoever has them can read what is written
    /// under them. The service is asked now and then.
    async fn refuse_replaced(&self, own: &AccountKeys) -> ToolResult<()> {
        let is_recent = |at: Instant| at.elapsed() < KEYS_CHECK_INTERVAL;
        let is_checked = self.keys_checked.lock().is_some_and(is_recent);
        if is_checked {
            return Ok(());
        }
        match account_keys::compare_with_service(&self.reads, own).await {
            Ok(Comparison::Replaced(_)) => return Err(ToolError::refused(KEYS_REPLACED)),
            Ok(Comparison::Refused(error)) => {
                tracing::warn!(%error, "the service's copy of the account's keys is refused");
            }
            Ok(Comparison::Same) => {}
            // What comes next meets the same failure, and reports it.
            Err(_) => return Ok(()),
        }
        *self.keys_checked.lock() = Some(Instant::now());
        Ok(())
    }

    async fn open(&self, may_create: bool) -> ToolResult<Option<&Opened>> {
        let opened = self
            .opened
            .get_or_try_init(|| async {
                let unlocked = match &self.key_source {
                    KeySource::Missing => return Err(Some(ToolError::NoPassphrase)),
                    KeySource::Open(unlocked) => unlocked.clone(),
                    KeySource::Passphrase { passphrase, cost } => {
                        let cost = may_create.then_some(*cost);
                        let unlocked = self.unlock(passphrase, cost).await;
                        *self.keys_checked.lock() = Some(Instant::now());
                        Arc::new(unlocked.map_err(Some)?.ok_or(None)?)
                    }
                };
                let (api, keys) = (self.reads.clone(), unlocked.space.clone());
                let device = api.device();
                let transfer = Transfer::new(api.clone(), keys.clone(), device, Options::default());
                let mut space = Space::new(api, keys, transfer);
                if let Some(seen) = self.trust.seen_seals(None) {
                    space = space.with_seen(seen);
                }
                Ok(Opened { unlocked, space })
            })
            .await;
        match opened {
            Ok(opened) => Ok(Some(opened)),
            Err(None) => Ok(None),
            Err(Some(error)) => Err(error),
        }
    }

    /// Opens the account's keys, or creates them if a `cost` is given.
    async fn unlock(
        &self,
        passphrase: &Zeroizing<String>,
        cost: Option<RootCost>,
    ) -> ToolResult<Option<AccountKeys>> {
        let api = &self.reads;
        let info = api.account().await?;
        match api.keys().await {
            Ok(bundle) => {
                let bundle = account_keys::from_wire(&bundle);
                let (unlocked, _) = self.open_bundle(&bundle, passphrase, &info).await?;
                Ok(Some(unlocked))
            }
            Err(ApiError::NotFound { .. }) => {
                let Some(cost) = cost else {
                    return Ok(None);
                };
                if account_keys::is_used(api).await? {
                    return Err(ToolError::refused(NO_KEYS));
                }
                let (_, unlocked) = account_keys::create(api, &info, passphrase, cost).await?;
                Ok(Some(unlocked))
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
    ) -> ToolResult<(AccountKeys, AuthValue)> {
        let (bundle, passphrase) = (bundle.clone(), passphrase.clone());
        let (account, space) = (info.id, info.space_id);
        let opened = tokio::task::spawn_blocking(move || {
            cairn_crypto::unlock(&bundle, &passphrase, account, space)
        })
        .await
        .map_err(|_| ToolError::Internal)?;
        self.wrong_passphrase.store(
            matches!(opened, Err(CryptoError::NotAuthentic)),
            Ordering::Relaxed,
        );
        match opened {
            Ok(opened) => Ok(opened),
            Err(CryptoError::NotAuthentic) => Err(ToolError::WrongPassphrase),
            Err(error) => {
                tracing::error!(%error, "the account's keys were refused");
                Err(ToolError::refused(crate::mask::GENERIC))
            }
        }
    }
}

/// The account's keys as the service has them, opened.
pub(crate) struct OpenedBundle {
    pub(crate) bundle: KeyBundle,
    pub(crate) unlocked: AccountKeys,
    pub(crate) auth: AuthValue,
}

/// The time between two questions whether the account's keys were replaced.
const KEYS_CHECK_INTERVAL: Duration = Duration::from_secs(20);

const KEYS_REPLACED: &str = "the keys of this account were replaced on another device: a person has to run `cairn keys update` on this machine, which asks for the passphrase, and start this session again";

const NO_KEYS: &str = "the service has no keys for this account although it has been used: no new keys are created; ask the operator of the service";
