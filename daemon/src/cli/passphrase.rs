//! `cairn passphrase change`: wraps the account key under a new passphrase. No file is touched by it.

use crate::account::Account;
use crate::app::App;
use crate::cli::login::wrong_passphrase;
use crate::cli::prompt;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::keys;
use crate::output::text::clean;
use crate::rotation;
use crate::session::Session;
use cairn_platform::Zone;
use cairn_space::SystemRandom;
use cairn_space::account_keys::{self, AccountKeys, AuthValue, KeyBundle, Proof};
use cairn_transfer::TransferError;
use serde_json::json;
use std::path::{Path, PathBuf};
use tokio::task::block_in_place;

/// Change the passphrase
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Generate a passphrase of random words, without setting it
    Generate,
    /// Set a new passphrase; other devices stay logged in
    ///
    /// The keys stay the same. If somebody may know the old passphrase, run `cairn keys rotate
    /// --new-passphrase` instead, which replaces them, too.
    Change {
        /// Read the current passphrase from the first line of a file instead of asking
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
        /// Read the new passphrase from the first line of a file instead of asking
        #[arg(long, value_name = "FILE")]
        new_passphrase_file: Option<PathBuf>,
        #[command(flatten)]
        new_passphrase: prompt::NewPassphrase,
    },
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    match args.action {
        Action::Generate => {
            let passphrase = account_keys::passphrase::generate(&mut SystemRandom);
            app.out.line(passphrase.as_str());
            app.out.json(&json!({ "passphrase": passphrase.as_str() }));
            Ok(())
        }
        Action::Change {
            passphrase_file,
            new_passphrase_file,
            new_passphrase,
        } => {
            let files = (passphrase_file.as_deref(), new_passphrase_file.as_deref());
            change(app, files, &new_passphrase).await
        }
    }
}

/// Changes the passphrase. `files` hold the current one and the new one, if they aren't typed.
async fn change(
    app: &App,
    files: (Option<&Path>, Option<&Path>),
    options: &prompt::NewPassphrase,
) -> CommandResult {
    let session = app.session()?;
    let (bundle, unlocked, auth) = unlock_current(&session, files.0).await?;
    let known = [session.account.email.as_str()];
    let new = options.read(files.1, "--new-passphrase-file FILE", &known)?;
    let proof = Proof::Passphrase(&auth);
    replace(app, &session, &bundle, &unlocked, &new, proof).await?;
    app.out.line(
        "The passphrase was changed. Other devices stay logged in; new logins need the new one.",
    );
    app.out.line(
        "If somebody may know the old one, run `cairn keys rotate` too: the keys that it opened are still in use.",
    );
    Ok(())
}

/// Wraps the opened keys under a new passphrase, here and on the service.
pub(super) async fn replace(
    app: &App,
    session: &Session,
    bundle: &KeyBundle,
    unlocked: &AccountKeys,
    new: &str,
    proof: Proof<'_>,
) -> CommandResult {
    let changed =
        account_keys::change_passphrase(&session.api, bundle, unlocked, new, keys::cost(), proof)
            .await
            .map_err(not_changed)?;
    let version = changed.version;
    keep_changed(app, session, changed);
    app.out
        .json(&json!({ "changed": true, "version": version }));
    Ok(())
}

/// Makes the failure of a change of the passphrase. Somebody who throws the new one away although it is in force
/// has lost the account.
pub(super) fn not_changed(error: TransferError) -> Failure {
    let is_open = account_keys::may_be_in_force(&error);
    let failure = Failure::from(error).during("replace the account's keys");
    if !is_open {
        return failure;
    }
    failure.adding("the new passphrase may be in force, or still the former one: keep both, and run the command again when the server can be reached")
}

/// Opens the server's present bundle with the passphrase, which proves that the person at this machine knows it.
pub(super) async fn unlock_current(
    session: &Session,
    passphrase_file: Option<&Path>,
) -> CommandResult<(KeyBundle, AccountKeys, AuthValue)> {
    let bundle = current_bundle(session).await?;
    let account = &session.account;
    let passphrase = prompt::passphrase(
        passphrase_file,
        &format!("Current passphrase of {}: ", account.email),
    )?;
    let opened = block_in_place(|| {
        account_keys::unlock(&bundle, &passphrase, account.account, account.space)
    });
    let (unlocked, auth) = opened.map_err(|error| wrong_passphrase(error, &account.email))?;
    check_same(session, &bundle, &unlocked)?;
    Ok((bundle, unlocked, auth))
}

/// Refuses opened keys that aren't those of this device: replaced ones are taken over by a command of its own, and
/// others are somebody's forgery.
pub(super) fn check_same(
    session: &Session,
    bundle: &KeyBundle,
    unlocked: &AccountKeys,
) -> CommandResult {
    if unlocked.epoch() > session.keys.epoch() {
        let zone = Zone::system();
        return Err(rotation::replaced_error(bundle.replaced.as_ref(), &zone));
    }
    let checked = session.keys.check_successor(unlocked);
    checked.context("use the server's keys")
}

/// The bundle that the server has, if it is none that this device knows to be outdated.
pub(super) async fn current_bundle(session: &Session) -> CommandResult<KeyBundle> {
    let bundle = keys::from_wire(
        &session
            .api
            .keys()
            .await
            .context("fetch the account's keys")?,
    );
    let (space, epoch) = (session.account.space, session.keys.epoch());
    bundle
        .check_not_older(session.account.keys.version)
        .and_then(|()| bundle.check_epoch(space, epoch))
        .context("use the server's keys")?;
    Ok(bundle)
}

/// Keeps a bundle that was changed from here and is in force. A home that can't be written doesn't make that undone,
/// and the bundle of before still opens with this device's key: it is no failure.
pub(super) fn keep_changed(app: &App, session: &Session, keys: cairn_wire::keys::KeyBundle) {
    if let Err(failure) = keep_keys(app, session, keys) {
        app.out.note(format_args!(
            "the change is in force, but this device could not keep its copy of the changed keys ({}): the earlier copy goes on working; when the cause is mended, run `cairn keys update`",
            clean(&failure.message)
        ));
    }
}

/// Replaces the bundle in the home by the one that the server has now.
pub(super) fn keep_keys(
    app: &App,
    session: &Session,
    keys: cairn_wire::keys::KeyBundle,
) -> CommandResult {
    Account {
        keys,
        ..session.account.clone()
    }
    .save(&app.home)
}
