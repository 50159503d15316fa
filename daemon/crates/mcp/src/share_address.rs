//! Addresses of share links in responses. The service knows them without the secret that opens them, which
//! the holder of the keys can add.

use crate::services::Services;
use cairn_space::Space;
use cairn_wire::shares::Share;
use serde_json::{Value, json};

const INCOMPLETE: &str = "the address lacks its secret and opens nothing: set SERVICE_PASSPHRASE of the account that made the link";

/// Gives links in a response their whole addresses, for which the keys are needed; marks those that stay
/// without their secret and open nothing.
pub(crate) async fn complete_addresses(services: &Services, value: &mut Value) {
    if !has_keyed_links(value) {
        return;
    }
    let space = services.space_if_any().await.ok().flatten();
    complete(space.as_ref(), value);
}

fn has_keyed_links(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_keyed_links),
        Value::Object(fields) => {
            fields.get("key_blob").is_some_and(|blob| !blob.is_null())
                || fields.values().any(has_keyed_links)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn complete(space: Option<&Space>, value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| complete(space, item)),
        Value::Object(fields) => {
            let keyed = fields.get("key_blob").is_some_and(|blob| !blob.is_null());
            let whole = fields
                .get("url")
                .and_then(Value::as_str)
                .is_none_or(|url| url.contains('#'));
            if keyed && !whole {
                let share = serde_json::from_value::<Share>(Value::Object(fields.clone())).ok();
                let address = share.zip(space).and_then(|(share, space)| {
                    let address = space.share_address(&share);
                    address.ok().flatten()
                });
                match address {
                    Some(address) => fields.insert("url".to_owned(), json!(address)),
                    None => fields.insert("url_is_incomplete".to_owned(), json!(INCOMPLETE)),
                };
            }
            fields.values_mut().for_each(|field| complete(space, field));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
