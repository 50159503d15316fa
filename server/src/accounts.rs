//! The commands about accounts and their keys.

use crate::cli::{Account, ApiKey, DataOptions, Role, User};
use crate::output::{json, json_once, print_line, print_line_once, properties, table, used_of};
use crate::password;
use anyhow::{Context as _, Result, bail};
use cairn_model::size::binary;
use cairn_server::{AccountCondition, AccountOverview, Server};
use serde_json::json as value;
use std::io::IsTerminal as _;

/// The name of a key for which none is given.
pub(crate) const KEY_NAME: &str = "command line";

/// Runs a command about accounts.
pub(crate) fn user(command: User) -> Result<()> {
    match command {
        User::Add {
            account,
            password_stdin,
        } => add(&account, password_stdin),
        User::Invite(account) => invite(&account),
        User::List(options) => list(&options),
        User::Show(account) => {
            let shown = account.server()?.user(&account.email)?;
            print_one(&account.options, &shown)
        }
        User::Disable(account) => set_disabled(&account, true),
        User::Enable(account) => set_disabled(&account, false),
        User::Role { account, set } => role(&account, set),
        User::Delete { account, yes, now } => delete(&account, yes, now),
        User::Quota { account, quota } => {
            let server = account.server()?;
            let shown = server.change_user_limits(&account.email, quota.limits())?;
            print_one(&account.options, &shown)
        }
        User::ResetPassword {
            account,
            password_stdin,
        } => reset_password(&account, password_stdin),
        User::ResetSecondFactor(account) => reset_second_factor(&account),
        User::Sessions {
            account,
            end,
            end_all,
        } => {
            let server = account.server()?;
            if end_all || end.is_some() {
                server.end_user_sessions(&account.email, end)?;
            }
            print_sessions(&account, &server)
        }
    }
}

fn add(account: &Account, password_stdin: bool) -> Result<()> {
    let options = &account.options;
    let password = password::read(password_stdin, &account.email)?;
    let id = options.server()?.add_user(&account.email, &password)?;
    if options.json {
        return json(&value!({"id": id, "email": account.email}));
    }
    print_line(&id.to_string())
}

fn invite(account: &Account) -> Result<()> {
    let options = &account.options;
    let link = options.server()?.invite_user(&account.email)?;
    if options.json {
        return json_once(
            &value!({"email": account.email, "mailed": link.is_none(), "link": link}),
        );
    }
    let Some(link) = link else {
        return print_line(&format!(
            "A mail to {} waits for the running server, which sends it within a minute.",
            account.email
        ));
    };
    print_line("No mail server is configured. Hand this link over, it is valid for three days:")?;
    print_line_once(&link)
}

fn state(account: &AccountOverview) -> &'static str {
    match account.state {
        AccountCondition::Active => "active",
        AccountCondition::Disabled => "disabled",
        AccountCondition::PendingDeletion => "to be deleted",
    }
}

fn list(options: &DataOptions) -> Result<()> {
    let all = options.existing_server()?.users()?;
    if options.json {
        return json(&all);
    }
    let rows = all.iter().map(|one| {
        vec![
            one.email.clone(),
            state(one).to_owned(),
            used_of(one.storage_used, one.storage_limit),
            one.file_count.to_string(),
            one.created_at.to_string(),
        ]
    });
    table(&["EMAIL", "STATE", "STORAGE", "FILES", "CREATED"], rows)
}

fn print_one(options: &DataOptions, one: &AccountOverview) -> Result<()> {
    if options.json {
        return json(one);
    }
    let mut rows = vec![
        ("email", one.email.clone()),
        ("id", one.id.to_string()),
        ("state", state(one).to_owned()),
        ("created", one.created_at.to_string()),
        ("storage", used_of(one.storage_used, one.storage_limit)),
        (
            "bandwidth",
            format!("{} a month", binary(one.bandwidth_limit)),
        ),
        (
            "files",
            format!("{} of {}", one.file_count, one.file_count_limit),
        ),
        ("devices", one.devices.to_string()),
        ("API keys", one.active_api_keys.to_string()),
        ("sessions", one.sessions.to_string()),
        ("teams", one.teams.to_string()),
        (
            "address",
            if one.email_verified {
                "verified"
            } else {
                "not verified"
            }
            .to_owned(),
        ),
    ];
    if one.admin {
        rows.push(("role", "administrator".to_owned()));
    }
    if one.second_factor {
        rows.push(("second factor", "asked for".to_owned()));
    }
    if let Some(at) = one.purge_at {
        rows.insert(3, ("deleted on", at.to_string()));
    }
    properties(&rows)
}

fn set_disabled(account: &Account, disabled: bool) -> Result<()> {
    let server = account.server()?;
    let one = server.set_user_disabled(&account.email, disabled)?;
    if account.options.json {
        return json(&one);
    }
    print_line(&format!("{} is {}", one.email, state(&one)))
}

