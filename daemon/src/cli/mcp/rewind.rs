//! Bringing folders of the logged-in account back to a time, for the tools.

use crate::account::Account;
use crate::app::App;
use crate::cli::rewind::{SilentRun, past_time, rewind_silently};
use crate::cli::undo::silent::undo_silently;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::Out;
use crate::output::text::clean;
use crate::remote::Within;
use cairn_mcp::{RewindMode, RewindRequest, Rewinder};
use cairn_model::AccountId;
use cairn_platform::{Home, Zone, dirs};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::runtime::Handle;

pub(super) struct HomeRewinder {
    home: Home,
    /// The address of the service that the tools use.
    url: String,
}

impl HomeRewinder {
    pub(super) fn new(home: Home, url: String) -> Self {
        Self { home, url }
    }

    fn app(&self) -> App {
        App {
            home: self.home.clone(),
            out: Out::new(true),
            no_start: true,
            zone: Zone::system(),
        }
    }
}

impl Rewinder for HomeRewinder {
    fn rewind(&self, request: RewindRequest) -> BoxFuture<'static, Result<Value, String>> {
        let app = self.app();
        let url = self.url.clone();
        async move {
            let handle = Handle::current();
            run_apart(move || handle.block_on(rewind(&app, &url, &request))).await
        }
        .boxed()
    }

    fn undo(&self, session: String) -> BoxFuture<'static, Result<Value, String>> {
        let app = self.app();
        async move {
            let handle = Handle::current();
            run_apart(move || handle.block_on(undo_silently(&app, &session))).await
        }
        .boxed()
    }
}

/// Runs work that holds what no other thread may have on a thread of its own.
async fn run_apart(
    work: impl FnOnce() -> CommandResult<Value> + Send + 'static,
) -> Result<Value, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| error.to_string())?
        .map_err(|failure| failure.message)
}

async fn rewind(app: &App, url: &str, request: &RewindRequest) -> CommandResult<Value> {
    // What is wrong with a call is said before what is wrong with the account.
    past_time(app, &request.to)?;
    check_account(Account::read(&app.home)?, url, request.account)?;
    let within = Within {
        team: request.team.map(|team| team.to_string()),
    };
    let path = dirs::expand_home(&request.path).display().to_string();
    let run = match &request.mode {
        RewindMode::Plan => SilentRun::Plan,
        RewindMode::CarryOut { confirmed } => SilentRun::CarryOut {
            confirmed: confirmed.as_ref(),
        },
    };
    rewind_silently(app, &within, &path, &request.to, run).await
}

/// Checks that the tools use the account that this machine is logged in to, of which it has the keys.
fn check_account(login: Option<Account>, url: &str, tools: AccountId) -> CommandResult {
    let Some(login) = login.filter(|login| !login.logged_out) else {
        return Err(Failure::new(
            Exit::NotLoggedIn,
            "folders are brought back with the keys of the account that this machine is logged in to, and it is logged in to none: run `cairn login`",
        ));
    };
    if login.account == tools && server(&login.server) == server(url) {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "folders are brought back for the account that this machine is logged in to, {} on {}, and these tools use another one, on {}",
        clean(&login.email),
        clean(&login.server),
        clean(url)
    )))
}

/// Returns the address of a server in one form.
fn server(url: &str) -> String {
    url.trim_end_matches('/').to_ascii_lowercase()
}
