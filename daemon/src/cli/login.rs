//! `cairn login`: connects this installation to an account, and makes or opens the account's keys.

mod callback;
mod credential;
mod recovery;
mod steps;
mod target;

use crate::account::{Account, SecretsKind};
use crate::app::App;
use crate::cli::prompt;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::folders::{pairs, spaces};
use crate::keys;
use crate::output::text::clean;
use crate::remote::change::random_id;
use crate::remote::journal::Journal;
use crate::rotation::{Generation, PINS_LOST};
use crate::session::{self, keep_secrets};
use crate::trust::{self, Pins};
use cairn_api::{Api, ApiError};
use cairn_model::DeviceId;
use cairn_platform::{process, secrets};
use cairn_space::CryptoError;
use cairn_space::account_keys::{self, AccountKeys, RecoveryKey};
use cairn_transfer::TransferError;
use cairn_wire::account::{AccountInfo, Device};
use cairn_wire::keys::KeyBundle;
use serde_json::json;
use std::path::PathBuf;
use target::Target;

/// Log in to a server
///
/// A browser opens for the account's password, unless an API key is given. The first login of an
/// account makes its keys, later ones open them with the passphrase, which the server never learns.
/// Secrets go to the system's keyring. A daemon that runs goes on with the new login.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The server's address [default: that of the last login]
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Address for chunks, if it is another one
    #[arg(long, value_name = "URL")]
    file_server: Option<String>,
    /// Allow an address without https on another machine: the login and all names travel in the clear
    #[arg(long)]
    insecure_http: bool,
    /// An API key of the account (also CAIRN_API_KEY)
    #[arg(long, value_name = "KEY", conflicts_with = "device_code")]
    api_key: Option<String>,
    /// Confirm with a code in a browser on another device
    #[arg(long)]
    device_code: bool,
    /// Show the address to log in at without opening a browser
    #[arg(long, conflicts_with = "device_code")]
    no_browser: bool,
    /// Read the passphrase from the first line of a file instead of asking
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Open the keys with the recovery key in the first line of a file, and set a new passphrase
    #[arg(long, value_name = "FILE", conflicts_with_all = ["passphrase_file", "steps"])]
    recovery_key_file: Option<PathBuf>,
    /// Read that new passphrase from the first line of a file instead of asking
    #[arg(long, value_name = "FILE", requires = "recovery_key_file")]
    new_passphrase_file: Option<PathBuf>,
    /// Name of this device in activity and conflict copies [default: the host name]
    #[arg(long, value_name = "NAME")]
    device_name: Option<String>,
    /// Storage for this device's secrets [default: that of the last login, or the keyring]
    #[arg(long, value_enum)]
    secrets: Option<SecretsKind>,
    /// Report the steps as lines of JSON on stderr and read passphrases from stdin
    #[arg(long, hide = true, conflicts_with = "passphrase_file")]
    steps: bool,
    #[command(flatten)]
    new_passphrase: prompt::NewPassphrase,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    app.home.create()?;
    let before = Account::read(&app.home)?;
    let target = Target::new(&args, before.as_ref())?;
    let device = before.as_ref().map_or_else(
        || DeviceId::from_random_bytes(random_id()),
        |account| account.device,
    );
    target.check_protection(args.insecure_http)?;
    // Before anybody types anything: a name that can't be is no reason to have made keys.
    drop(device_name(args.device_name.clone(), before.as_ref())?);
    let credential = credential::get(app, &args, &target.server).await?;
    let (api, info) = target.connect(&credential, device).await?;
    if let Some(before) = &before {
        same_account(app, before, &info).await?;
        Journal::assign_unnamed(&app.home, before.account)?;
    }
    // Before any key is made: if there is no place for secrets, nothing has happened yet.
    let place = secrets::open(
        &target.secrets.choice(&app.home),
        &session::label(&app.home),
    )?;
    let before = before.filter(|account| account.account == info.id);
    let (bundle, unlocked, opened) =
        open_or_create(app, &args, &api, &info, before.as_ref()).await?;
    let former = former_keys(app, before.as_ref(), &unlocked)?;
    let (bundle, unlocked) =
        recovery::complete(&args, &api, &info, (bundle, unlocked), &opened).await?;
    let device_name = device_name(args.device_name, before.as_ref())?;
    // The secrets first: a device that can't keep them is not to appear in the account.
    let kept = keep_secrets(&app.home, &*place, &credential, &unlocked);
    kept.map_err(|failure| after_keys(failure, &opened))?;
    let account = Account {
        server: api.base_url().to_owned(),
        file_server: target.file_server,
        account: info.id,
        email: info.email,
        space: info.space_id,
        device,
        device_name,
        secrets: target.secrets,
        keys: bundle,
        logged_out: false,
    };
    let is_new = before.is_none_or(|account| account.logged_out);
    let registered = register(app, &api, &account, former.as_ref(), &unlocked).await;
    if let Err(failure) = registered {
        if is_new {
            let forgotten = session::forget_secrets(&*place);
            unregister(app, &api, &account).await;
            forgotten.map_err(|failure| after_keys(failure, &opened))?;
        }
        return Err(after_keys(failure, &opened));
    }
    restart_daemon(app).await?;
    report(app, &account, &unlocked, &opened);
    Ok(())
}

