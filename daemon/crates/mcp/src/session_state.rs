//! Details of files and settings of links, before and after a change, for a session's undo.

use cairn_wire::nodes::Node;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The settings of a link that can be read and set again. Of a password only the verifier is known.
const SETTINGS: [&str; 4] = ["is_active", "access_mode", "allowed_emails", "expires_at"];
const SECONDS_OF_DAY: f64 = 24.0 * 3600.0;

/// The details of a node that people and tools set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Details {
    pub(crate) description: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) favorite: bool,
}

impl Details {
    pub(crate) fn of(node: &Node) -> Self {
        Self {
            description: node.description.clone(),
            labels: node.labels.clone(),
            favorite: node.favorite,
        }
    }

    /// Returns these details with those of `target` where it differs from `base`.
    pub(crate) fn with_change(&self, base: &Self, target: &Self) -> Self {
        let mut changed = self.clone();
        if base.description != target.description {
            changed.description.clone_from(&target.description);
        }
        if base.labels != target.labels {
            changed.labels.clone_from(&target.labels);
        }
        if base.favorite != target.favorite {
            changed.favorite = target.favorite;
        }
        changed
    }
}

/// The settings of a link at a time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct LinkSettings(Map<String, Value>);

impl LinkSettings {
    pub(crate) fn of(link: &Value) -> Self {
        let setting = |name: &&str| ((*name).to_owned(), link[*name].clone());
        Self(SETTINGS.iter().map(setting).collect())
    }

    /// Returns the body of a request that makes these settings of others; `None` for an expiry in the past.
    pub(crate) fn request_from(&self, others: &Self) -> Option<Value> {
        let mut body = Map::new();
        for (name, value) in &self.0 {
            if others.0.get(name) == Some(value) {
                continue;
            }
            if name == "expires_at" {
                let days = match value.as_str() {
                    Some(at) => json!(days_until(at)?),
                    None => Value::Null,
                };
                body.insert("expiry_days".to_owned(), days);
            } else {
                body.insert(name.clone(), value.clone());
            }
        }
        Some(Value::Object(body))
    }
}

/// Returns the days until a time, if it is to come.
fn days_until(at: &str) -> Option<f64> {
    let at = OffsetDateTime::parse(at, &Rfc3339).ok()?;
    let days = (at - OffsetDateTime::now_utc()).as_seconds_f64() / SECONDS_OF_DAY;
    (days > 0.0).then_some(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(expires_at: Value, is_active: bool) -> LinkSettings {
        LinkSettings::of(&json!({
            "id": "1", "is_active": is_active, "access_mode": "download", "allowed_emails": [],
            "expires_at": expires_at,
        }))
    }

    #[test]
    fn only_what_differs_is_set_again() {
        let never = settings(Value::Null, true);
        let soon = settings(json!("2999-01-01T00:00:00.000Z"), false);
        let body = never.request_from(&soon).unwrap();
        assert_eq!(body, json!({ "expiry_days": null, "is_active": true }));
        let body = soon.request_from(&never).unwrap();
        assert!(body["expiry_days"].as_f64().unwrap() > 300_000.0, "{body}");
        let past = settings(json!("2001-01-01T00:00:00.000Z"), true);
        assert!(past.request_from(&never).is_none());
    }

    fn details(description: &str, favorite: bool) -> Details {
        Details {
            description: description.to_owned(),
            labels: BTreeMap::new(),
            favorite,
        }
    }

    #[test]
    fn only_what_was_changed_is_given_back() {
        let (from, to) = (details("a", false), details("b", false));
        let since = details("b", true);
        assert_eq!(since.with_change(&to, &from), details("a", true));
        assert_eq!(since.with_change(&from, &to), since);
        let other = details("c", false);
        assert_ne!(other.with_change(&from, &to), other);
    }
}