fn role(account: &Account, set: Option<Role>) -> Result<()> {
    let server = account.server()?;
    let one = match set {
        None => server.user(&account.email)?,
        Some(role) => {
            let admin = matches!(role, Role::Admin);
            server.set_user_admin(&account.email, admin)?
        }
    };
    if account.options.json {
        return json(&one);
    }
    print_line(&format!("{} {}", one.email, role_text(&one)))
}

fn role_text(account: &AccountOverview) -> &'static str {
    if account.admin {
        "administers other accounts"
    } else {
        "administers no other accounts"
    }
}

/// Asks before an account goes.
fn confirm_deletion(account: &Account, one: &AccountOverview, now: bool) -> Result<()> {
    if !std::io::stdin().is_terminal() {
        bail!("deleting {} needs a confirmation: add --yes", one.email);
    }
    let when = if now {
        "at once and for good"
    } else {
        "after 60 days"
    };
    print_line(&format!(
        "{} and its {} files ({}) will be deleted {when}. Type the address to confirm:",
        one.email,
        one.file_count,
        binary(one.storage_used)
    ))?;
    let mut typed = String::new();
    std::io::stdin()
        .read_line(&mut typed)
        .context("can't read the confirmation")?;
    if typed.trim() != account.email {
        bail!("nothing was deleted");
    }
    Ok(())
}

fn delete(account: &Account, yes: bool, now: bool) -> Result<()> {
    let server = account.server()?;
    let one = server.user(&account.email)?;
    if !yes {
        confirm_deletion(account, &one, now)?;
    }
    if now {
        crate::runtime()?.block_on(server.delete_user(&account.email))?;
    } else if one.purge_at.is_none() {
        server.request_user_deletion(&account.email)?;
    }
    let purge_at = if now {
        None
    } else {
        server.user(&account.email)?.purge_at
    };
    if account.options.json {
        return json(
            &value!({"id": one.id, "email": one.email, "deleted": now, "purge_at": purge_at}),
        );
    }
    match purge_at {
        Some(at) => print_line(&format!(
            "{} will be deleted on {at}; until then its owner can cancel it",
            one.email
        )),
        None => print_line(&format!("{} is deleted", one.email)),
    }
}

fn reset_password(account: &Account, password_stdin: bool) -> Result<()> {
    let server = account.server()?;
    server.user(&account.email)?;
    let password = password::read(password_stdin, &account.email)?;
    server.reset_user_password(&account.email, &password)?;
    if account.options.json {
        return json(&value!({"email": account.email}));
    }
    print_line(&format!(
        "{} has a new password, and its logins have ended",
        account.email
    ))
}

fn reset_second_factor(account: &Account) -> Result<()> {
    account.server()?.reset_user_second_factor(&account.email)?;
    if account.options.json {
        return json(&value!({"email": account.email}));
    }
    print_line(&format!(
        "{} has no second factor any more: the password alone logs in",
        account.email
    ))
}

fn print_sessions(account: &Account, server: &Server) -> Result<()> {
    let all = server.user_sessions(&account.email)?;
    if account.options.json {
        return json(&all);
    }
    let rows = all.iter().map(|one| {
        let used = one
            .last_used_at
            .map_or_else(String::new, |at| at.to_string());
        vec![
            one.id.to_string(),
            one.client.clone(),
            one.scope.clone(),
            one.created_at.to_string(),
            used,
        ]
    });
    table(&["ID", "CLIENT", "SCOPE", "CREATED", "LAST USED"], rows)
}

/// Runs a command about API keys.
pub(crate) fn api_key(command: ApiKey) -> Result<()> {
    match command {
        ApiKey::Add { account, name } => add_key(&account, &name),
        ApiKey::List(account) => list_keys(&account),
        ApiKey::Revoke { account, key } => {
            let revoked = account.server()?.revoke_user_key(&account.email, &key)?;
            if account.options.json {
                return json(&revoked);
            }
            print_line(&format!("revoked {} ({})", revoked.prefix, revoked.name))
        }
    }
}

/// Makes a key; prints its text alone, so that a script can take it.
pub(crate) fn add_key(account: &Account, name: &str) -> Result<()> {
    let Account { email, options } = account;
    let (key, shown) = account.server()?.add_user_key(email, name)?;
    if options.json {
        return json_once(&value!({"id": shown.id, "name": shown.name, "key": key}));
    }
    print_line_once(&key)
}

fn list_keys(account: &Account) -> Result<()> {
    let keys = account.server()?.user_keys(&account.email)?;
    if account.options.json {
        return json(&keys);
    }
    let rows = keys.iter().map(|key| {
        let used = key
            .last_used_at
            .map_or_else(String::new, |at| at.to_string());
        vec![
            key.id.clone(),
            key.prefix.clone(),
            if key.active { "active" } else { "not in force" }.to_owned(),
            key.name.clone(),
            key.created_at.to_string(),
            used,
        ]
    });
    table(
        &["ID", "KEY", "STATE", "NAME", "CREATED", "LAST USED"],
        rows,
    )
}
