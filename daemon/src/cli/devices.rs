//! `cairn devices`: the devices of the account, removing one, and shutting out one that was lost.

use crate::app::App;
use crate::cli::dry_run::{self, DryRun};
use crate::cli::keys::rotate;
use crate::cli::prompt;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::output::table::{Align, Table};
use crate::output::text::{clean, count, local_time};
use crate::rotation::{LostDevice, Pending};
use crate::session::Session;
use cairn_wire::account::KnownDevice;
use serde_json::json;

/// Show the devices that are logged in to the account, remove one, or shut out a lost one
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Show the devices and when each was last seen [default]
    List,
    /// Shut out a lost device: log it out, and replace the account's keys
    ///
    /// Its logins end at once. The keys that are on it open what was written before, and nothing that
    /// is written from then on. Asks for the passphrase and for a new one, so that no device that logs in
    /// later can be given the former keys. Your other devices stop syncing until `cairn keys update` is
    /// run on each. If something ends the command, run it again.
    Revoke {
        /// The name or id of the device
        device: String,
        /// Don't ask whether to do it
        #[arg(long)]
        yes: bool,
        /// Keep the passphrase; a server that works with the thief can then give the former keys to a new login
        #[arg(long, conflicts_with_all = ["new_passphrase", "new_passphrase_file"])]
        keep_passphrase: bool,
        #[command(flatten)]
        dry_run: DryRun,
        #[command(flatten)]
        options: Box<rotate::Options>,
    },
    /// Log a device out and take it off the list
    ///
    /// For one that you give away or don't use any more. Its logins end at once. Files and keys that are
    /// on it stay there, and the keys stay valid: `cairn devices revoke` shuts out a device that was lost.
    /// An API key that it uses stays valid until it is revoked on the server.
    Remove {
        /// The name or id of the device
        device: String,
        /// Don't ask
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        dry_run: DryRun,
    },
}

/// Says whether a person is asked first, or only shown what would be done.
#[derive(Clone, Copy)]
struct Asking {
    yes: bool,
    dry_run: DryRun,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    match args.action {
        Some(Action::Revoke {
            device,
            yes,
            keep_passphrase,
            dry_run,
            mut options,
        }) => {
            options.new_passphrase |= !keep_passphrase;
            let asking = Asking { yes, dry_run };
            revoke(app, &device, asking, &options).await
        }
        Some(Action::Remove {
            device,
            yes,
            dry_run,
        }) => remove(app, &device, Asking { yes, dry_run }).await,
        Some(Action::List) | None => list(app).await,
    }
}

async fn list(app: &App) -> CommandResult {
    let session = app.session()?;
    let devices = session
        .api
        .devices()
        .await
        .context("ask the server for the devices")?;
    let here = session.account.device;
    let mut table = Table::new(&[
        ("NAME", Align::Name),
        ("LAST SEEN", Align::Left),
        ("ID", Align::Left),
    ]);
    for device in &devices {
        let mark = if device.id == here {
            " (this device)"
        } else {
            ""
        };
        table.row([
            format!("{}{mark}", clean(&device.name)),
            match device.last_seen_at {
                Some(at) => local_time(at.0, &app.zone),
                None if device.id == here => "now".to_owned(),
                None => "never".to_owned(),
            },
            device.id.to_string(),
        ]);
    }
    table.print(&app.out, "No device is known.");
    let unfinished = Pending::read(&app.home)?.and_then(|pending| pending.device);
    if let Some(lost) = &unfinished {
        app.out.note(format_args!(
            "{} is not shut out yet: run `{}` again, which completes that",
            clean(&lost.name),
            lost.command()
        ));
    }
    let devices: Vec<_> = devices
        .iter()
        .map(|device| {
            json!({
                "id": device.id,
                "name": device.name,
                "this": device.id == here,
                "last_seen": device.last_seen_at,
            })
        })
        .collect();
    app.out
        .json(&json!({ "devices": devices, "unfinished": unfinished }));
    Ok(())
}

