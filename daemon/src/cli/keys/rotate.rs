//! Replacing all keys of the account, step by step. A note in the home says what was begun, so that after a crash or
//! a lost answer the next run of the command completes it.

use super::{api_keys, recovery, teams, wake_daemon};
use crate::app::App;
use crate::cli::login::wrong_passphrase;
use crate::cli::prompt;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::keys;
use crate::output::text::{clean, count, now_ms};
use crate::rotation::{self, LostDevice, PINS_LOST, Pending};
use crate::session::{self, Session};
use crate::trust::Pins;
use cairn_api::ApiError;
use cairn_space::account_keys::{
    self, AuthValue, Comparison, KeyBundle, NewKeys, Replacement, Rotation, Sent,
};
use serde_json::{Value, json};
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use tokio::task::block_in_place;
use zeroize::Zeroizing;

/// The danger of a passphrase that opens the former keys, too.
const PASSPHRASE_KEPT: &str = "the passphrase stays the same, and opens the former keys, too: a server that works with whoever has the lost device can give them to a device that logs in later, and what that writes can be read with them. After each login, compare `cairn keys` with your other devices, or set another passphrase with `cairn keys rotate --new-passphrase`";

/// The options of a replacement of the keys.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// Read the passphrase from the first line of a file instead of asking
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Set a new passphrase, too
    #[arg(long)]
    pub(crate) new_passphrase: bool,
    /// Set a new passphrase, too, which is the first line of a file
    #[arg(long, value_name = "FILE")]
    new_passphrase_file: Option<PathBuf>,
    #[command(flatten)]
    strength: prompt::NewPassphrase,
    /// Revoke all API keys of the account but the one that this device uses
    #[arg(long)]
    pub(super) api_keys: bool,
    /// Go on if the key of a team can't be opened: somebody else in it has to grant it to you again
    #[arg(long)]
    pub(super) leave_teams: bool,
}

/// The result of a replacement, as far as the rest of the command needs it.
struct Replaced {
    /// The authentication value of the passphrase in force; `None` if an earlier run has replaced the keys.
    auth: Option<AuthValue>,
    had_recovery: bool,
}

/// Replaces the account's keys, after logging a lost device out.
pub(crate) async fn run(app: &App, device: Option<LostDevice>, options: &Options) -> CommandResult {
    let session = app.session()?;
    let mut pending = begin(app, device)?;
    let logins_ended = match &pending.device {
        Some(device) => Some(log_out(app, &session, device).await?),
        None => None,
    };
    let replaced = if pending.has_sent(&session.keys) {
        app.out.line(
            "The keys were replaced by an earlier run of this command, which is completed now.",
        );
        None
    } else {
        Some(replace(app, &session, &mut pending, options).await?)
    };
    // With the new keys.
    let session = app.session()?;
    app.out.line(
        "The account's keys were replaced. Run `cairn keys update` on each of your other devices:",
    );
    app.out
        .line("they sync nothing before that, and it asks for the passphrase.");
    let auth = replaced.filter(|replaced| replaced.had_recovery);
    let auth = auth.and_then(|replaced| replaced.auth);
    let recovery = recovery::renew(app, &session, auth.as_ref()).await;
    let mut rest = Rest::default();
    // The document is all that a program sees of what was done before a failure, such as a key that is shown only now.
    let failed = rest.finish(app, &session, options).await.err();
    wake_daemon(app).await;
    app.out.json(&json!({
        "rotated": true,
        "epoch": session.keys.epoch(),
        "version": session.keys.bundle_version,
        "device": pending.device.map(|device| json!({
            "id": device.id,
            "name": device.name,
            "logins_ended": logins_ended,
        })),
        "recovery_key": recovery.as_ref().map(|made| made.text.as_str()),
        // Unknown is null, as in the document of `cairn recovery-key setup`.
        "recovery_key_in_force": recovery.as_ref().and_then(|made| made.is_confirmed.then_some(true)),
        "api_keys": rest.api_keys,
        "teams": rest.teams,
        "failed": failed.as_ref().map(|failure| &failure.message),
    }));
    failed.map_or(Ok(()), |failure| Err(failure.mark_reported()))
}

/// The teams and API keys, as the document has them: as far as it came with them.
#[derive(Default)]
struct Rest {
    teams: Vec<Value>,
    api_keys: Vec<Value>,
}

impl Rest {
    /// Does what is left to do once the new keys are in force.
    async fn finish(&mut self, app: &App, session: &Session, options: &Options) -> CommandResult {
        self.teams = teams::renew(app, session).await;
        api_keys::offer(app, session, options.api_keys, &mut self.api_keys).await?;
        Pending::delete(&app.home)
    }
}

/// Notes what is begun, or returns what an earlier run has begun.
fn begin(app: &App, device: Option<LostDevice>) -> CommandResult<Pending> {
    let before = Pending::read(&app.home)?;
    let pending = match (before, device) {
        (Some(before), None) => before,
        (Some(before), Some(device)) if before.device.as_ref() == Some(&device) => before,
        (
            Some(Pending {
                device: Some(other),
                ..
            }),
            Some(_),
        ) => {
            return Err(Failure::new(
                Exit::Decision,
                format!(
                    "{} is not shut out yet: run `{}` first, which completes that",
                    clean(&other.name),
                    other.command()
                ),
            ));
        }
        (Some(_) | None, device) => Pending { device, sent: None },
    };
    pending.write(&app.home)?;
    Ok(pending)
}

