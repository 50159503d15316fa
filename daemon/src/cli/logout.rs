//! `cairn logout`: forgets the secrets; the device's folders and index stay.

use crate::account::Account;
use crate::app::App;
use crate::cli::dry_run::{self, DryRun};
use crate::failure::{CommandResult, Context as _};
use crate::output::text::clean;
use crate::remote::journal::Journal;
use crate::session::{self, LoginEnd};
use cairn_api::ApiError;
use cairn_platform::Home;
use serde_json::json;
use std::path::PathBuf;

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
        purge(&app.home)?;
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
        true => state_of(&app.home)?,
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

/// Deletes the state of a home.
fn purge(home: &Home) -> CommandResult {
    for path in state_of(home)? {
        let deleted = match path.is_dir() {
            true => std::fs::remove_dir_all(&path),
            false => std::fs::remove_file(&path),
        };
        deleted.context(format_args!("delete {}", path.display()))?;
    }
    Ok(())
}

/// Returns the state in a home: the index with its companions, the account, pins, logs, and the journals of
/// commands and of assistants' sessions. The configuration is none of it, nor what a person put there.
fn state_of(home: &Home) -> CommandResult<Vec<PathBuf>> {
    let index = home.index_file();
    let stem = index.file_stem().unwrap_or_default().to_string_lossy();
    let state = [&*stem, "account", "folders", "rotation", "secrets", "trust"];
    let mut found = Vec::new();
    for entry in std::fs::read_dir(home.data_dir()).context("read the home")? {
        let path = entry.context("read the home")?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_state = |stem: &&str| name.split(['.', '-']).next() == Some(stem);
        if path.is_file() && state.iter().any(is_state) {
            found.push(path);
        }
    }
    found.push(Journal::file(home));
    found.extend([home.logs_dir(), home.sessions_dir(), home.spaces_dir()]);
    found.retain(|path| path.symlink_metadata().is_ok());
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purge_leaves_the_configuration_and_what_is_not_cairns() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        home.create().unwrap();
        for name in ["account.json", "folders.json", "trust-1", "mine.txt"] {
            std::fs::write(home.data_dir().join(name), "x").unwrap();
        }
        std::fs::write(home.config_file(), "x").unwrap();
        let index = home.index_file();
        std::fs::write(&index, "x").unwrap();
        std::fs::write(index.with_extension("db-wal"), "x").unwrap();
        let journal = home.sessions_dir().join("1.jsonl");
        std::fs::create_dir(home.sessions_dir()).unwrap();
        std::fs::write(&journal, "a name").unwrap();
        let changes = home.data_dir().join("changes.jsonl");
        std::fs::write(&changes, "a name").unwrap();
        std::fs::create_dir_all(home.spaces_dir().join("x")).unwrap();
        purge(&home).unwrap();
        assert!(!journal.exists() && !changes.exists() && !home.spaces_dir().exists());
        assert!(!index.exists() && !index.with_extension("db-wal").exists());
        assert!(!home.account_file().exists() && !home.data_dir().join("trust-1").exists());
        assert!(home.config_file().exists() && home.data_dir().join("mine.txt").exists());
    }
}
