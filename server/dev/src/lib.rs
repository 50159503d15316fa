//! Additions that turn the server into one for development (`cairn-server --dev`): `/_dev` with fault rules (failures
//! on purpose), recorded requests, the clock, accounts and quotas; the console; a receiver of webhooks.
//!
//! Nothing here asks for a token: a server with `--dev` is for development alone. It hooks into the
//! service through [`cairn_service::Hooks`], in [`build_reachable`].

mod accounts;
mod console;
mod faults;
mod guard;
mod patch;
mod recording;
mod routes;
mod seed;
mod sink;
mod tampering;

pub use sink::{Print, receive};

use axum::Router;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::IntoResponse as _;
use cairn_service::{AppState, CorsOptions, Error, Hooks, Options, ResponseFuture, Result, Server};
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

/// The machines that may use a development server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DevAccess {
    /// The machine itself: only requests to a loopback host are answered.
    Loopback,
    /// All that reach the server.
    Anyone,
}

/// The service's hooks of a development server.
struct DevHooks {
    dev: Arc<Dev>,
    access: DevAccess,
}

impl Hooks for DevHooks {
    fn routes(&self) -> Router<AppState> {
        routes::routes(&self.dev)
    }

    fn path_family(&self) -> &'static str {
        faults::PATHS
    }

    fn intercept<'a>(
        &'a self,
        state: &'a AppState,
        request: Request,
        next: Next,
    ) -> ResponseFuture<'a> {
        let public_url = state.options().public_url.as_deref();
        let checked = guard::check_host(self.access, public_url, request.uri(), request.headers());
        if let Err(refused) = checked {
            return Box::pin(async { refused.into_response() });
        }
        Box::pin(faults::inject(&self.dev.faults, state, request, next))
    }

    fn observe<'a>(
        &'a self,
        state: &'a AppState,
        request: Request,
        next: Next,
    ) -> ResponseFuture<'a> {
        Box::pin(recording::record(&self.dev.recording, state, request, next))
    }
}

/// Builds a development server for this machine: `/_dev`, the console and the development accounts.
///
/// # Errors
/// As [`build_reachable`].
pub fn build(options: Options) -> Result<Server> {
    build_reachable(options, DevAccess::Loopback)
}

/// Builds a development server that those in `access` may use. Sets a cheap password hash, keeps signed logs of
/// changes (docs/design/format-2.md), and lets pages of this machine in, whatever `options` say.
///
/// # Errors
/// As [`cairn_service::build`], and a data directory with accounts of a production server.
pub fn build_reachable(options: Options, access: DevAccess) -> Result<Server> {
    let server = cairn_service::build(Options {
        password_cost: PASSWORD_COST,
        signed_logs: true,
        // A page in the making is served from a port of its own.
        cors: CorsOptions {
            loopback: true,
            ..options.cors
        },
        ..options
    })?;
    let state = server.state();
    if state.store.has_accounts()? && !seed::is_development(state)? {
        return Err(Error::config(
            "the data directory belongs to a production server; --dev would add accounts to it whose \
             keys everybody knows: choose another --data, or leave --dev out",
        ));
    }
    seed::seed(state)?;
    let dev = Arc::default();
    Ok(server.with_hooks(Arc::new(DevHooks { dev, access })))
}

/// Makes a key for each development account whose keys are all revoked, and returns their addresses with
/// the keys. They are for the developer's eyes, and must not be logged.
///
/// # Errors
/// A database that fails, and an account that was deleted.
pub fn replace_revoked_keys(server: &Server) -> Result<Vec<(String, String)>> {
    seed::replace_revoked_keys(server.state())
}

/// Refuses to run a server with development accounts as a production server.
///
/// # Errors
/// A data directory with development accounts.
pub fn refuse_development_data(server: &Server) -> Result<()> {
    if seed::is_development(server.state())? {
        return Err(Error::config(
            "the data directory has development accounts, whose passwords everybody knows; start the \
             server with --dev, or choose another --data",
        ));
    }
    Ok(())
}
