//! The resources: what an assistant can read without calling a tool. All of them are JSON; a failure
//! is a resource too, with the error in it.

use crate::arguments::is_uuid;
use crate::failure::{Outcome, ToolError};
use crate::services::Services;
use crate::tool::Verb;
use serde_json::{Value, json};

/// A resource with a fixed address.
pub(crate) struct Fixed {
    pub(crate) uri: &'static str,
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
}

/// A family of resources, one for each id.
pub(crate) struct Template {
    /// What stands before the id.
    pub(crate) base: &'static str,
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// What the id belongs to, in messages.
    thing: &'static str,
}

pub(crate) static FIXED: &[Fixed] = &[
    Fixed {
        uri: "service://files",
        name: "files",
        about: "The root folder, first 50 entries",
    },
    Fixed {
        uri: "service://shares",
        name: "shares",
        about: "Active share links, first 50",
    },
    Fixed {
        uri: "service://teams",
        name: "teams",
        about: "Your teams, first 50",
    },
    Fixed {
        uri: "service://profile",
        name: "profile",
        about: "Your social profile",
    },
    Fixed {
        uri: "service://usage",
        name: "usage",
        about: "Storage quota and AI usage",
    },
    Fixed {
        uri: "service://notifications",
        name: "notifications",
        about: "Unread notifications, at most 50",
    },
];

/// There only while a sync daemon runs.
pub(crate) static SYNC: Fixed = Fixed {
    uri: "service://sync",
    name: "sync",
    about: "State of the sync daemon on this machine",
};

pub(crate) static TEMPLATES: &[Template] = &[
    Template {
        base: "service://files/",
        name: "file",
        about: "One file or folder",
        thing: "file",
    },
    Template {
        base: "service://teams/",
        name: "team",
        about: "One team with members and roles",
        thing: "team",
    },
];

impl Template {
    pub(crate) fn uri(&self) -> String {
        format!("{}{{uuid}}", self.base)
    }
}

/// The content of a resource; `None` for an address that none has.
pub(crate) async fn read(services: &Services, uri: &str) -> Option<Value> {
    let outcome = match uri {
        "service://files" => {
            let query = [("page", "1"), ("page_size", "50"), ("state", "active")];
            get(services, &["nodes"], &query).await
        }
        "service://shares" => active_shares(services).await,
        "service://teams" => get(services, &["teams"], &[("page", "1"), ("page_size", "50")]).await,
        "service://profile" => get(services, &["social", "profile"], &[]).await,
        "service://usage" => usage(services).await,
        "service://notifications" => {
            let query = [("unread_only", "true"), ("limit", "50")];
            get(services, &["social", "notifications"], &query).await
        }
        "service://sync" if services.daemon.is_some() => {
            crate::sync_tools::ask(services, cairn_control::Request::Status).await
        }
        _ => {
            let (template, id) = TEMPLATES
                .iter()
                .find_map(|template| Some((template, uri.strip_prefix(template.base)?)))?;
            one(services, template, id).await
        }
    };
    let mut value = outcome.unwrap_or_else(|error| error.json());
    crate::clean::value(&mut value);
    crate::answer::leave_out_sealed(&mut value);
    Some(value)
}

async fn one(services: &Services, template: &Template, id: &str) -> Outcome<Value> {
    if !is_version_4(id) {
        let shown: String = id.chars().take(60).collect();
        return Err(ToolError::argument(format!(
            "`{shown}` is no UUID of version 4, as the id of a {} is",
            template.thing
        )));
    }
    let id = id.to_lowercase();
    match template.thing {
        "file" => get(services, &["nodes", &id], &[]).await,
        _ => get(services, &["teams", &id], &[]).await,
    }
}

async fn active_shares(services: &Services) -> Outcome<Value> {
    let query = [("page", "0"), ("page_size", "50")];
    let mut page = get(services, &["shares"], &query).await?;
    if let Some(Value::Array(links)) = page.get_mut("content") {
        links.retain(|link| link["is_active"] != json!(false));
    }
    Ok(page)
}

/// Two answers in one; the AI's part may fail alone.
async fn usage(services: &Services) -> Outcome<Value> {
    let (account, ai) = futures_util::future::join(
        get(services, &["useraccount", "composite"], &[]),
        get(services, &["ai", "usage"], &[]),
    )
    .await;
    let account = account?;
    let storage = account.get("usage").cloned().unwrap_or(Value::Null);
    Ok(json!({
        "storage": storage,
        "account": account,
        "ai_usage": ai.unwrap_or_else(|error| error.json()),
    }))
}

async fn get(services: &Services, path: &[&str], query: &[(&str, &str)]) -> Outcome<Value> {
    let query: Vec<_> = query
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    services.request(Verb::Get, path, &query, None).await
}

fn is_version_4(text: &str) -> bool {
    let at = |index: usize| text.as_bytes().get(index).copied().unwrap_or(0);
    is_uuid(text)
        && at(14) == b'4'
        && matches!(at(19).to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b')
}

/// Ids that begin with what was typed, for a template.
pub(crate) async fn complete(services: &Services, uri: &str, typed: &str) -> Vec<String> {
    let Some(template) = TEMPLATES
        .iter()
        .find(|template| uri.starts_with(template.base))
    else {
        return Vec::new();
    };
    let path = match template.thing {
        "file" => "nodes",
        _ => "teams",
    };
    let query = [("page", "1"), ("page_size", "100")];
    // Nothing to choose from is no error for whoever is typing.
    let page = get(services, &[path], &query).await.unwrap_or_default();
    let typed = typed.to_lowercase();
    page["content"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|item| item["id"].as_str())
        .filter(|id| id.starts_with(&typed))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_version_4_counts() {
        assert!(is_version_4("123E4567-e89b-42d3-A456-426614174000"));
        for bad in [
            "123e4567-e89b-12d3-a456-426614174000",
            "123e4567-e89b-42d3-c456-426614174000",
            "not-a-uuid",
            "",
        ] {
            assert!(!is_version_4(bad), "{bad}");
        }
    }
}
