//! The account: logging in and out, its figures, its keys, its devices.

use crate::calls::Desk;
use crate::program::{Fault, FaultCode, Run};
use serde::{Deserialize, Serialize};
use serde_json::Value;
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

/// A device of the account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct DeviceView {
    pub name: String,
    pub this: bool,
}

/// What logging in takes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize, TS)]
pub struct LoginForm {
    pub server: String,
    /// Without one, the browser is asked.
    #[ts(optional = nullable)]
    pub api_key: Option<String>,
    pub passphrase: String,
    #[ts(optional = nullable)]
    pub device_name: Option<String>,
    /// Keep secrets in a private file instead of the system's keyring.
    pub secrets_in_file: bool,
}

pub(super) async fn account(desk: &Desk) -> Result<AccountView, Fault> {
    let document = desk.program.run(Run::of(["whoami"])).await?;
    let text = |key: &str| document[key].as_str().unwrap_or_default().to_owned();
    let figure = |key: &str| document["usage"][key].as_u64().unwrap_or(0);
    Ok(AccountView {
        email: text("email"),
        server: text("server"),
        device_name: text("device_name"),
        used: figure("storage_used"),
        limit: figure("storage_limit"),
        files: figure("file_count"),
    })
}

pub(super) async fn devices(desk: &Desk) -> Result<Vec<DeviceView>, Fault> {
    let document = desk.program.run(Run::of(["devices"])).await?;
    let devices = document["devices"].as_array().cloned().unwrap_or_default();
    Ok(devices
        .iter()
        .map(|device| DeviceView {
            name: device["name"].as_str().unwrap_or_default().to_owned(),
            this: device["this"].as_bool().unwrap_or(false),
        })
        .collect())
}

/// Logs in with the daemon held, which may still work with another account's keys.
pub(super) async fn login(desk: &Desk, form: LoginForm) -> Result<Value, Fault> {
    let mut arguments = vec![
        "login".to_owned(),
        format!("--server={}", form.server.trim()),
        "--passphrase-file=-".to_owned(),
    ];
    let name = form.device_name.as_deref().map(str::trim);
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        arguments.push(format!("--device-name={name}"));
    }
    if form.secrets_in_file {
        arguments.push("--secrets=file".to_owned());
    }
    let run = Run {
        api_key: form.api_key.filter(|key| !key.trim().is_empty()),
        ..Run::of(arguments).with_secret(form.passphrase)
    };
    let held = Held::begin(desk).await?;
    let result = tokio::select! {
        result = desk.program.run(run) => result,
        // Dropping the run ends the program.
        () = desk.cancel.notified() => {
            Err(Fault::new(FaultCode::Cancelled, "the login was cancelled"))
        }
    };
    drop(held);
    result
}

pub(super) async fn logout(desk: &Desk) -> Result<Value, Fault> {
    let held = Held::begin(desk).await?;
    let result = desk.program.run(Run::of(["logout"])).await;
    drop(held);
    result
}

pub(super) async fn recovery_setup(desk: &Desk, passphrase: String) -> Result<Value, Fault> {
    let run = Run::of(["recovery-key", "setup", "--passphrase-file=-"]).with_secret(passphrase);
    let document = desk.program.run(run).await?;
    Ok(document["recovery_key"].clone())
}

pub(super) async fn recovery_status(desk: &Desk) -> Result<Value, Fault> {
    let document = desk
        .program
        .run(Run::of(["recovery-key", "status"]))
        .await?;
    Ok(document["configured"].clone())
}

pub(super) async fn change_passphrase(
    desk: &Desk,
    present: String,
    new: String,
) -> Result<Value, Fault> {
    let arguments = [
        "passphrase",
        "change",
        "--passphrase-file=-",
        "--new-passphrase-file=-",
    ];
    let run = Run::of(arguments).with_secret(present).with_secret(new);
    desk.program.run(run).await.map(|_| Value::Null)
}

/// Lets the daemon run again whatever happens, also if the window is closed in between.
struct Held<'a>(&'a Desk);

impl<'a> Held<'a> {
    async fn begin(desk: &'a Desk) -> Result<Self, Fault> {
        let held = Self(desk);
        desk.daemon.hold().await?;
        Ok(held)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.daemon.release();
    }
}
