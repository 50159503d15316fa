//! The account's API keys when its keys are replaced: a device that was logged in with one still has it.

use crate::app::App;
use crate::cli::prompt;
use crate::failure::{CommandResult, Context as _};
use crate::output::text::clean;
use crate::session::{self, Session};
use cairn_wire::account::ApiKey;
use serde_json::{Value, json};

/// Shows the API keys that are valid, and revokes them if that is wanted; never the one that this device uses. `shown`
/// gets all of them, and says of each whether it was revoked, also after a failure.
pub(super) async fn offer(
    app: &App,
    session: &Session,
    revoke: bool,
    shown: &mut Vec<Value>,
) -> CommandResult {
    let keys = match session.api.api_keys().await {
        Ok(keys) => keys,
        Err(error) => {
            app.out.note(format_args!(
                "the API keys of the account could not be asked for ({error}): look at them on the server"
            ));
            return Ok(());
        }
    };
    let own = session::own_api_key(&*session::open_secrets(&app.home, &session.account)?)?;
    let is_own = |key: &ApiKey| {
        own.as_ref()
            .is_some_and(|own| !key.prefix.is_empty() && own.starts_with(&key.prefix))
    };
    let (own, others): (Vec<ApiKey>, Vec<ApiKey>) =
        keys.into_iter().filter(|key| key.active).partition(is_own);
    if !others.is_empty() {
        app.out
            .line("These API keys are valid, on whatever device they are:");
        for key in &others {
            app.out.line(format_args!(
                "    {}…  {}",
                clean(&key.prefix),
                clean(&key.name)
            ));
        }
    }
    shown.extend(own.iter().map(|key| view(key, true)));
    shown.extend(others.iter().map(|key| view(key, false)));
    let revoke = revoke || (!others.is_empty() && prompt::confirm("Revoke them? [y/N] ")?);
    if revoke {
        for (key, entry) in others.iter().zip(shown.iter_mut().skip(own.len())) {
            let revoked = session.api.revoke_api_key(&key.id).await;
            revoked.context(format_args!("revoke the API key {}", clean(&key.name)))?;
            entry["revoked"] = json!(true);
        }
    }
    if revoke && !others.is_empty() {
        app.out
            .line("They are revoked: devices that used one have to log in again.");
    } else if !others.is_empty() {
        app.out
            .line("If the lost device used one, revoke it: run the command again with --api-keys, or use the server's page.");
    }
    if !own.is_empty() {
        app.out.line("This device uses an API key itself, which stays valid: if the lost one had the same, make another one.");
    }
    Ok(())
}

fn view(key: &ApiKey, this: bool) -> Value {
    json!({
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "revoked": false,
        "this_device": this,
    })
}