/// Ends the logins of the lost device and takes it off the list. Returns the number of logins.
async fn log_out(app: &App, session: &Session, device: &LostDevice) -> CommandResult<u64> {
    let name = clean(&device.name);
    match session.api.remove_device(device.id).await {
        Ok(removed) => {
            app.out.line(format_args!(
                "{name} is removed: {} ended.",
                count(removed.logins_ended, "login")
            ));
            Ok(removed.logins_ended)
        }
        // By an earlier run.
        Err(ApiError::NotFound { .. }) => Ok(0),
        Err(error) => Err(error).context(format_args!("remove {name}")),
    }
}

/// Makes new keys, puts them in force on the server, and takes them over here.
async fn replace(
    app: &App,
    session: &Session,
    pending: &mut Pending,
    options: &Options,
) -> CommandResult<Replaced> {
    let served = session.api.keys().await;
    let served = served.context("fetch the account's keys")?;
    let bundle = keys::from_wire(&served);
    if let Some(replaced) = complete(app, session, &bundle, &served)? {
        return Ok(replaced);
    }
    match account_keys::compare(&session.keys, &served) {
        Comparison::Same => {}
        Comparison::Refused(error) => return Err(error).context("use the server's keys"),
        Comparison::Replaced(by) => {
            return Err(rotation::replaced_error(by.as_ref(), &app.zone));
        }
    }
    let account = &session.account;
    let question = format!("Passphrase of {}: ", account.email);
    let passphrase = prompt::passphrase(options.passphrase_file.as_deref(), &question)?;
    let opened = block_in_place(|| {
        account_keys::unlock(&bundle, &passphrase, account.account, account.space)
    });
    let (unlocked, auth) = opened.map_err(|error| wrong_passphrase(error, &account.email))?;
    let new_passphrase = options.new_passphrase(app, pending, &account.email)?;
    let rotation = Rotation {
        passphrase: new_passphrase.as_ref().unwrap_or(&passphrase),
        cost: keys::cost(),
        team_rings: teams::take_along(app, session, options.leave_teams).await?,
        replaced: Replacement {
            at_ms: now_ms(),
            device: account.device_name.clone(),
        },
    };
    let made = NewKeys::make(&bundle, &unlocked, rotation).context("make new keys")?;
    // Kept before they are sent: if the answer is lost, the next run finds them.
    let secrets = session::open_secrets(&app.home, account)?;
    session::keep_next_key(&app.home, &*secrets, &made.keys.account_key)?;
    pending.sent = Some(made.keys.public().fingerprint());
    pending.write(&app.home)?;
    let sent = made.send(&session.api, &auth).await;
    match sent.context("replace the account's keys (run the command again, which completes it)")? {
        Sent::InForce => {}
        Sent::Overtaken => {
            return Err(Failure::new(
                Exit::Decision,
                "the account's keys were changed on another device at the same time, so that nothing was replaced from here: run the command again",
            ));
        }
    }
    adopt(app, session, &made.keys, made.bundle)?;
    Ok(Replaced {
        auth: Some(made.auth),
        had_recovery: bundle.recovery.is_some(),
    })
}

/// Takes over keys that an earlier run has sent, if they are in force.
fn complete(
    app: &App,
    session: &Session,
    bundle: &KeyBundle,
    served: &cairn_wire::keys::KeyBundle,
) -> CommandResult<Option<Replaced>> {
    let account = &session.account;
    let secrets = session::open_secrets(&app.home, account)?;
    let Some(next) = session::next_key(&*secrets)? else {
        return Ok(None);
    };
    let opened =
        account_keys::unlock_with_account_key(bundle, &next, account.account, account.space);
    let Ok(keys) = opened else {
        return Ok(None);
    };
    adopt(app, session, &keys, served.clone())?;
    Ok(Some(Replaced {
        auth: None,
        had_recovery: false,
    }))
}

fn adopt(
    app: &App,
    session: &Session,
    keys: &account_keys::AccountKeys,
    bundle: cairn_wire::keys::KeyBundle,
) -> CommandResult {
    let pins = rotation::adopt(&app.home, session, keys, bundle);
    if pins.context("take the new keys over")? == Pins::Lost {
        app.out.note(PINS_LOST);
    }
    Ok(())
}

impl Options {
    /// Refuses to begin where a new passphrase is wanted, and there is nowhere to take it from.
    pub(crate) fn check_source(&self) -> CommandResult {
        let is_given = self.new_passphrase_file.is_some() || io::stdin().is_terminal();
        if !self.new_passphrase || is_given {
            return Ok(());
        }
        Err(Failure::usage(
            "nothing was done: the passphrase opens the former keys, too, so that a new one is needed: use --new-passphrase-file FILE, or keep it with --keep-passphrase",
        ))
    }

    /// Reads the new passphrase, if there is to be one. Notes what it means if there is none for a lost device.
    fn new_passphrase(
        &self,
        app: &App,
        pending: &Pending,
        email: &str,
    ) -> CommandResult<Option<Zeroizing<String>>> {
        let file = self.new_passphrase_file.as_deref();
        if !self.new_passphrase && file.is_none() {
            if pending.device.is_some() {
                app.out.note(PASSPHRASE_KEPT);
            }
            return Ok(None);
        }
        let flag = "--new-passphrase-file FILE";
        self.strength.read(file, flag, &[email]).map(Some)
    }
}
