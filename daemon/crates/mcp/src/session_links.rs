//! Records what a session's calls change of share links, for its undo.

use crate::services::Services;
use crate::session_journal::LinkChange;
use crate::session_state::LinkSettings;
use serde_json::{Value, json};

/// A link before a call changes it.
pub(crate) struct LinkBefore {
    link: Value,
    sets_password: bool,
}

/// Reads a link that a call is about to change; `None` if that fails, as the call says why itself.
pub(crate) async fn read_before(
    services: &Services,
    code: &str,
    sets_password: bool,
) -> Option<LinkBefore> {
    let link = services.reads.share(code).await.ok()?;
    Some(LinkBefore {
        link: json!(link),
        sets_password,
    })
}

/// Notes what a call without a result has changed of a link, if it did; `None` if the link can't be read.
pub(crate) async fn after_if_changed(services: &Services, before: &LinkBefore) -> Option<bool> {
    let id = before.link["id"].as_str()?;
    let link = json!(services.reads.share(id).await.ok()?);
    let is_changed = link["updated_at"] != before.link["updated_at"];
    if is_changed {
        after(services, before).await;
    }
    Some(is_changed)
}

/// Notes what a call has changed of a link.
pub(crate) async fn after(services: &Services, before: &LinkBefore) {
    let id = before.link["id"].as_str().unwrap_or_default().to_owned();
    if before.sets_password {
        services.journal.note_link(id.clone(), LinkChange::Password);
    }
    let Ok(link) = services.reads.share(&id).await else {
        return;
    };
    let (from, to) = (
        LinkSettings::of(&before.link),
        LinkSettings::of(&json!(link)),
    );
    if from != to {
        let change = LinkChange::Settings { from, to };
        services.journal.note_link(id, change);
    }
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
