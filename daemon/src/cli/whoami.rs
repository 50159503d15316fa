//! `cairn whoami`: the account, this device, and what the account has used.

use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use crate::output::text::size;
use serde_json::json;

/// Show the account and this device
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

pub(super) async fn run(app: &App, _: Args) -> CommandResult {
    let session = app.session()?;
    let info = session
        .api
        .account()
        .await
        .context("ask the server for the account")?;
    let account = &session.account;
    app.out.line(format_args!(
        "{} ({}) on {}",
        info.email, info.display_name, account.server
    ));
    app.out.line(format_args!(
        "device {} ({})",
        account.device_name, account.device
    ));
    let usage = info.usage;
    app.out.line(format_args!(
        "{} of {} in {} files",
        size(usage.storage_used),
        size(usage.storage_limit),
        usage.file_count
    ));
    app.out.json(&json!({
        "email": info.email,
        "display_name": info.display_name,
        "account_id": info.id,
        "space_id": info.space_id,
        "server": account.server,
        "device_id": account.device,
        "device_name": account.device_name,
        "usage": usage,
    }));
    Ok(())
}
