//! Addresses of share links in responses. The service knows them without the secret that opens them, which
//! the holder of the keys can add.

use crate::services::Services;
use cairn_space::Space;
use cairn_transfer::private_names;
use cairn_wire::shares::Share;
use serde_json::{Map, Value, json};

const INCOMPLETE: &str = "the address lacks its secret and opens nothing: set SERVICE_PASSPHRASE of the account that made the link";

/// The mark where the keys could not be opened in the time of the call.
const NO_TIME: &str = "the address lacks its secret and opens nothing: there was no time to complete it, list the link again later";

const NO_KEYS: &str = "the link was made without the account's keys, so that it opens nothing: with SERVICE_PASSPHRASE set, delete it and create another";

/// The mark of a link that was made with the keys, which carries what was there at that time.
const NO_FILES: &str = "the link carries no file, so that it opens nothing: delete it, and create another once there is a file in what it shares";

/// The mark of a link to something of a space that this account can't open (any more).
const OTHER_KEYS: &str = "the address lacks its secret and opens nothing: what it shares belongs to a space, such as that of a team, whose key this account does not have now";

/// Gives links in a response their whole addresses, for which the keys of their spaces are needed; marks those that
/// stay without their secret, or carry the keys of no file, and open nothing.
pub(crate) async fn complete_addresses(services: &Services, value: &mut Value) {
    mark_empty_links(value);
    if !has_incomplete_links(value) {
        return;
    }
    let Some(own) = services.space_if_any().await.ok().flatten() else {
        mark_others(INCOMPLETE, value);
        return;
    };
    complete(&own, value);
    if has_incomplete_links(value) {
        // A link does not say of which space it is.
        for team in services.teams().await.unwrap_or_default() {
            match services.team_space(team.space_id).await {
                Ok(space) => complete(&space, value),
                Err(error) => tracing::debug!(%error, "links of a team stay without their secret"),
            }
            if !has_incomplete_links(value) {
                break;
            }
        }
    }
    mark_others(OTHER_KEYS, value);
}

/// Marks the links whose addresses were not completed in time.
pub(crate) fn mark_incomplete(value: &mut Value) {
    mark_others(NO_TIME, value);
}

/// Marks links that open nothing, whatever secret their address has.
fn mark_empty_links(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(mark_empty_links),
        Value::Object(fields) => {
            let is_link = fields.contains_key("short_code") && fields.contains_key("url");
            if is_link && fields.get("files") == Some(&json!(0)) {
                let has_keys = fields.get("key_blob").is_some_and(|blob| !blob.is_null());
                let why = if has_keys { NO_FILES } else { NO_KEYS };
                fields.insert("opens_nothing".to_owned(), json!(why));
            }
            fields.values_mut().for_each(mark_empty_links);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn has_incomplete_links(value: &mut Value) -> bool {
    let mut found = false;
    visit_incomplete(value, &mut |_| found = true);
    found
}

/// Completes the addresses of the links that were made with the keys of a space, and opens their names.
fn complete(space: &Space, value: &mut Value) {
    let keys = space.keys();
    let names = keys.space().is_private().then(|| private_names(keys));
    visit_incomplete(value, &mut |fields| {
        let share = serde_json::from_value::<Share>(Value::Object(fields.clone()));
        let address = share
            .ok()
            .and_then(|share| space.share_address(&share).ok()?);
        let Some(address) = address else {
            return;
        };
        fields.insert("url".to_owned(), json!(address));
        let sealed = fields.get("file_name").and_then(Value::as_str);
        let opened = sealed.zip(names.as_ref());
        if let Some(name) = opened.and_then(|(sealed, names)| names.open(sealed)) {
            fields.insert("file_name".to_owned(), json!(name));
        }
    });
}

/// Marks the links that are still without their secret with the reason.
fn mark_others(reason: &str, value: &mut Value) {
    visit_incomplete(value, &mut |fields| {
        fields.insert("url_is_incomplete".to_owned(), json!(reason));
    });
}

/// Visits the links that were made with keys and whose addresses lack their secret.
fn visit_incomplete(value: &mut Value, visit: &mut dyn FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| visit_incomplete(item, visit)),
        Value::Object(fields) => {
            let keyed = fields.get("key_blob").is_some_and(|blob| !blob.is_null());
            let whole = fields
                .get("url")
                .and_then(Value::as_str)
                .is_none_or(|url| url.contains('#'));
            if keyed && !whole {
                visit(fields);
            }
            fields
                .values_mut()
                .for_each(|field| visit_incomplete(field, visit));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_opens_nothing_says_so() {
        let link = |files| json!({ "short_code": "a", "url": "https://x/s/a", "files": files });
        let mut list = json!({ "content": [link(0), link(2)], "results": [{ "share": link(0) }] });
        mark_empty_links(&mut list);
        assert!(list["content"][0]["opens_nothing"].is_string(), "{list}");
        assert!(list["content"][1].get("opens_nothing").is_none(), "{list}");
        assert!(list["results"][0]["share"]["opens_nothing"].is_string());
    }

    #[test]
    fn a_link_without_its_secret_says_so_where_there_was_no_time_to_add_it() {
        let link = |url, blob| json!({ "short_code": "a", "url": url, "key_blob": blob });
        let (short, whole) = ("https://x/s/a", "https://x/s/a#secret");
        let sealed = json!("sealed");
        let mut list = json!({ "content": [
            link(short, sealed.clone()), link(whole, sealed), link(short, Value::Null),
        ] });
        mark_incomplete(&mut list);
        let is_marked = |at: usize| list["content"][at]["url_is_incomplete"].is_string();
        assert_eq!([0, 1, 2].map(is_marked), [true, false, false], "{list}");
    }

    #[test]
    fn a_passphrase_is_asked_for_only_where_it_was_missing() {
        let link = |blob| {
            let mut link = json!({ "short_code": "a", "url": "u", "files": 0, "key_blob": blob });
            mark_empty_links(&mut link);
            link["opens_nothing"].to_string()
        };
        assert!(link(Value::Null).contains("SERVICE_PASSPHRASE"));
        let with_keys = link(json!("sealed"));
        assert!(!with_keys.contains("SERVICE_PASSPHRASE"), "{with_keys}");
        assert!(with_keys.contains("once there is a file"), "{with_keys}");
    }
}
