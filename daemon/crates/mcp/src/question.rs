//! The questions to a person before a call. They name what the call is about, as far as the service tells
//! it; an id that can't be looked up now is shown as it is. A call that is refused anyway is refused before its question.

mod access;
mod comment;
mod general;
mod hidden;
mod known;
mod money;
mod trash;

pub(crate) use access::{
    create_api_key, create_webhook, invite_member, toggle_share, update_share,
};
pub(crate) use comment::delete_comment;
pub(crate) use general::generic;
pub(crate) use hidden::hidden_place;
pub(crate) use money::{send_tip, subscribe, withdraw};
pub(crate) use trash::empty_trash;

pub(crate) use crate::call::Asking;
pub(crate) use crate::quote::quote;
use known::{describe, text};

use crate::arguments::is_uuid;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::quote::shorten;
use crate::tool::Verb;
use cairn_wire::shares::StorageType;
use futures_util::FutureExt as _;
use serde_json::{Value, json};

pub(crate) fn share(call: &Call) -> Asking<'_> {
    async move {
        let node = known::node(call, "file_uuid").await?;
        check_shareable(call, &node)?;
        call.services.check_passphrase().await?;
        let id = call.arguments.text("file_uuid").unwrap_or_default();
        let file = describe(call, id, &node).await;
        let who = match call.arguments.text("email") {
            Some(email) => format!("mail it to {}", shorten(email)),
            None => audience(call),
        };
        let days = call.arguments.get("expiry_days");
        let until = match (days, call.arguments.text("active_until")) {
            (Some(days), _) => format!(" for {}", count_days(days)),
            (None, Some(until)) => format!(" until {until}"),
            (None, None) => default_expiry(call).await,
        };
        Ok(Some(format!(
            "Create a share link to {file}{until} and {who}?"
        )))
    }
    .boxed()
}

/// Checks what the service would refuse a link to a node for.
fn check_shareable(call: &Call, node: &Value) -> ToolResult {
    if node["state"] == "trashed" {
        return Err(ToolError::refused(
            "it is in the trash: restore_from_trash brings it back, and then it can be shared",
        ));
    }
    let is = match node["kind"].as_str() {
        Some("folder") => StorageType::Folder,
        Some("file") => StorageType::File,
        Some(_) | None => return Ok(()),
    };
    let is = json!(is);
    match call.arguments.get("storage_type") {
        Some(given) if *given != is => Err(ToolError::argument(format!(
            "storage_type has to be {}: what is shared is a {}",
            is.as_str().unwrap_or_default(),
            node["kind"].as_str().unwrap_or_default()
        ))),
        Some(_) | None => Ok(()),
    }
}

/// Returns for how long a link opens that gets the account's defaults.
async fn default_expiry(call: &Call) -> String {
    let path = ["shares", "defaults"];
    let Ok(defaults) = call.request(Verb::Get, &path, &[], None).await else {
        return " for as long as your defaults say".to_owned();
    };
    match &defaults["default_expiry_days"] {
        days if days.as_f64().is_some_and(|days| days > 0.0) => {
            format!(" for {} (your default)", count_days(days))
        }
        _ => " without expiry".to_owned(),
    }
}

fn audience(call: &Call) -> String {
    let emails = call.arguments.texts("allowed_emails");
    if !emails.is_empty() {
        return format!("let {} open it", shorten(&emails.join(", ")));
    }
    if call.arguments.has("password") {
        return "let everyone with the address and the password open it".to_owned();
    }
    "let everyone with the address open it".to_owned()
}

pub(crate) fn share_many(call: &Call) -> Asking<'_> {
    async move {
        call.services.check_passphrase().await?;
        let ids = call.arguments.get("file_uuids").and_then(Value::as_array);
        let mut names = Vec::new();
        for id in ids.into_iter().flatten() {
            names.push(file(call, id.as_str()).await);
        }
        Ok(Some(format!(
            "Create {} share links ({}){} that everyone with the address can open?",
            names.len(),
            names.join(", "),
            default_expiry(call).await
        )))
    }
    .boxed()
}

pub(crate) fn delete_share(call: &Call) -> Asking<'_> {
    async move {
        let link = known::link(call).await?;
        let of = named_link(call, &link).await;
        Ok(Some(format!("Delete {of} permanently?")))
    }
    .boxed()
}

/// Returns the name of the link of a call: by what it shares, or, where that is not known, by its code.
async fn named_link(call: &Call, link: &Value) -> String {
    match text(link, "file_id") {
        Some(id) => format!("the share link to {}", file(call, Some(&id)).await),
        None => {
            let code = call.arguments.text("short_code").unwrap_or_default();
            format!("the share link {}", quote(code))
        }
    }
}

pub(crate) fn remove_member(call: &Call) -> Asking<'_> {
    async move {
        let (member, team) = member(call).await?;
        // Everybody may leave.
        if own_id(call).await.as_deref() != call.arguments.text("user_id") {
            check_right(call, "remove", "remove members").await?;
        }
        Ok(Some(format!("Remove {member} from the team {team}?")))
    }
    .boxed()
}

