//! `cairn recovery-key`: a second way to the account key, for when the passphrase is forgotten.

use crate::app::App;
use crate::cli::passphrase;
use crate::cli::prompt;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use cairn_space::account_keys::{self, Proof, RecoveryKey};
use cairn_transfer::TransferError;
use serde_json::json;
use std::path::PathBuf;

/// Set up, use or look up the recovery key
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Make a new recovery key and show it, once; an earlier one stops working
    Setup {
        /// Read the passphrase from the first line of a file instead of asking
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
    },
    /// Set a new passphrase with the recovery key
    ///
    /// On a device that is not logged in, `cairn login --recovery-key-file FILE` does that with the
    /// login.
    Use {
        /// Read the recovery key from the first line of a file instead of asking
        #[arg(long, value_name = "FILE")]
        key_file: Option<PathBuf>,
        /// Read the new passphrase from the first line of a file instead of asking
        #[arg(long, value_name = "FILE")]
        new_passphrase_file: Option<PathBuf>,
        #[command(flatten)]
        new_passphrase: prompt::NewPassphrase,
    },
    /// Show whether a recovery key is set up [default]
    Status,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    match args.action {
        Some(Action::Setup { passphrase_file }) => setup(app, passphrase_file).await,
        Some(Action::Use {
            key_file,
            new_passphrase_file,
            new_passphrase,
        }) => recover(app, key_file, new_passphrase_file, &new_passphrase).await,
        Some(Action::Status) | None => status(app).await,
    }
}

async fn setup(app: &App, passphrase_file: Option<PathBuf>) -> CommandResult {
    let session = app.session()?;
    let (bundle, unlocked, auth) =
        passphrase::unlock_current(&session, passphrase_file.as_deref()).await?;
    let made = account_keys::make_recovery_key(&session.api, &bundle, &unlocked, &auth)
        .await
        .context("replace the account's keys")?;
    let is_confirmed = made.unconfirmed.is_none();
    // Before anything else that can fail: an earlier key opens nothing any more.
    let shown = show(app, &made.key, is_confirmed);
    if is_confirmed {
        passphrase::keep_changed(app, &session, made.bundle);
    }
    shown?;
    match made.unconfirmed {
        Some(error) => Err(unconfirmed_failure(error)),
        None => Ok(()),
    }
}

/// Shows a new recovery key.
fn show(app: &App, key: &RecoveryKey, is_confirmed: bool) -> CommandResult {
    let key = key.reveal();
    let earlier = if is_confirmed {
        "Earlier recovery keys no longer work."
    } else {
        "Keep an earlier recovery key too: it is not known which of them works."
    };
    let text = format!(
        "Your recovery key, shown only this once:\n\n    {}\n\n\
         Store it in a safe place, not on this machine: anyone with it and access to the account\n\
         can read your files. {earlier}",
        *key
    );
    // Unknown is null: the key may be in force or not.
    let in_force = is_confirmed.then_some(true);
    let document = json!({ "recovery_key": *key, "in_force": in_force });
    app.out.show_once(&text, &document).map_err(|error| {
        let replaced = if is_confirmed { "was" } else { "may have been" };
        Failure::failed(format!(
            "can't write the new recovery key to the standard output: {error}; the earlier one {replaced} replaced by it: run `cairn recovery-key setup` again, which makes one that you can see"
        ))
    })
}

/// Makes the failure after which a key that was shown may be in force or not.
fn unconfirmed_failure(error: TransferError) -> Failure {
    let failure = Failure::from(error).during("confirm the new recovery key");
    failure.adding("it may be in force: keep it and an earlier one, and when the server can be reached, run `cairn recovery-key` to see whether one is set up, and `cairn recovery-key setup` again for one that certainly works").mark_reported()
}

async fn recover(
    app: &App,
    key_file: Option<PathBuf>,
    new_passphrase_file: Option<PathBuf>,
    options: &prompt::NewPassphrase,
) -> CommandResult {
    let session = app.session().map_err(|failure| match failure.exit {
        Exit::NotLoggedIn => failure.adding(
            "with `--recovery-key-file FILE` the login needs no passphrase, and sets a new one",
        ),
        Exit::Failed | Exit::Usage | Exit::Offline | Exit::Decision | Exit::TimedOut => failure,
    })?;
    let bundle = passphrase::current_bundle(&session).await?;
    let typed = match &key_file {
        Some(path) => prompt::from_file(path)?,
        None => prompt::read_line("Recovery key: ", "--key-file FILE")?,
    };
    let key = RecoveryKey::parse(&typed)?;
    let account = &session.account;
    let unlocked =
        account_keys::unlock_with_recovery(&bundle, &key, account.account, account.space).map_err(
            |error| {
                Failure::failed(format!(
                    "the recovery key doesn't open the keys of {}: {error}",
                    account.email
                ))
            },
        )?;
    passphrase::check_same(&session, &bundle, &unlocked)?;
    let file = new_passphrase_file.as_deref();
    let known = [account.email.as_str()];
    let new = options.read(file, "--new-passphrase-file FILE", &known)?;
    let proof = Proof::RecoveryKey(&key);
    passphrase::replace(app, &session, &bundle, &unlocked, &new, proof).await?;
    app.out
        .line("The new passphrase is set. The recovery key stays valid.");
    Ok(())
}

async fn status(app: &App) -> CommandResult {
    let session = app.session()?;
    let configured = passphrase::current_bundle(&session)
        .await?
        .recovery
        .is_some();
    app.out.line(if configured {
        "A recovery key is set up."
    } else {
        "No recovery key is set up: run `cairn recovery-key setup`."
    });
    app.out.json(&json!({ "configured": configured }));
    Ok(())
}
