//! `cairn keys`: the generation of the account's keys, replacing all of them, and taking over keys that another device
//! has replaced.

mod api_keys;
mod recovery;
pub(super) mod rotate;
mod teams;

use crate::app::App;
use crate::cli::login::wrong_passphrase;
use crate::cli::passphrase::keep_keys;
use crate::cli::prompt;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::keys;
use crate::output::text::{clean, local_time};
use crate::rotation::{self, PINS_LOST};
use crate::trust::Pins;
use cairn_control::typed;
use cairn_space::account_keys::{self, Comparison};
use serde_json::json;
use std::path::{Path, PathBuf};
use tokio::task::block_in_place;

/// Show which keys of the account this device has, replace them, or use keys that another device replaced
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Show the epoch and the fingerprint of the account's keys, and when they were replaced [default]
    ///
    /// The same on all devices of the account. Compare them after a login: a server could give the new
    /// device keys from before they were replaced.
    Show,
    /// Replace all keys of the account, because somebody may know them
    ///
    /// The present keys open nothing that is written from then on; what was written before stays
    /// readable with them. The recovery key is replaced, too. Your other devices stop syncing
    /// until `cairn keys update` is run on each, with the passphrase. To shut out a lost device, use
    /// `cairn devices revoke`, which also logs it out.
    Rotate(Box<rotate::Options>),
    /// Take over keys that were replaced on another device
    ///
    /// Asks for the passphrase. Syncing then goes on by itself, with what was changed here meanwhile.
    Update {
        /// Read the passphrase from the first line of a file instead of asking
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
    },
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    match args.action {
        Some(Action::Show) | None => show(app),
        Some(Action::Rotate(options)) => rotate::run(app, None, &options).await,
        Some(Action::Update { passphrase_file }) => update(app, passphrase_file.as_deref()).await,
    }
}

/// Shows the keys that this device has, for comparing them with those of another one.
fn show(app: &App) -> CommandResult {
    let session = app.session()?;
    let keys = rotation::Generation::of(&session.account, &session.keys);
    app.out.line(keys.describe(&app.zone));
    app.out
        .line(format_args!("Fingerprint: {}", keys.fingerprint));
    app.out.json(&keys);
    Ok(())
}

/// Takes over the keys that the server has, if they were replaced.
async fn update(app: &App, passphrase_file: Option<&Path>) -> CommandResult {
    let session = app.session()?;
    let account = &session.account;
    let served = session.api.keys().await;
    let served = served.context("fetch the account's keys")?;
    match account_keys::compare(&session.keys, &served) {
        Comparison::Same => {
            keep_keys(app, &session, served)?;
            app.out
                .line("This device has the keys of the account already.");
            app.out
                .json(&json!({ "updated": false, "epoch": session.keys.epoch() }));
            return Ok(());
        }
        Comparison::Refused(error) => return Err(error).context("use the server's keys"),
        Comparison::Replaced(replaced) => app.out.note(format_args!(
            "{}, as the server says",
            rotation::describe(replaced.as_ref(), &app.zone)
        )),
    }
    let question = format!("Passphrase of {}: ", account.email);
    let passphrase = prompt::passphrase(passphrase_file, &question)?;
    let bundle = keys::from_wire(&served);
    let opened = block_in_place(|| {
        account_keys::unlock(&bundle, &passphrase, account.account, account.space)
    });
    let (unlocked, _) = opened.map_err(|error| wrong_passphrase(error, &account.email))?;
    let pins = rotation::adopt(&app.home, &session, &unlocked, served)
        .context("take the new keys over")?;
    if pins == Pins::Lost {
        app.out.note(PINS_LOST);
    }
    wake_daemon(app).await;
    app.out
        .line("This device has the new keys of the account; syncing goes on.");
    if let Some(replaced) = &bundle.replaced {
        app.out.line(format_args!(
            "They were replaced on {} by {}.",
            local_time(replaced.at_ms, &app.zone),
            clean(&replaced.device)
        ));
    }
    app.out
        .json(&json!({ "updated": true, "epoch": unlocked.epoch() }));
    Ok(())
}

/// Lets a running daemon notice the new keys at once; it does so by itself a little later.
async fn wake_daemon(app: &App) {
    let woken = async {
        if let Some(client) = app.running_daemon().await? {
            client.send(typed::Rescan { folder: None }).await?;
        }
        Ok::<_, Failure>(())
    };
    if let Err(error) = woken.await {
        tracing::debug!(%error, "the daemon was not told of the new keys");
    }
}
