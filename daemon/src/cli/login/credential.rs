//! Ways to a login's credential: an API key, a browser here, or a browser elsewhere.

use super::Args;
use super::callback::Callback;
use super::steps::Step;
use crate::app::App;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::session::Credential;
use cairn_api::{ApiError, DevicePoll, HttpTransport, Provider, Tokens};
use cairn_platform::process;
use cairn_wire::identity::TokenResponse;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use zeroize::Zeroizing;

/// Time limit for a person in the browser.
const TIME_LIMIT: Duration = Duration::from_secs(600);
/// RFC 8628: seconds between two questions where the server names none, and what a slow one adds.
const INTERVAL_S: u64 = 5;

/// Gets the credential that the arguments ask for.
pub(super) async fn get(app: &App, args: &Args, server: &str) -> CommandResult<Credential> {
    if let Some(key) = api_key(args) {
        return Ok(Credential::ApiKey(key));
    }
    let provider = provider(server).await?;
    let response = if args.device_code {
        with_device_code(app, &provider, args.steps).await?
    } else {
        with_browser(app, &provider, args).await?
    };
    let endpoints = (provider.token_endpoint(), provider.revocation_endpoint());
    Tokens::new(response, endpoints.0, endpoints.1)
        .map(Credential::Login)
        .ok_or_else(|| {
            Failure::failed("can't log in: the server gives no lasting login; use --api-key KEY")
        })
}

/// Returns the API key that was given, or that of the environment where no other way was chosen.
fn api_key(args: &Args) -> Option<Zeroizing<String>> {
    let of_environment = || std::env::var("CAIRN_API_KEY").ok();
    let key = match &args.api_key {
        Some(key) => Some(key.clone()),
        None if args.device_code => None,
        None => of_environment(),
    };
    let key = Zeroizing::new(key?.trim().to_owned());
    (!key.is_empty()).then_some(key)
}

async fn provider(server: &str) -> CommandResult<Provider> {
    let transport = Arc::new(HttpTransport::default());
    match Provider::discover(transport, server).await {
        Ok(provider) => Ok(provider),
        Err(ApiError::NotFound { .. }) => Err(Failure::usage(format!(
            "{server} has no login for a browser: pass --api-key KEY (or set CAIRN_API_KEY)"
        ))),
        Err(error) => Err(error).context(format_args!("log in to {server}")),
    }
}

/// A browser on this machine, which comes back to a port of it.
async fn with_browser(app: &App, provider: &Provider, args: &Args) -> CommandResult<TokenResponse> {
    let callback = Callback::listen().await?;
    let attempt = provider.begin(callback.address())?;
    if args.steps {
        Step::Browser { url: &attempt.url }.report(app);
    } else {
        app.out.note(format_args!(
            "To log in, open this address in a browser on this machine:\n{}",
            attempt.url
        ));
    }
    if !args.no_browser {
        let url = attempt.url.clone();
        // It may wait for the browser to end.
        let opening = tokio::task::spawn_blocking(move || process::open_url(&url));
        tokio::spawn(async move {
            if let Ok(Err(error)) = opening.await {
                tracing::debug!(%error, "no browser was opened");
            }
        });
    }
    let response = callback.authorization_code(&attempt.state, provider.issuer());
    let code = timeout(TIME_LIMIT, response).await.map_err(|_| {
        let text =
            "can't log in: nobody logged in within ten minutes; try again, or use --device-code";
        Failure::new(Exit::NotLoggedIn, text)
    })??;
    match provider.finish(&attempt, &code).await {
        Err(ApiError::Unauthorized) => Err(Failure::new(
            Exit::NotLoggedIn,
            "can't log in: the server did not accept the response of the browser; try again",
        )),
        response => response.context("finish the login"),
    }
}

/// A browser on another machine; this one asks until somebody has decided there.
async fn with_device_code(
    app: &App,
    provider: &Provider,
    steps: bool,
) -> CommandResult<TokenResponse> {
    let device = provider.begin_device().await.context("begin the login")?;
    if steps {
        let (url, code) = (&device.verification_uri, &device.user_code);
        Step::Code { url, code }.report(app);
    } else {
        app.out.note(format_args!(
            "To log in, open {} on any device and enter the code {}",
            device.verification_uri, device.user_code
        ));
    }
    let refused = |text: &str| Failure::new(Exit::NotLoggedIn, text);
    let mut interval = Duration::from_secs(device.interval.unwrap_or(INTERVAL_S).max(1));
    loop {
        sleep(interval).await;
        match provider.poll_device(&device.device_code).await {
            Ok(DevicePoll::Allowed(tokens)) => return Ok(tokens),
            Ok(DevicePoll::Pending) => {}
            Ok(DevicePoll::SlowDown) => interval += Duration::from_secs(INTERVAL_S),
            Ok(DevicePoll::Denied) => {
                return Err(refused("can't log in: it was denied in the browser"));
            }
            Ok(DevicePoll::Expired) => {
                return Err(refused("can't log in: the code has expired; try again"));
            }
            // RFC 8628, section 3.5: less often, while the code may still hold.
            Err(error) if error.is_transient() => interval += Duration::from_secs(INTERVAL_S),
            Err(error) => return Err(error).context("ask for the login"),
        }
    }
}
