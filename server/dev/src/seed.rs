//! The content that a development server begins with; `docs/server.md` lists it.

use crate::DEV_KEY_NAME;
use cairn_service::{Error, Result, ServerState};
use cairn_store::Error as StoreError;
use cairn_wire::Amount;
use cairn_wire::payments::CreateCreatorPlan;
use cairn_wire::teams::TeamRole;
use sha2::{Digest as _, Sha256};

const DAY_MS: i64 = 24 * 3600 * 1000;

const ACCOUNTS: [&str; 3] = ["owner", "member", "outsider"];

fn key_of(name: &str) -> String {
    format!("ck_dev_{name}")
}

/// Returns `true` if a server with `--dev` made the accounts of this data directory, whatever became of
/// their keys: their passwords are known as well.
pub(crate) fn is_development(state: &ServerState) -> Result<bool> {
    for name in ACCOUNTS {
        let hash = Sha256::digest(key_of(name)).into();
        if state.store.knows_key(&hash)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes the development accounts; those that exist already stay as they are.
pub(crate) fn seed(state: &ServerState) -> Result<()> {
    let mut made = false;
    for name in ACCOUNTS {
        let email = format!("{name}@example.com");
        match state.add_user(&email, name) {
            Ok(account) => {
                state.store_key(account, DEV_KEY_NAME, &key_of(name), None)?;
                made = true;
            }
            Err(Error::Store(StoreError::Conflict { .. })) => {}
            Err(other) => return Err(other),
        }
    }
    if made {
        seed_people(state)?;
    }
    Ok(())
}

/// Makes a key for each development account that has none in force, and returns their addresses with
/// the keys: those that everybody knows were revoked.
pub(crate) fn replace_revoked_keys(state: &ServerState) -> Result<Vec<(String, String)>> {
    let mut made = Vec::new();
    for name in ACCOUNTS {
        let email = format!("{name}@example.com");
        let account = state.store.account_by_email(&email)?.id;
        let (keys, _) = state.store.api_keys(account, 0, u64::from(u32::MAX))?;
        if keys.iter().any(|key| key.active) {
            continue;
        }
        let key = state.fresh_key();
        state.store_key(account, DEV_KEY_NAME, &key, None)?;
        made.push((email, key));
    }
    Ok(made)
}

/// Makes the team of owner and member, coupons, a creator's plan and some wallet tokens.
fn seed_people(state: &ServerState) -> Result<()> {
    let store = &state.store;
    let owner = store.account_by_email("owner@example.com")?.id;
    let member = store.account_by_email("member@example.com")?.id;
    let team = store
        .create_team(owner, "Dev Team", &state.options().limits)?
        .id;
    store.write(|tx| tx.join(team, member, TeamRole::Member))?;
    store.seed_coupon("WELCOME10", Some(10), None, "10 % off", None)?;
    store.seed_coupon("SAVE5", None, Some(500), "5 dollars off", None)?;
    let yesterday = state.source.now_ms() - DAY_MS;
    store.seed_coupon("EXPIRED", Some(50), None, "50 % off", Some(yesterday))?;
    store.create_creator_plan(
        member,
        &CreateCreatorPlan {
            name: "Supporter".into(),
            price_monthly: Amount(500),
            description: Some("Supports the member of the Dev Team".into()),
        },
    )?;
    Ok(store.seed_tokens(owner, Amount(10_000))?)
}
