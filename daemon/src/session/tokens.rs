//! Stores the tokens of the login with the other secrets of this installation; the daemon and the commands share
//! them.

use super::LOGIN;
use crate::failure::{CommandResult, Context as _, Failure};
use async_trait::async_trait;
use cairn_api::{ApiError, TokenStore, Tokens};
use cairn_platform::Home;
use cairn_platform::secrets::Secrets;
use std::any::Any;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Stores tokens where the account's other secrets are.
pub(super) struct SecretTokenStore {
    secrets: Arc<dyn Secrets>,
    lock: PathBuf,
}

impl SecretTokenStore {
    pub(super) fn new(home: &Home, secrets: Box<dyn Secrets>) -> Self {
        Self {
            secrets: secrets.into(),
            lock: lock_path(home),
        }
    }
}

fn lock_path(home: &Home) -> PathBuf {
    home.data_dir().join("login.lock")
}

/// Waits until nobody else changes the secrets of a home, and keeps others from it until the file is dropped.
pub(super) fn lock(home: &Home) -> CommandResult<File> {
    lock_file(&lock_path(home))
}

fn lock_file(path: &Path) -> CommandResult<File> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .context(format_args!("open {}", path.display()))?;
    file.lock()
        .context(format_args!("lock {}", path.display()))?;
    Ok(file)
}

/// Returns the stored tokens, if the last login was one through a browser.
pub(super) fn read(secrets: &dyn Secrets) -> CommandResult<Option<Tokens>> {
    let Some(bytes) = secrets.get(LOGIN)? else {
        return Ok(None);
    };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|_| Failure::failed("the stored login can't be read: run `cairn login` again"))
}

/// Stores tokens in place of earlier ones.
pub(super) fn write(secrets: &dyn Secrets, tokens: &Tokens) -> CommandResult {
    let text = zeroize::Zeroizing::new(
        serde_json::to_vec(tokens)
            .map_err(|e| Failure::failed(format!("can't write the login: {e}")))?,
    );
    Ok(secrets.set(LOGIN, &text)?)
}

/// Runs what may wait for a keyring or another process. A failure becomes an [`ApiError`], which says that the stored
/// login can't be used.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> CommandResult<T> + Send + 'static,
) -> Result<T, ApiError> {
    let failed =
        |text: String| ApiError::Protocol(format!("the stored login can't be used: {text}"));
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|e| failed(e.to_string()))?
        .map_err(|failure| failed(failure.to_string()))
}

#[async_trait]
impl TokenStore for SecretTokenStore {
    async fn lock(&self) -> Result<Box<dyn Any + Send>, ApiError> {
        let path = self.lock.clone();
        let locked = run_blocking(move || lock_file(&path));
        Ok(Box::new(locked.await?))
    }

    async fn load(&self) -> Result<Option<Tokens>, ApiError> {
        let secrets = self.secrets.clone();
        run_blocking(move || read(secrets.as_ref())).await
    }

    async fn save(&self, tokens: &Tokens) -> Result<(), ApiError> {
        let (secrets, tokens) = (self.secrets.clone(), tokens.clone());
        run_blocking(move || write(secrets.as_ref(), &tokens)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_platform::secrets::FileSecrets;

    #[tokio::test]
    async fn tokens_are_shared_by_everyone_who_opens_the_home_and_one_at_a_time_renews() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        home.create().unwrap();
        let open = || {
            let secrets = FileSecrets::open(&home.secrets_file()).unwrap();
            SecretTokenStore::new(&home, Box::new(secrets))
        };
        let tokens = Tokens {
            access_token: "a".into(),
            expires_at: 5,
            refresh_token: "r".into(),
            token_endpoint: "https://files.test/oauth/token".into(),
            revocation_endpoint: None,
        };
        let (one, other) = (open(), open());
        assert_eq!(one.load().await.unwrap(), None);
        let held = one.lock().await.unwrap();
        let mut second = Box::pin(other.lock());
        assert!(futures_util::FutureExt::now_or_never(&mut second).is_none());
        // That it is pending proves nothing: at its first poll it is, locked or not, since it runs on another thread.
        let third = File::options().write(true).open(&one.lock).unwrap();
        assert!(matches!(
            third.try_lock(),
            Err(std::fs::TryLockError::WouldBlock)
        ));
        one.save(&tokens).await.unwrap();
        drop(held);
        let _held = second.await.unwrap();
        assert_eq!(other.load().await.unwrap(), Some(tokens));
    }
}