pub(crate) fn offboard_member(call: &Call) -> Asking<'_> {
    async move {
        let (member, team) = member(call).await?;
        check_right(call, "offboard", "offboard members").await?;
        Ok(Some(format!(
            "Remove {member} from the team {team} and end all their shared access to its files?"
        )))
    }
    .boxed()
}

/// Checks that the caller's role in the team of a call has a right.
async fn check_right(call: &Call, right: &str, what: &str) -> ToolResult {
    let team = call.arguments.text("team_uuid").unwrap_or_default();
    known::check_right(call, team, right, what).await
}

/// Returns the names of the member and the team of a call that takes the member out of the team.
///
/// # Errors
/// Those of [`known::find_entry`]; [`ToolError::Refused`] for the owner.
async fn member(call: &Call) -> ToolResult<(String, String)> {
    let team_id = call.arguments.text("team_uuid").unwrap_or_default();
    let user_id = call.arguments.text("user_id").unwrap_or_default();
    let team = known::team(call, team_id).await?;
    let path = ["teams", team_id, "members"];
    let named = ("user_id", user_id);
    let member = known::find_entry(call, &path, &[], named, |member| {
        member["user_id"] == user_id
    });
    let member = member.await?;
    let is_owner = member.as_ref().is_some_and(|one| one["role"] == "owner");
    if is_owner {
        return Err(ToolError::refused(
            "the owner cannot be removed from the team",
        ));
    }
    let member = member.map(|member| person(&member, user_id));
    Ok((member.unwrap_or_else(|| quote(user_id)), team))
}

/// Returns the id of the account, if the service tells it now.
async fn own_id(call: &Call) -> Option<String> {
    let path = ["useraccount", "composite"];
    let account = call.request(Verb::Get, &path, &[], None).await;
    account.ok().and_then(|account| text(&account, "id"))
}

fn person(member: &Value, id: &str) -> String {
    let name = text(member, "display_name").or_else(|| text(member, "name"));
    match (name, text(member, "email")) {
        (Some(name), Some(email)) => format!("{} ({})", quote(&name), shorten(&email)),
        (Some(name), None) => quote(&name),
        (None, Some(email)) => shorten(&email),
        (None, None) => quote(id),
    }
}

pub(crate) fn delete_webhook(call: &Call) -> Asking<'_> {
    async move {
        let id = call.arguments.text("webhook_id").unwrap_or_default();
        let (all, named) = ([("status", "all")], ("webhook_id", id));
        let hook = known::find_entry(call, &["webhooks"], &all, named, |hook| hook["id"] == id);
        let url = hook.await?.and_then(|hook| text(&hook, "url"));
        let shown = quote(url.as_deref().unwrap_or(id));
        Ok(Some(format!("Delete the webhook {shown}?")))
    }
    .boxed()
}

pub(crate) fn retention_rule(call: &Call) -> Asking<'_> {
    async move {
        let folder = known::file(call, "folder_uuid").await?;
        let days = call.arguments.get("delete_after_days");
        let days = days.map(count_days).unwrap_or_default();
        Ok(Some(format!(
            "From now on, delete every file in {folder} automatically after {days}?"
        )))
    }
    .boxed()
}

pub(crate) fn delete_account(call: &Call) -> Asking<'_> {
    async move {
        let account = call.request(Verb::Get, &["useraccount", "composite"], &[], None);
        let email = account.await.ok().and_then(|account| text(&account, "email"));
        let whose = email.map_or_else(String::new, |email| format!(" of {}", shorten(&email)));
        Ok(Some(format!(
            "Delete the account{whose} and all its data after 60 days? Until then it can be restored."
        )))
    }
    .boxed()
}

pub(crate) fn recovery_key(call: &Call) -> Asking<'_> {
    async move {
        let status = call.request(Verb::Get, &["keys", "recovery"], &[], None);
        let replaced = status
            .await
            .is_ok_and(|status| status["configured"] == true);
        let earlier = if replaced {
            " The earlier one stops working."
        } else {
            ""
        };
        Ok(Some(format!(
            "Create a recovery key and show it to the assistant?{earlier}"
        )))
    }
    .boxed()
}

/// Returns the path and size of a node, or its id; a path that names nothing as it is.
async fn file(call: &Call, id: Option<&str>) -> String {
    let id = id.unwrap_or_default();
    if !is_uuid(id) {
        return quote(id);
    }
    let node = call.request(Verb::Get, &["nodes", id], &[], None).await;
    describe(call, id, &node.unwrap_or_default()).await
}

/// Returns a number of days, such as `1 day`.
fn count_days(days: &Value) -> String {
    let unit = if days.as_f64() == Some(1.0) {
        "day"
    } else {
        "days"
    };
    match days.as_f64() {
        Some(days) => format!("{days} {unit}"),
        None => format!("{days} {unit}"),
    }
}
