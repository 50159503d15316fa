//! `/_dev/accounts`: more accounts than the three of the start, each with a key and a tree of folders.
//!
//! Files are not made here: only a client has the keys to encrypt what can be decrypted again.

use super::DEV_KEY_NAME;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cairn_model::{AccountId, Name};
use cairn_service::{AppState, Error, Result, UndocumentedJson};
use cairn_store::Actor;
use serde::{Deserialize, Serialize};

/// A tree is made in one transaction.
const MAX_FOLDERS: usize = 1000;
const MAX_LEVELS: usize = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewDevAccount {
    email: String,
    /// The part of `email` before the `@`, if absent.
    password: Option<String>,
    /// Paths, such as `docs/2026`.
    #[serde(default)]
    folders: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct DevAccount {
    id: AccountId,
    email: String,
    api_key: String,
}

fn path(text: &str) -> Result<Vec<Name>> {
    let names = text
        .split('/')
        .map(|name| Name::new(name).map_err(|e| Error::invalid(format!("`folders`: {e}"))))
        .collect::<Result<Vec<Name>>>()?;
    if names.len() > MAX_LEVELS {
        return Err(Error::invalid(format!(
            "`folders`: `{text}` has more than {MAX_LEVELS} levels"
        )));
    }
    Ok(names)
}

pub(super) async fn add(
    State(app): State<AppState>,
    UndocumentedJson(new): UndocumentedJson<NewDevAccount>,
) -> Result<(StatusCode, Json<DevAccount>)> {
    if new.folders.len() > MAX_FOLDERS {
        return Err(Error::invalid(format!(
            "`folders` has more than {MAX_FOLDERS} paths"
        )));
    }
    let paths = new
        .folders
        .iter()
        .map(|text| path(text))
        .collect::<Result<Vec<_>>>()?;
    let local = new.email.trim().split('@').next().unwrap_or_default();
    let password = new.password.as_deref().unwrap_or(local);
    let id = app.add_user(&new.email, password)?;
    let api_key = app.fresh_key();
    app.store_key(id, DEV_KEY_NAME, &api_key, None)?;
    let account = app.store.account_by_email(new.email.trim())?;
    let actor = Actor {
        account: id,
        device: None,
        space: account.space,
    };
    app.store.write(|tx| {
        for names in paths {
            tx.create_folders(&actor, None, names)?;
        }
        Ok(())
    })?;
    Ok((
        StatusCode::CREATED,
        Json(DevAccount {
            id,
            email: account.email,
            api_key,
        }),
    ))
}
