//! `cairn logout`: forgets the secrets; the device's folders and index stay.

mod purge;

use crate::account::Account;
use crate::app::App;
use crate::cli::dry_run::{self, DryRun};
use crate::failure::CommandResult;
use crate::output::text::clean;
use crate::session::{self, LoginEnd};
use cairn_api::ApiError;
use serde_json::json;

/// Forget the account's secrets on this device, and take it off the account's devices
///
/// Files stay where they are. Logging in again resumes syncing where it stopped.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Also delete what Cairn knows about the account here: folder pairs, file names, logs. Your files
    /// stay
    #[arg(long)]
    purge: bool,
    #[command(flatten)]
    dry_run: DryRun,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let account = Account::load(&app.home)?;
    if args.dry_run.is_wanted {
        return show(app, &account, args.purge);
    }
    app.stop().await?;
    let unlisted = take_off_list(app, &account).await;
    let secrets = session::open_secrets(&app.home, &account)?;
    let ended = session::end_login(&*secrets).await?;
    session::forget_secrets(&*secrets)?;
    Account {
        logged_out: true,
        ..account.clone()
    }
    .save(&app.home)?;
    if args.purge {
        purge::delete(&app.home)?;
    }
    app.out.line(format_args!(
        "Logged out of {} ({}).",
        account.server, account.email
    ));
    if !unlisted {
        app.out.note(format_args!(
            "{} could not be notified: {} stays among the account's devices; `cairn devices remove` on another one removes it",
            account.server, account.device_name
        ));
    }
    if ended == LoginEnd::ApiKey {
        app.out.line(
            "The API key stays valid for whoever has it: revoke it where you made it if nothing else uses it.",
        );
    }
    if ended == LoginEnd::Unreachable {
        app.out.note(
            "the login could not be ended at the server: it ends by itself when it has not been used for a while",
        );
    }
    app.out.json(&json!({
        "logged_out": true,
        "purged": args.purge,
        "device_removed": unlisted,
        "login_ended": ended == LoginEnd::Ended,
        "api_key_stays_valid": ended == LoginEnd::ApiKey,
        "server": account.server,
        "email": account.email,
    }));
    Ok(())
}

/// Takes this device off the account's list, if the server can be reached. Returns whether it is off.
async fn take_off_list(app: &App, account: &Account) -> bool {
    let Ok(session) = app.session() else {
        return false;
    };
    match session.api.remove_device(account.device).await {
        Ok(_) | Err(ApiError::NotFound { .. }) => true,
        Err(error) => {
            tracing::warn!(%error, "this device stays on the account's list");
            false
        }
    }
}

/// Shows what would be forgotten, and what would be deleted.
fn show(app: &App, account: &Account, is_purge: bool) -> CommandResult {
    let paths = match is_purge {
        true => purge::state_of(&app.home)?,
        false => Vec::new(),
    };
    let paths: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    for path in &paths {
        app.out
            .line(format_args!("would be deleted: {}", clean(path)));
    }
    let line = format!(
        "This device would be logged out of {} ({}). Your files would stay.",
        account.server, account.email
    );
    let document = json!({
        "would_log_out": true,
        "would_delete": paths,
        "server": account.server,
        "email": account.email,
    });
    dry_run::show(app, line, document)
}
