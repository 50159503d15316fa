//! `cairn logout`: forgets the secrets; the device's folders and index stay.

use crate::account::Account;
use crate::app::App;
use crate::failure::Outcome;
use crate::session;
use serde_json::json;

/// Forget the account's secrets on this device
///
/// Files stay where they are. Logging in again goes on where syncing stopped.
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

pub(super) async fn run(app: &App, _: Args) -> Outcome {
    let account = Account::load(&app.home)?;
    app.stop().await?;
    let secrets = session::open_secrets(&app.home, &account)?;
    let ended = session::end_login(&*secrets).await?;
    session::forget_secrets(&*secrets)?;
    Account {
        logged_out: true,
        ..account.clone()
    }
    .save(&app.home)?;
    let rest = if ended {
        ""
    } else {
        " The API key stays valid on the server."
    };
    app.out.line(format_args!(
        "Logged out of {} ({}).{rest}",
        account.server, account.email
    ));
    app.out
        .json(&json!({ "logged_out": true, "server": account.server, "email": account.email }));
    Ok(())
}
