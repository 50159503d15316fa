//! Undoing what a session changed of share links.

use super::{Taken, if_kept};
use crate::error::ToolResult;
use crate::services::Services;
use crate::session_journal::LinkChange;
use crate::session_state::LinkSettings;
use crate::tool::Verb;
use serde_json::Value;

/// Takes a change of a link back, or returns the reason why not.
pub(super) async fn take_back(
    services: &Services,
    id: &str,
    change: &LinkChange,
) -> ToolResult<Taken> {
    let Some(link) = if_kept(find(services, id).await)? else {
        return Ok(Ok("a link is deleted already".to_owned()));
    };
    let name = text(&link, "file_name");
    match change {
        LinkChange::Made => {
            services
                .request(Verb::Delete, &["shares", id], &[], None)
                .await?;
            Ok(Ok(format!("the link to {name} is deleted")))
        }
        LinkChange::Password => Ok(Err(format!(
            "the former password of the link to {name} is not known"
        ))),
        LinkChange::Settings { from, to } => reset(services, &link, from, to).await,
    }
}

/// Gives a link its former settings, if nobody has changed them since.
async fn reset(
    services: &Services,
    link: &Value,
    from: &LinkSettings,
    to: &LinkSettings,
) -> ToolResult<Taken> {
    let (id, name) = (text(link, "id"), text(link, "file_name"));
    let now = LinkSettings::of(link);
    if now == *from {
        return Ok(Ok(format!("the link to {name} is as before already")));
    }
    if now != *to {
        return Ok(Err(format!("the link to {name} was changed since")));
    }
    let Some(body) = from.request_from(to) else {
        return Ok(Err(format!(
            "the link to {name} would have expired by now as it was before"
        )));
    };
    services
        .request(Verb::Put, &["shares", &id], &[], Some(&body))
        .await?;
    Ok(Ok(format!("the link to {name} is as before")))
}

fn text(link: &Value, field: &str) -> String {
    link[field].as_str().unwrap_or_default().to_owned()
}

async fn find(services: &Services, id: &str) -> ToolResult<Value> {
    services
        .request(Verb::Get, &["shares", id], &[], None)
        .await
}
