//! What makes the service the bundled mock: `/_dev` with fault rules, recorded requests, the clock,
//! accounts and quotas; the console; a receiver of webhooks.
//!
//! Nothing here asks for a token: a server with `--dev` is for development alone. It hooks into the
//! service through [`cairn_service::Hooks`], in [`build`].

mod accounts;
mod console;
mod faults;
mod lies;
mod patch;
mod recording;
mod routes;
mod seed;
mod sink;

pub use sink::{Print, receive};

use axum::Router;
use axum::extract::Request;
use axum::middleware::Next;
use cairn_service::{AppState, Hooks, Options, ResponseFuture, Result, Server};
use faults::Faults;
use recording::Recording;
use std::sync::Arc;

/// The name of the API keys that development accounts begin with.
const DEV_KEY_NAME: &str = "development";
/// The bcrypt cost of passwords that are no secret.
const PASSWORD_COST: u32 = 4;

/// The state of a development server besides the service's.
#[derive(Default)]
struct Dev {
    faults: Faults,
    recording: Recording,
}

/// The service's hooks of a development server.
struct DevHooks(Arc<Dev>);

impl Hooks for DevHooks {
    fn routes(&self) -> Router<AppState> {
        routes::routes(&self.0)
    }

    fn intercept<'a>(
        &'a self,
        state: &'a AppState,
        request: Request,
        next: Next,
    ) -> ResponseFuture<'a> {
        Box::pin(faults::inject(&self.0.faults, state, request, next))
    }

    fn observe<'a>(
        &'a self,
        state: &'a AppState,
        request: Request,
        next: Next,
    ) -> ResponseFuture<'a> {
        Box::pin(recording::record(&self.0.recording, state, request, next))
    }
}

/// Builds a development server: `/_dev`, the console and the development accounts.
///
/// # Errors
/// As [`cairn_service::build`].
pub fn build(options: Options) -> Result<Server> {
    let server = cairn_service::build(Options {
        password_cost: PASSWORD_COST,
        ..options
    })?;
    seed::seed(server.state())?;
    Ok(server.with_hooks(Arc::new(DevHooks(Arc::default()))))
}
