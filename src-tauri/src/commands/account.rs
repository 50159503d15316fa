//! The account: login and logout, usage, passphrase and recovery key.

use super::context::Commands;
use crate::input::Input;
use crate::program::{ProgramError, ProgramErrorCode, Run};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;
use ts_rs::TS;

/// The account and this device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct AccountView {
    pub email: String,
    pub server: String,
    pub device_name: String,
    pub used: u64,
    pub limit: u64,
    pub files: u64,
}

/// The form of a login.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize, TS)]
pub struct LoginForm {
    pub server: String,
    /// An API key; none: the person signs in with a browser.
    #[ts(optional = nullable)]
    pub api_key: Option<String>,
    /// The browser is on another device, where the person enters a code.
    pub device_code: bool,
    #[ts(optional = nullable)]
    pub device_name: Option<String>,
    /// Keep secrets in a private file instead of the system's keyring.
    pub secrets_in_file: bool,
}

pub(super) async fn account(commands: &Commands) -> Result<AccountView, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        email: String,
        server: String,
        device_name: String,
        usage: Usage,
    }
    #[derive(Deserialize)]
    struct Usage {
        storage_used: u64,
        storage_limit: u64,
        file_count: u64,
    }
    let found: Document = commands.document(Run::of(["whoami"])).await?;
    Ok(AccountView {
        email: found.email,
        server: found.server,
        device_name: found.device_name,
        used: found.usage.storage_used,
        limit: found.usage.storage_limit,
        files: found.usage.file_count,
    })
}

/// Logs in with the daemon suspended: it may still work with another account's keys. The steps go to the
/// window; an older login that still waits is cancelled.
pub(super) async fn login(commands: &Commands, form: LoginForm) -> Result<(), ProgramError> {
    commands.cancel.notify_waiters();
    let (lines, input) = mpsc::channel(1);
    let (sender, mut steps) = mpsc::channel::<Value>(1);
    let suspended = Suspended::begin(commands).await?;
    *commands.login_input.lock() = Some(lines);
    let forward = async {
        while let Some(step) = steps.recv().await {
            if let Ok(step) = serde_json::from_value(step) {
                // If the controller has ended, so does the program.
                let _ = commands.inputs.send(Input::LoginStep(step)).await;
            }
        }
        std::future::pending::<()>().await;
    };
    let result = tokio::select! {
        result = commands.program.run_steps(login_run(form), input, sender) => result.map(drop),
        () = forward => Ok(()),
        // Dropping the run ends the program.
        () = commands.cancel.notified() => {
            Err(ProgramError::new(ProgramErrorCode::Cancelled, "The login was cancelled."))
        }
    };
    drop(suspended);
    result
}

fn login_run(form: LoginForm) -> Run {
    let mut arguments = vec![
        "login".to_owned(),
        format!("--server={}", form.server.trim()),
        "--steps".to_owned(),
    ];
    let name = form.device_name.as_deref().map(str::trim);
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        arguments.push(format!("--device-name={name}"));
    }
    if form.secrets_in_file {
        arguments.push("--secrets=file".to_owned());
    }
    let api_key = form.api_key.filter(|key| !key.trim().is_empty());
    if form.device_code && api_key.is_none() {
        arguments.push("--device-code".to_owned());
    }
    Run {
        api_key,
        ..Run::of(arguments)
    }
}

pub(super) async fn enter_passphrase(
    commands: &Commands,
    passphrase: String,
) -> Result<(), ProgramError> {
    let input = commands.login_input.lock().clone();
    let is_waiting = match input {
        Some(input) => input.send(passphrase).await.is_ok(),
        None => false,
    };
    if is_waiting {
        Ok(())
    } else {
        Err(ProgramError::failed("The login has ended: start it again."))
    }
}

pub(super) async fn cancel_login(commands: &Commands) -> Result<(), ProgramError> {
    commands.cancel.notify_waiters();
    Ok(())
}

pub(super) async fn logout(commands: &Commands) -> Result<(), ProgramError> {
    let suspended = Suspended::begin(commands).await?;
    let result = commands.run(Run::of(["logout"])).await;
    drop(suspended);
    result
}

/// A recovery key that was made now, and is shown only now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct RecoveryKeyView {
    pub key: String,
    /// False: the response of the service was lost, and nobody knows whether this key works or an earlier one.
    pub in_force: bool,
}

pub(super) async fn recovery_setup(
    commands: &Commands,
    passphrase: String,
) -> Result<RecoveryKeyView, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        recovery_key: String,
        in_force: Option<bool>,
    }
    let run = Run::of(["recovery-key", "setup", "--passphrase-file=-"]).with_secret(passphrase);
    let made: Document = commands.document(run).await?;
    Ok(RecoveryKeyView {
        key: made.recovery_key,
        in_force: made.in_force == Some(true),
    })
}

pub(super) async fn recovery_status(commands: &Commands) -> Result<bool, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        configured: bool,
    }
    let found: Document = commands
        .document(Run::of(["recovery-key", "status"]))
        .await?;
    Ok(found.configured)
}

pub(super) async fn generate_passphrase(commands: &Commands) -> Result<String, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        passphrase: String,
    }
    let made: Document = commands
        .document(Run::of(["passphrase", "generate"]))
        .await?;
    Ok(made.passphrase)
}

pub(super) async fn change_passphrase(
    commands: &Commands,
    current: String,
    next: String,
) -> Result<(), ProgramError> {
    let arguments = [
        "passphrase",
        "change",
        "--passphrase-file=-",
        "--new-passphrase-file=-",
    ];
    let run = Run::of(arguments).with_secret(current).with_secret(next);
    commands.run(run).await
}

/// Lets the daemon run again when it is dropped, also if the window is closed in between.
struct Suspended<'a>(&'a Commands);

impl<'a> Suspended<'a> {
    async fn begin(commands: &'a Commands) -> Result<Self, ProgramError> {
        let suspended = Self(commands);
        commands.daemon.suspend().await?;
        Ok(suspended)
    }
}

impl Drop for Suspended<'_> {
    fn drop(&mut self) {
        self.0.daemon.allow();
    }
}
