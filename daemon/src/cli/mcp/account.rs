//! The account of the tools: the one in the environment, else the one that this machine is logged
//! in to.

use super::{is_unset, variable};
use crate::account::Account;
use crate::app::App;
use crate::failure::{CommandResult, Exit, Failure};
use crate::keys;
use crate::session::{RetryProfile, Session, address_error};
use cairn_api::ApiKey;
use cairn_mcp::KeySource;
use cairn_model::DeviceId;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Address of the bundled server by default.
const DEFAULT_URL: &str = "http://127.0.0.1:8787";

pub(super) fn find(app: &App) -> CommandResult<cairn_mcp::Account> {
    match std::env::var("SERVICE_API_KEY") {
        Ok(key) if is_unset(&key) && is_logged_in(app)? => from_login(app),
        Ok(key) if key.trim().is_empty() || is_unset(&key) => Err(Failure::usage(
            "SERVICE_API_KEY is empty: set it to an API key or access token, or unset it to use the account that this machine is logged in to",
        )),
        Ok(key) => from_environment(key.trim()),
        Err(_) => from_login(app),
    }
}

fn is_logged_in(app: &App) -> CommandResult<bool> {
    let account = Account::read(&app.home)?;
    Ok(account.is_some_and(|account| !account.logged_out))
}

fn from_environment(key: &str) -> CommandResult<cairn_mcp::Account> {
    let url = address("SERVICE_API_URL")?.unwrap_or_else(|| DEFAULT_URL.to_owned());
    Ok(cairn_mcp::Account {
        auth: Arc::new(ApiKey::new(key)),
        url,
        file_server: address("SERVICE_FILE_SERVER_URL")?,
        // This device is not registered under a name; the id still separates its changes from those of others.
        device: DeviceId::from_random_bytes(cairn_space::random_id()),
        keys: passphrase()?.map_or(KeySource::Missing, passphrase_source),
    })
}

/// Returns the address in a variable, without the path of the interface, which documentation often names.
fn address(name: &str) -> CommandResult<Option<String>> {
    let Some(text) = variable(name)? else {
        return Ok(None);
    };
    let text = text.trim_end_matches('/');
    let text = text.strip_suffix("/api/v1").unwrap_or(text);
    let unprotected = cairn_api::is_unprotected(text).map_err(|error| {
        let failure = address_error(error);
        Failure::new(failure.exit, format!("{name}: {}", failure.message))
    })?;
    if unprotected {
        return Err(Failure::usage(format!(
            "{name}: {text} is not encrypted: anyone on the way could read the access token and the names of your files; use https://"
        )));
    }
    Ok(Some(text.to_owned()))
}

/// Returns the account that this machine is logged in to.
pub(super) fn from_login(app: &App) -> CommandResult<cairn_mcp::Account> {
    let session = Session::open(&app.home, RetryProfile::Interactive).map_err(|failure| {
        if failure.exit == Exit::NotLoggedIn {
            let text = "SERVICE_API_KEY is not set and this machine is not logged in: set the variable, or run `cairn login`";
            Failure::new(Exit::NotLoggedIn, text)
        } else {
            failure
        }
    })?;
    Ok(cairn_mcp::Account {
        auth: session.api.auth(),
        url: session.account.server.clone(),
        file_server: session.account.file_server.clone(),
        device: session.account.device,
        keys: KeySource::Open(Arc::new(session.keys)),
    })
}

/// Returns the value without the line's end that a file or a shell may have added.
fn passphrase() -> CommandResult<Option<Zeroizing<String>>> {
    let Some(text) = std::env::var_os("SERVICE_PASSPHRASE") else {
        return Ok(None);
    };
    let text = Zeroizing::new(
        text.into_string()
            .map_err(|_| Failure::usage("SERVICE_PASSPHRASE is not valid UTF-8 text"))?,
    );
    let text = text.trim_end_matches(['\r', '\n']);
    Ok((!is_unset(text)).then(|| Zeroizing::new(text.to_owned())))
}

fn passphrase_source(passphrase: Zeroizing<String>) -> KeySource {
    KeySource::Passphrase {
        passphrase,
        cost: keys::cost(),
    }
}