/// Lets a daemon that runs go on with this login: it works with the one that it has read at its start.
async fn restart_daemon(app: &App) -> CommandResult {
    if app.running_daemon().await?.is_some() {
        let restarted = async {
            app.stop().await?;
            app.start().await
        };
        let what = "start the daemon again, after the login was done";
        drop(restarted.await.context(what)?);
    }
    Ok(())
}

/// Makes the failure of a login after its keys were opened, or made: a passphrase that opens keys is not to be thrown
/// away because the device could not be set up.
fn after_keys(failure: Failure, opened: &Opened) -> Failure {
    match opened {
        Opened::WithPassphrase => failure,
        Opened::WithRecoveryKey(_) => failure.adding("the new passphrase was set before that: keep it, and run `cairn login` again, which asks for it"),
        Opened::New => failure.adding("the account's keys were made before that, and the passphrase opens them: keep it, and run `cairn login` again"),
    }
}

/// The way in which the account's keys came to be open.
enum Opened {
    WithPassphrase,
    WithRecoveryKey(RecoveryKey),
    New,
}

/// Makes the failure of making keys.
fn not_made(error: TransferError) -> Failure {
    let may_be_made = account_keys::may_be_in_force(&error);
    let failure = Failure::from(error).during("make the account's keys");
    if !may_be_made {
        return failure;
    }
    failure.adding("they may have been made all the same: keep the passphrase, and run `cairn login` again when the server can be reached")
}

/// Adds this device to the account, and makes the account that of the home.
async fn register(
    app: &App,
    api: &Api,
    account: &Account,
    former: Option<&AccountKeys>,
    keys: &AccountKeys,
) -> CommandResult {
    let device = Device {
        id: account.device,
        name: account.device_name.clone(),
    };
    let added = api.put_device(&device).await;
    added.context("register this device")?;
    save(app, account, former, keys)
}

/// Takes a device off the account's list whose login has failed: the server may have added it although no answer
/// says so.
async fn unregister(app: &App, api: &Api, account: &Account) {
    match api.remove_device(account.device).await {
        Ok(_) | Err(ApiError::NotFound { .. }) => {}
        Err(_) => app.out.note(format_args!(
            "{} may be among the account's devices now: see `cairn devices` on another one",
            clean(&account.device_name)
        )),
    }
}

/// Makes this account and its keys those of the home.
fn save(
    app: &App,
    account: &Account,
    former: Option<&AccountKeys>,
    keys: &AccountKeys,
) -> CommandResult {
    let commit = || account.save(&app.home);
    if trust::carry_over(&app.home, former, keys, commit)? == Pins::Lost {
        app.out.note(PINS_LOST);
    }
    Ok(())
}

/// Returns the keys that this home has had for the account, if it still has them: what is trusted is sealed under
/// them. Keys that can't be their successors are refused.
fn former_keys(
    app: &App,
    before: Option<&Account>,
    next: &AccountKeys,
) -> CommandResult<Option<AccountKeys>> {
    if before.is_none() {
        return Ok(None);
    }
    let Ok(session) = app.session() else {
        return Ok(None);
    };
    session.keys.check_successor(next).context("log in")?;
    Ok(Some(session.keys))
}

/// Refuses another account for a home that belongs to one: because folders are synced with it, or a daemon works with
/// it.
async fn same_account(app: &App, before: &Account, info: &AccountInfo) -> CommandResult {
    if before.account == info.id {
        return Ok(());
    }
    if app.running_daemon().await?.is_some() {
        return Err(Failure::failed(format!(
            "the daemon is running for {} on {}: run `cairn stop` before logging in as {}",
            clean(&before.email),
            clean(&before.server),
            clean(&info.email)
        )));
    }
    if pairs::list(&spaces::open_all(&app.home)?)?.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "this home syncs folders with {} on {}: remove them with `cairn remove`, or use another --home for {}",
        before.email, before.server, info.email
    )))
}

