//! Renewal against a provider that returns numbered tokens and counts the requests.

use super::*;
use crate::transport::{Request, Response, TransportError};
use futures_util::{FutureExt as _, StreamExt as _};
use http::{HeaderMap, StatusCode};
use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// Knows one refresh token at a time; each use replaces it.
#[derive(Default)]
struct Provider {
    used: AtomicU32,
    /// Failures that come instead of the next responses.
    failures: StdMutex<Vec<TransportError>>,
}

#[async_trait]
impl Transport for Provider {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        if let Some(failure) = self.failures.lock().unwrap().pop() {
            return Err(failure);
        }
        let body = String::from_utf8(request.body.to_bytes().to_vec()).unwrap();
        let number = self.used.load(Ordering::SeqCst);
        let (status, text) = if body.contains(&format!("refresh_token=r{number}&")) {
            let next = number + 1;
            self.used.store(next, Ordering::SeqCst);
            let text = format!(
                r#"{{"access_token":"a{next}","token_type":"Bearer","expires_in":600,"refresh_token":"r{next}"}}"#
            );
            (StatusCode::OK, text)
        } else {
            (
                StatusCode::BAD_REQUEST,
                r#"{"error":"invalid_grant"}"#.into(),
            )
        };
        Ok(Response {
            status,
            headers: HeaderMap::new(),
            body: async move { Ok(text.into()) }.into_stream().boxed(),
        })
    }
}

/// Shared by the logins of a test, as the token store is by the processes of one installation.
#[derive(Default)]
struct MemoryTokens {
    tokens: StdMutex<Option<Tokens>>,
    lock: Arc<Mutex<()>>,
}

#[async_trait]
impl TokenStore for MemoryTokens {
    async fn lock(&self) -> Result<Box<dyn Any + Send>, ApiError> {
        Ok(Box::new(self.lock.clone().lock_owned().await))
    }

    async fn load(&self) -> Result<Option<Tokens>, ApiError> {
        Ok(self.tokens.lock().unwrap().clone())
    }

    async fn save(&self, tokens: &Tokens) -> Result<(), ApiError> {
        *self.tokens.lock().unwrap() = Some(tokens.clone());
        Ok(())
    }
}

fn setup(expires_at: i64) -> (Arc<Provider>, Arc<MemoryTokens>) {
    let kept = MemoryTokens::default();
    *kept.tokens.lock().unwrap() = Some(Tokens {
        access_token: "a0".into(),
        expires_at,
        refresh_token: "r0".into(),
        token_endpoint: "https://files.test/oauth/token".into(),
        revocation_endpoint: None,
    });
    (Arc::default(), Arc::new(kept))
}

fn login(world: &(Arc<Provider>, Arc<MemoryTokens>)) -> Login {
    Login::new(world.0.clone(), world.1.clone())
}

#[tokio::test]
async fn a_token_is_used_until_shortly_before_it_expires() {
    let world = setup(Timestamp::now().0 + 600_000);
    assert_eq!(login(&world).bearer().await, Ok("a0".into()));
    let world = setup(Timestamp::now().0 + 20_000);
    let login = login(&world);
    assert_eq!(login.bearer().await, Ok("a1".into()));
    assert_eq!(login.bearer().await, Ok("a1".into()));
    let kept = world.1.tokens.lock().unwrap().clone().unwrap();
    assert_eq!(kept.refresh_token, "r1");
    assert_eq!(kept.token_endpoint, "https://files.test/oauth/token");
}

#[tokio::test]
async fn two_processes_use_one_refresh_token_once() {
    let world = setup(0);
    let (one, other) = (login(&world), login(&world));
    let (first, second) = tokio::join!(one.bearer(), other.bearer());
    assert_eq!((first, second), (Ok("a1".into()), Ok("a1".into())));
    assert_eq!(world.0.used.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn calls_that_were_refused_together_renew_once() {
    let world = setup(Timestamp::now().0 + 600_000);
    let login = login(&world);
    login.bearer().await.unwrap();
    let (first, second) = tokio::join!(login.refresh("a0"), login.refresh("a0"));
    assert_eq!((first, second), (Ok(true), Ok(true)));
    assert_eq!(login.bearer().await, Ok("a1".into()));
    assert_eq!(world.0.used.load(Ordering::SeqCst), 1);
}

/// A service whose clock is ahead, or that ended a token early, refuses a new token a moment after it was made.
#[tokio::test]
async fn a_new_token_that_is_refused_is_renewed_at_once() {
    let world = setup(Timestamp::now().0 + 600_000);
    let login = login(&world);
    login.bearer().await.unwrap();
    assert_eq!(login.refresh("a0").await, Ok(true));
    assert_eq!(login.refresh("a1").await, Ok(true));
    assert_eq!(login.bearer().await, Ok("a2".into()));
    assert_eq!(world.0.used.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_refused_refresh_token_and_a_logout_end_it() {
    let world = setup(0);
    world.0.used.store(7, Ordering::SeqCst);
    let login = login(&world);
    assert_eq!(login.bearer().await, Err(ApiError::Unauthorized));
    assert_eq!(login.refresh("a0").await, Ok(false));
    let kept = world.1.tokens.lock().unwrap().take();
    assert_eq!(kept.unwrap().refresh_token, "r0");
    assert_eq!(
        self::login(&world).bearer().await,
        Err(ApiError::Unauthorized)
    );
}

#[tokio::test(start_paused = true)]
async fn a_network_that_fails_for_a_moment_ends_nothing() {
    let world = setup(0);
    let interrupted = || TransportError::Interrupted("gone".into());
    *world.0.failures.lock().unwrap() = vec![interrupted(), interrupted()];
    assert_eq!(login(&world).bearer().await, Ok("a1".into()));
    if let Some(tokens) = world.1.tokens.lock().unwrap().as_mut() {
        tokens.expires_at = 0;
    }
    *world.0.failures.lock().unwrap() = vec![interrupted(), interrupted(), interrupted()];
    let late = login(&world);
    assert_eq!(late.bearer().await, Err(ApiError::Offline("gone".into())));
    assert_eq!(late.bearer().await, Ok("a2".into()));
}
