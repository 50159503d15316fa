//! `cairn second-factor`: a code of an authenticator app that logins with the password ask for, too.

use crate::app::App;
use crate::cli::prompt;
use crate::failure::{CommandResult, Failure};
use crate::session::Session;
use cairn_api::ApiError;
use cairn_wire::second_factor::{
    BeginSecondFactor, ConfirmSecondFactor, RecoveryCodes, RemoveSecondFactor,
};
use serde_json::json;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use zeroize::Zeroizing;

const CODE: &str = "Code that the app shows: ";

/// Set up, remove or look up the second factor of logins
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Make a secret for an authenticator app and show it, once; at a terminal, confirm it with a code
    Setup {
        #[command(flatten)]
        password: Password,
    },
    /// Confirm the secret of `setup` with a code, within 15 minutes; logins ask for codes from then on
    Confirm {
        /// Six digits, as the app shows them now
        code: String,
    },
    /// Let logins ask for the password alone again
    Remove {
        /// Six digits, as the app shows them now, or a recovery code
        #[arg(long)]
        code: Option<String>,
        #[command(flatten)]
        password: Password,
    },
    /// Show whether logins ask for a code, and how many recovery codes are left [default]
    Status,
}

#[derive(clap::Args, Debug)]
struct Password {
    /// Read the account's password from the first line of a file instead of asking
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

impl Password {
    fn read(&self, session: &Session) -> CommandResult<Zeroizing<String>> {
        match &self.password_file {
            Some(path) => prompt::from_file(path),
            // Not the passphrase, which the service never gets.
            None => prompt::read_line(
                &format!("Password of {} at the service: ", session.account.email),
                "--password-file FILE",
            ),
        }
    }
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let session = app.session()?;
    match args.action {
        Some(Action::Setup { password }) => set_up(app, &session, &password).await,
        Some(Action::Confirm { code }) => {
            let codes = confirm(&session, &code).await?;
            show(app, &codes);
            app.out
                .json(&json!({ "enabled": true, "recovery_codes": codes.recovery_codes }));
            Ok(())
        }
        Some(Action::Remove { code, password }) => remove(app, &session, code, &password).await,
        Some(Action::Status) | None => status(app, &session).await,
    }
}

async fn set_up(app: &App, session: &Session, password: &Password) -> CommandResult {
    let begin = BeginSecondFactor {
        password: password.read(session)?.to_string(),
    };
    let begun = session
        .api
        .begin_second_factor(&begin)
        .await
        .map_err(|error| {
            or_conflict(
                error,
                "this account has a second factor; for another app, run `cairn second-factor remove` first",
            )
        })?;
    app.out
        .line("Add this to an authenticator app; it is shown only this once:");
    app.out.line(format_args!("\n    {}", begun.otpauth_uri));
    app.out.line(format_args!(
        "\n    or the secret alone: {}\n",
        begun.secret
    ));
    let secret = json!({
        "enabled": false,
        "secret": begun.secret,
        "otpauth_uri": begun.otpauth_uri,
    });
    if app.out.json || !io::stdin().is_terminal() {
        app.out
            .line("Then run `cairn second-factor confirm CODE` with the code that it shows, within 15 minutes.");
        app.out.json(&secret);
        return Ok(());
    }
    let code = prompt::read_line(CODE, "cairn second-factor confirm CODE")?;
    let codes = confirm(session, &code).await?;
    show(app, &codes);
    Ok(())
}

async fn confirm(session: &Session, code: &str) -> CommandResult<RecoveryCodes> {
    let confirm = ConfirmSecondFactor {
        code: code.to_owned(),
    };
    session
        .api
        .confirm_second_factor(&confirm)
        .await
        .map_err(|error| {
            or_conflict(
                error,
                "there is no secret to confirm, or it was made more than 15 minutes ago: run `cairn second-factor setup`",
            )
        })
}

/// Returns the failure for a conflict with the present state, which is no matter of files here.
fn or_conflict(error: ApiError, message: &str) -> Failure {
    if matches!(error, ApiError::Conflict { .. }) {
        return Failure::failed(message);
    }
    error.into()
}

fn show(app: &App, codes: &RecoveryCodes) {
    app.out.line(
        "Logins ask for a code of the app from now on. If it is lost, each of these replaces a code, once:",
    );
    app.out.line("");
    for code in &codes.recovery_codes {
        app.out.line(format_args!("    {code}"));
    }
    app.out
        .line("\nStore them in a safe place; they are shown only this once. They open no files.");
}

async fn remove(
    app: &App,
    session: &Session,
    code: Option<String>,
    password: &Password,
) -> CommandResult {
    let password = password.read(session)?;
    let code = match code {
        Some(code) => code,
        None => prompt::read_line(CODE, "--code CODE")?.to_string(),
    };
    let remove = RemoveSecondFactor {
        password: password.to_string(),
        code,
    };
    session
        .api
        .remove_second_factor(&remove)
        .await
        .map_err(|error| or_conflict(error, "this account has no second factor"))?;
    app.out
        .line("The second factor is removed. Logins ask for the password alone.");
    app.out.json(&json!({ "enabled": false }));
    Ok(())
}

async fn status(app: &App, session: &Session) -> CommandResult {
    let status = session.api.second_factor().await?;
    if status.enabled {
        app.out.line(format_args!(
            "Logins ask for a code of the app. Recovery codes left: {}.",
            status.recovery_codes_left
        ));
    } else {
        app.out
            .line("Logins ask for the password alone: run `cairn second-factor setup`.");
    }
    app.out.json(&json!(status));
    Ok(())
}