async fn remove(app: &App, wanted: &str, asking: Asking) -> CommandResult {
    let session = app.session()?;
    let device = find_other(&session, wanted, "log out of it with `cairn logout`").await?;
    let name = clean(&device.name);
    if asking.dry_run.is_wanted {
        let line = format!("{name} would be logged out and taken off the list.");
        let document = json!({ "would_remove": device.id, "name": device.name });
        return dry_run::show(app, line, document);
    }
    if !asking.yes && !prompt::confirm(&format!("Log out and remove {name}? [y/N] "))? {
        return Err(Failure::new(
            Exit::Decision,
            "nothing was done: add --yes to remove the device",
        ));
    }
    let logins_ended = remove_known(&session, &device).await?;
    match logins_ended {
        Some(ended) => app.out.line(format_args!(
            "{name} is removed: {} ended.",
            count(ended, "login")
        )),
        None => app
            .out
            .line(format_args!("{name} is removed: its logins ended.")),
    }
    if logins_ended.is_none_or(|ended| ended == 0) {
        app.out
            .note("If it uses an API key, that stays valid: revoke it on the server.");
    }
    app.out.json(&json!({
        "id": device.id,
        "name": device.name,
        "logins_ended": logins_ended,
    }));
    Ok(())
}

/// Removes a device and returns the number of its logins; none if the answer with it was lost. Then the list tells
/// whether the device was removed.
async fn remove_known(session: &Session, device: &KnownDevice) -> CommandResult<Option<u64>> {
    let error = match session.api.remove_device(device.id).await {
        Ok(removed) => return Ok(Some(removed.logins_ended)),
        Err(error) => error,
    };
    if error.is_transient()
        && let Ok(devices) = session.api.devices().await
        && devices.iter().all(|one| one.id != device.id)
    {
        return Ok(None);
    }
    Err(error).context(format_args!("remove {}", clean(&device.name)))
}

/// Logs a device out and replaces the account's keys, or completes that.
async fn revoke(
    app: &App,
    wanted: &str,
    asking: Asking,
    options: &rotate::Options,
) -> CommandResult {
    let begun = Pending::read(&app.home)?.and_then(|pending| pending.device);
    if let Some(device) = begun.filter(|one| one.name == wanted || one.id.to_string() == wanted) {
        if asking.dry_run.is_wanted {
            return show_revocation(app, &device);
        }
        return rotate::run(app, Some(device), options).await;
    }
    let session = app.session()?;
    let device = find_other(&session, wanted, "run the command on another one").await?;
    let device = LostDevice {
        id: device.id,
        name: device.name,
    };
    if asking.dry_run.is_wanted {
        return show_revocation(app, &device);
    }
    options.check_source()?;
    let name = clean(&device.name);
    let question = format!(
        "Shut out {name}? All keys are replaced, and each of your other devices has to run `cairn keys update`. [y/N] "
    );
    if !asking.yes && !prompt::confirm(&question)? {
        return Err(Failure::new(
            Exit::Decision,
            "nothing was done: add --yes to shut the device out",
        ));
    }
    rotate::run(app, Some(device), options).await
}

fn show_revocation(app: &App, device: &LostDevice) -> CommandResult {
    let line = format!(
        "{} would be logged out, all keys of the account would be replaced, and each of your other devices would have to run `cairn keys update`.",
        clean(&device.name)
    );
    let document = json!({ "would_revoke": device.id, "name": device.name });
    dry_run::show(app, line, document)
}

/// Finds a device by its id or name; `advice` says what to do about this one, which is refused.
async fn find_other(session: &Session, wanted: &str, advice: &str) -> CommandResult<KnownDevice> {
    let devices = session.api.devices().await;
    let devices = devices.context("ask the server for the devices")?;
    let device = find(&devices, wanted)?;
    if device.id == session.account.device {
        return Err(Failure::usage(format!(
            "this is the device that you are using: {advice}"
        )));
    }
    Ok(device.clone())
}

/// Finds a device by its id or name.
fn find<'a>(devices: &'a [KnownDevice], wanted: &str) -> CommandResult<&'a KnownDevice> {
    let named = |device: &&KnownDevice| device.name == wanted || device.id.to_string() == wanted;
    let mut found = devices.iter().filter(named);
    match (found.next(), found.next()) {
        (Some(device), None) => Ok(device),
        (None, _) => Err(Failure::usage(format!(
            "there is no device {wanted}: see `cairn devices`"
        ))),
        (Some(_), Some(_)) => Err(Failure::usage(format!(
            "several devices are called {wanted}: name one by its ID, as `cairn devices` shows it"
        ))),
    }
}