async fn open_or_create(
    app: &App,
    args: &Args,
    api: &Api,
    info: &AccountInfo,
    before: Option<&Account>,
) -> CommandResult<(KeyBundle, AccountKeys, Opened)> {
    match api.keys().await {
        Ok(bundle) => {
            let opened = keys::from_wire(&bundle);
            let known = before.map(|account| keys::from_wire(&account.keys));
            if let Some(known) = &known {
                let epoch = known.named_epoch(info.space_id);
                opened
                    .check_not_older(known.version)
                    .and_then(|()| opened.check_epoch(info.space_id, epoch))
                    .context("log in")?;
            }
            let (unlocked, how) = match &args.recovery_key_file {
                Some(file) => recovery::unlock(file, &opened, info)?,
                None => (unlock(app, args, &opened, info)?, Opened::WithPassphrase),
            };
            Ok((bundle, unlocked, how))
        }
        Err(ApiError::NotFound { .. }) if args.recovery_key_file.is_some() => {
            Err(Failure::failed(format!(
                "{} has no keys yet, so that no recovery key opens any: leave out --recovery-key-file",
                clean(&info.email)
            )))
        }
        Err(ApiError::NotFound { .. }) => {
            refuse_to_replace(api, info, before).await?;
            let passphrase = if args.steps {
                steps::new_passphrase(app, &info.email)?
            } else {
                let file = args.passphrase_file.as_deref();
                let known = [info.email.as_str()];
                args.new_passphrase
                    .read(file, "--passphrase-file FILE", &known)?
            };
            let made = account_keys::create(api, info, &passphrase, keys::cost()).await;
            let (bundle, unlocked) = made.map_err(not_made)?;
            Ok((bundle, unlocked, Opened::New))
        }
        Err(error) => Err(error).context("fetch the account's keys"),
    }
}

/// Opens the account's keys. A program that shows the steps may try another passphrase.
fn unlock(
    app: &App,
    args: &Args,
    bundle: &account_keys::KeyBundle,
    info: &AccountInfo,
) -> CommandResult<AccountKeys> {
    let mut last_error: Option<String> = None;
    loop {
        let passphrase = if args.steps {
            steps::passphrase(app, &info.email, false, last_error.as_deref())?
        } else {
            let question = format!("Passphrase of {}: ", info.email);
            prompt::passphrase(args.passphrase_file.as_deref(), &question)?
        };
        let unlocked = tokio::task::block_in_place(|| {
            account_keys::unlock(bundle, &passphrase, info.id, info.space_id)
        });
        match unlocked {
            Ok((unlocked, _)) => return Ok(unlocked),
            Err(CryptoError::NotAuthentic) if args.steps => {
                last_error = Some("This is not the passphrase of the account.".to_owned());
            }
            Err(error) => return Err(recovery::naming_the_way(error, bundle, &info.email)),
        }
    }
}

/// Keys are made where there never were any: a server that hides those of another must not get new ones.
async fn refuse_to_replace(
    api: &Api,
    info: &AccountInfo,
    before: Option<&Account>,
) -> CommandResult {
    if before.is_some() || account_keys::is_used(api).await? {
        return Err(Failure::failed(format!(
            "the server says that {} has no keys, but the account has been used: no new ones are made; ask its operator",
            info.email
        )));
    }
    Ok(())
}

pub(super) fn wrong_passphrase(error: CryptoError, email: &str) -> Failure {
    if error == CryptoError::NotAuthentic {
        Failure::new(
            Exit::Failed,
            format!(
                "the keys of {email} don't open: the passphrase is wrong (or the server altered them); try again"
            ),
        )
    } else {
        Failure::failed(format!("the keys of {email} are refused: {error}"))
    }
}

fn device_name(chosen: Option<String>, before: Option<&Account>) -> CommandResult<String> {
    let name = chosen
        .or_else(|| before.map(|account| account.device_name.clone()))
        .unwrap_or_else(process::host_name);
    let name = name.trim().to_owned();
    if name.is_empty() || name.chars().count() > 100 || name.chars().any(char::is_control) {
        return Err(Failure::usage(format!(
            "`{}` is not a valid device name: use 1 to 100 characters, without line breaks or other control characters",
            clean(&name)
        )));
    }
    Ok(name)
}

fn report(app: &App, account: &Account, keys: &AccountKeys, opened: &Opened) {
    let created = matches!(opened, Opened::New);
    if account.secrets == SecretsKind::File {
        let path = app.home.secrets_file();
        app.out.note(format_args!(
            "secrets are kept in {}, readable by this user only",
            path.display()
        ));
    }
    app.out.line(format_args!(
        "Logged in to {} as {} ({}).",
        account.server, account.email, account.device_name
    ));
    if created {
        app.out.line("New keys were made. Without the passphrase nobody can read your files: set up a recovery key");
        app.out
            .line("with `cairn recovery-key setup`, then add a folder with `cairn add FOLDER`.");
    }
    if matches!(opened, Opened::WithRecoveryKey(_)) {
        app.out
            .line("The new passphrase is set. The recovery key stays valid.");
    }
    let keys = Generation::of(account, keys);
    if !created {
        app.out.line(keys.describe(&app.zone));
        app.out
            .line("If another device's `cairn keys` shows a later epoch, the server gave former keys to this one: log out.");
    }
    app.out.json(&json!({
        "server": account.server,
        "email": account.email,
        "account_id": account.account,
        "device_id": account.device,
        "device_name": account.device_name,
        "secrets": account.secrets,
        "keys_created": created,
        "keys": keys,
    }));
}
