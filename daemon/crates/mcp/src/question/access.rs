//! The questions before something is given away: keys and callbacks, memberships, and links that open to more
//! people or for more.

use super::{Asking, count_days, known, named_link, quote, shorten};
use crate::arguments::Arguments;
use crate::call::Call;
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

pub(crate) fn create_api_key(call: &Call) -> Asking<'_> {
    async move {
        let name = quote(call.arguments.text("name").unwrap_or_default());
        let until = match call.arguments.text("expires_in") {
            Some(time) => format!("for {}", shorten(time)),
            None => "until it is revoked".to_owned(),
        };
        Ok(Some(format!(
            "Create the API key {name}, which opens your account {until}, and show it to the assistant?"
        )))
    }
    .boxed()
}

pub(crate) fn create_webhook(call: &Call) -> Asking<'_> {
    async move {
        let url = quote(call.arguments.text("url").unwrap_or_default());
        let events = call.arguments.texts("events");
        Ok(Some(format!(
            "From now on, send what happens in your account to {url} ({})?",
            shorten(&events.join(", "))
        )))
    }
    .boxed()
}

pub(crate) fn invite_member(call: &Call) -> Asking<'_> {
    async move {
        let id = call.arguments.text("team_uuid").unwrap_or_default();
        let team = known::team(call, id).await?;
        known::check_right(call, id, "invite", "invite people").await?;
        let email = call.arguments.text("email").unwrap_or_default();
        Ok(Some(format!(
            "Invite {} to the team {team}, so that they can open its files?",
            shorten(email)
        )))
    }
    .boxed()
}

/// Asks if the call lets more people open a link, or lets them do more.
pub(crate) fn update_share(call: &Call) -> Asking<'_> {
    async move {
        let link = known::link(call).await?;
        let wider = wider_access(&link, &call.arguments);
        if wider.is_empty() {
            return Ok(None);
        }
        let of = named_link(call, &link).await;
        Ok(Some(format!("Change {of}: {}?", wider.join(", and "))))
    }
    .boxed()
}

/// Asks if the call switches a link on.
pub(crate) fn toggle_share(call: &Call) -> Asking<'_> {
    async move {
        let link = known::link(call).await?;
        if link["is_active"] == true {
            return Ok(None);
        }
        let of = named_link(call, &link).await;
        Ok(Some(format!("Switch {of} on again, so that it opens?")))
    }
    .boxed()
}

/// Returns the changes in the arguments that give more access than the link gives now. A setting of the link
/// that is not known is taken for the narrowest.
fn wider_access(link: &Value, arguments: &Arguments) -> Vec<String> {
    let mut wider = Vec::new();
    if let Some(wanted) = arguments.get("allowed_emails").and_then(Value::as_array) {
        let lower = |email: &Value| email.as_str().unwrap_or_default().to_lowercase();
        let now = link["allowed_emails"].as_array();
        let is_public = now.is_some_and(Vec::is_empty);
        let now: Vec<_> = now.into_iter().flatten().map(lower).collect();
        let added = wanted
            .iter()
            .map(lower)
            .filter(|email| !now.contains(email));
        let added: Vec<_> = added.collect();
        if !is_public && wanted.is_empty() {
            wider.push("let everyone with the address open it".to_owned());
        } else if !is_public && !added.is_empty() {
            wider.push(format!("let {} open it", shorten(&added.join(", "))));
        }
    }
    if arguments.has("password") && link["has_password"] != false {
        wider.push("replace its password, so that the new one opens it".to_owned());
    }
    if arguments.flag("is_active") == Some(true) && link["is_active"] != true {
        wider.push("switch it on again".to_owned());
    }
    if arguments.text("access_mode") == Some("download") && link["access_mode"] != json!("download")
    {
        wider.push("let visitors download, not only view".to_owned());
    }
    if let Some(days) = arguments.get("expiry_days")
        && !lasts_longer(link, days.as_f64().unwrap_or(f64::INFINITY))
    {
        wider.push(format!("let it open for {} from now", count_days(days)));
    }
    wider
}

/// Returns true if the link, as it is, opens for more than `days` from now.
fn lasts_longer(link: &Value, days: f64) -> bool {
    const SECONDS_OF_DAY: f64 = 86_400.0;
    let Some(expiry) = link.get("expires_at") else {
        return false;
    };
    if expiry.is_null() {
        return true;
    }
    let expiry = expiry.as_str().unwrap_or_default();
    OffsetDateTime::parse(expiry, &Rfc3339).is_ok_and(|at| {
        let left = at - OffsetDateTime::now_utc();
        left.as_seconds_f64() / SECONDS_OF_DAY > days
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Tool;
    use crate::toolset;

    fn wider(link: &Value, mut given: Value) -> usize {
        given["short_code"] = json!("abc");
        let mut tools = toolset::ALL.iter().flat_map(|set| set.tools);
        let tool: &Tool = tools
            .find(|tool| tool.name == "update_share_link")
            .expect("it is in the catalogue");
        let given = given.as_object().cloned().unwrap_or_default();
        let arguments = Arguments::check(tool, given).expect("they are good");
        wider_access(link, &arguments).len()
    }

    #[test]
    fn only_what_gives_more_access_is_asked_about() {
        let narrow = json!({
            "allowed_emails": ["Ada@example.com"], "is_active": false,
            "access_mode": "view_only", "expires_at": "2020-03-01T00:00:00Z", "has_password": true,
        });
        let wide = json!({
            "allowed_emails": [], "is_active": true, "access_mode": "download", "expires_at": null,
            "has_password": false,
        });
        for change in [
            json!({ "allowed_emails": [] }),
            json!({ "allowed_emails": ["ada@example.com", "eve@example.com"] }),
            json!({ "is_active": true }),
            json!({ "access_mode": "download" }),
            json!({ "expiry_days": 1 }),
            json!({ "password": "a new one" }),
        ] {
            assert_eq!(wider(&narrow, change.clone()), 1, "{change}");
            assert_eq!(wider(&Value::Null, change.clone()), 1, "{change}");
            assert_eq!(wider(&wide, change.clone()), 0, "{change}");
        }
        for change in [
            json!({ "allowed_emails": ["ada@example.com"] }),
            json!({ "is_active": false }),
            json!({ "access_mode": "view_only" }),
        ] {
            assert_eq!(wider(&narrow, change.clone()), 0, "{change}");
        }
        let long = json!({ "expires_at": "9999-01-01T00:00:00Z" });
        for change in [json!({ "expiry_days": 30 }), json!({ "expiry_days": 0.5 })] {
            assert_eq!(wider(&long, change.clone()), 0, "{change}");
        }
    }
}
