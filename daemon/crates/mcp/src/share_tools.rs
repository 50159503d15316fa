//! Share links. With the account's keys a link carries the keys of the shared files, sealed under a secret
//! that only its address has; without them the service makes a link that opens nothing.

use crate::call::{Call, with_success};
use crate::error::{ToolError, ToolResult};
use crate::foreign_records::unusable_error;
use crate::session_links::read_link;
use crate::tool::{Route, ToolFuture, post, put};
use cairn_crypto::DEFAULT_ITERATIONS;
use cairn_space::{LinkPassword, SharedLink, Space, UnverifiedNodes};
use cairn_wire::nodes::Node;
use cairn_wire::shares::{CreateShare, Share, ShareByEmail, UpdateShare};
use futures_util::FutureExt as _;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The note beside links made without keys, each of which says for itself that it opens nothing.
const NO_CONTENT: &str = "made without the account's keys, a link opens nothing, whatever its settings: don't hand it over; set SERVICE_PASSPHRASE first";

/// The note beside a link that was mailed.
const SENT_WITHOUT_SECRET: &str =
    "the mail has the address without its secret: send `url` to the recipient yourself";

/// The note beside a link of which no mail went out.
const NOT_SENT: &str = "no mail was sent: send `url` to the recipient yourself";

pub(crate) fn create(call: Call) -> ToolFuture {
    async move {
        let Some((space, node)) = node_to_share(&call).await? else {
            let route = post("shares").renamed(&[("file_uuid", "file_id")]);
            return without_keys(&call, &route).await;
        };
        let settings: CreateShare = settings(&call, &["file_uuid", "password"])?;
        let password = call.arguments.text("password").map(link_password);
        let link = space
            .create_share(&node, settings, password, UnverifiedNodes::Refuse)
            .await?;
        Ok(link_json(link))
    }
    .boxed()
}

pub(crate) fn by_email(call: Call) -> ToolFuture {
    async move {
        let Some((space, node)) = node_to_share(&call).await? else {
            let route = post("shares/email").renamed(&[("file_uuid", "file_id")]);
            return without_keys(&call, &route).await;
        };
        let email = call.arguments.required_text("email")?.to_owned();
        let settings = ShareByEmail {
            file_id: node.id,
            email,
            expiry_days: call.arguments.get("expiry_days").and_then(Value::as_f64),
            view_only: call.arguments.flag("view_only"),
            id: None,
            key_blob: None,
        };
        let link = space
            .share_by_email(&node, settings, UnverifiedNodes::Refuse)
            .await?;
        let sent = link.email_sent.unwrap_or_default();
        Ok(json!({
            "share": link_json(link),
            "email_sent": sent,
            "note": if sent { SENT_WITHOUT_SECRET } else { NOT_SENT },
        }))
    }
    .boxed()
}

/// Returns the node that the call names with the space that opens it; `None` for an account without keys, whose
/// links open nothing.
///
/// # Errors
/// [`ToolError::Team`] for a file of a team whose key this account doesn't have: a link without content isn't
/// what was asked for.
async fn node_to_share(call: &Call) -> ToolResult<Option<(Space, Node)>> {
    let id = call.arguments.id("file_uuid")?;
    call.services.node_to_share(id).await
}

pub(crate) fn update(call: Call) -> ToolFuture {
    async move {
        if call.arguments.fields().len() < 2 {
            return Err(ToolError::argument(
                "nothing to change: give at least one of expiry_days, password, is_active, access_mode, allowed_emails",
            ));
        }
        let code = call.arguments.required_text("short_code")?;
        let Some(password) = call.arguments.text("password") else {
            return call.send(&put("shares/{short_code}")).await;
        };
        let link = read_link(&call.services, code).await?;
        if link["key_blob"].is_null() {
            // The service keeps the gate of a link that opens no content.
            return call.send(&put("shares/{short_code}")).await;
        }
        let share: Share = serde_json::from_value(link)
            .map_err(|error| unusable_error(&format!("the link in it can't be read: {error}")))?;
        let (space, node) = call.services.node_with_keys(share.file_id).await?;
        space.check(&node)?;
        let link = space
            .set_share_password(&share, &node, Some(link_password(password)), UnverifiedNodes::Refuse)
            .await?;
        let change: UpdateShare = settings(&call, &["short_code", "password"])?;
        if change == UpdateShare::default() {
            return Ok(link_json(link));
        }
        let changed = call.services.writes.update_share(code, &change).await?;
        Ok(link_json(SharedLink {
            share: changed,
            ..link
        }))
    }
    .boxed()
}

/// Converts the call's settings of the link to the service's type.
fn settings<T: DeserializeOwned>(call: &Call, except: &[&str]) -> ToolResult<T> {
    let fields: Map<String, Value> = call
        .arguments
        .fields()
        .iter()
        .filter(|(name, _)| !except.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| ToolError::argument(format!("the settings can't be used: {error}")))
}

fn link_password(password: &str) -> LinkPassword<'_> {
    LinkPassword {
        password,
        iterations: DEFAULT_ITERATIONS,
    }
}

/// Returns true unless all links of a response failed.
fn makes_a_link(response: &Value) -> bool {
    let results = response["results"].as_array();
    results.is_none_or(|results| results.iter().any(|result| result["share"].is_object()))
}

pub(crate) async fn without_keys(call: &Call, route: &Route) -> ToolResult<Value> {
    let mut response = with_success(call.send(route).await?, None);
    if makes_a_link(&response) {
        response["note"] = json!(NO_CONTENT);
    }
    Ok(response)
}

/// Returns the link with its whole address, the one to hand over.
pub(crate) fn link_json(link: SharedLink) -> Value {
    let mut share = json!(link.share);
    share["url"] = json!(link.address);
    share
}
