//! Records what a session's calls change of share links, for its undo.

use crate::services::Services;
use crate::session_call_time::CallTime;
use crate::session_journal::LinkChange;
use crate::session_state::LinkSettings;
use cairn_api::{ApiError, Method};
use cairn_wire::Timestamp;
use serde_json::Value;

/// A link before a call changes it.
pub(crate) struct LinkBefore {
    id: String,
    link: Value,
    sets_password: bool,
}

/// Reads a link that a call is about to change; `None` if the service has none for this caller, as the call itself says,
/// and for a record that can't be read.
///
/// # Errors
/// [`ApiError`] if it can't be read now.
pub(crate) async fn read_before(
    services: &Services,
    code: &str,
    sets_password: bool,
) -> Result<Option<LinkBefore>, ApiError> {
    let link = match read_link(services, code).await {
        Ok(link) => link,
        Err(
            ApiError::NotFound { .. }
            | ApiError::Forbidden { .. }
            | ApiError::Gone { .. }
            | ApiError::Rejected { .. },
        ) => return Ok(None),
        Err(error) => return Err(error),
    };
    // Only other services than Cairn's have links without an id; the code names them as well.
    let id = link["id"].as_str().unwrap_or(code).to_owned();
    Ok(link.is_object().then_some(LinkBefore {
        id,
        link,
        sets_password,
    }))
}

/// Returns a link as the service has it, by its code or id: other services than Cairn's have fewer fields.
///
/// # Errors
/// Those of the service.
pub(crate) async fn read_link(services: &Services, code: &str) -> Result<Value, ApiError> {
    let path = ["shares", code];
    services.reads.call(Method::GET, &path, &[], None).await
}

/// Notes what a call without a result has changed of a link at its time, and returns whether it has changed anything.
///
/// # Errors
/// [`ApiError`] if the link can't be read now; one that is deleted has nothing to take back.
pub(crate) async fn after_if_changed(
    services: &Services,
    before: &LinkBefore,
    time: CallTime,
) -> Result<bool, ApiError> {
    let link = match read_link(services, &before.id).await {
        Ok(link) => link,
        Err(ApiError::NotFound { .. } | ApiError::Gone { .. }) => return Ok(false),
        Err(error) => return Err(error),
    };
    let is_changed =
        link["updated_at"] != before.link["updated_at"] && is_in_time(&link["updated_at"], time);
    if is_changed {
        for change in changes(before, &link) {
            services.journal.note_link_once(before.id.clone(), change);
        }
    }
    Ok(is_changed)
}

/// Returns true for a time in a record at which a call can have changed it.
pub(crate) fn is_in_time(at: &Value, time: CallTime) -> bool {
    let at = at.as_str().and_then(Timestamp::parse);
    at.is_some_and(|at| time.may_include(at))
}

/// Notes what a call has changed of a link.
///
/// # Errors
/// [`ApiError`] if the link can't be read; nothing is noted then.
pub(crate) async fn after(services: &Services, before: &LinkBefore) -> Result<(), ApiError> {
    let link = read_link(services, &before.id).await?;
    for change in changes(before, &link) {
        services.journal.note_link(before.id.clone(), change);
    }
    Ok(())
}

/// Returns what is different of a link since a call.
fn changes(before: &LinkBefore, link: &Value) -> Vec<LinkChange> {
    let mut changes = Vec::new();
    if before.sets_password {
        changes.push(LinkChange::Password);
    }
    let (from, to) = (LinkSettings::of(&before.link), LinkSettings::of(link));
    if from != to {
        changes.push(LinkChange::Settings { from, to });
    }
    changes
}

/// Returns the ids of the links that a call has made, from its result.
pub(crate) fn created_links(result: &Value) -> Vec<String> {
    let many = result["results"].as_array().into_iter().flatten();
    let all = std::iter::once(result).chain(many);
    all.map(|one| one.get("share").unwrap_or(one))
        .filter(|link| link["short_code"].is_string())
        .filter_map(|link| Some(link["id"].as_str()?.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn links_are_found_in_every_form_of_result() {
        let link = json!({ "id": "1", "short_code": "a" });
        assert_eq!(created_links(&link), ["1"]);
        assert_eq!(
            created_links(&json!({ "share": link, "email_sent": false })),
            ["1"]
        );
        let many = json!({ "results": [{ "share": link }, { "error": "x" }, { "share": link }] });
        assert_eq!(created_links(&many), ["1", "1"]);
        assert!(created_links(&json!({ "id": "node" })).is_empty());
    }
}
