//! The resources, which an assistant reads without calling a tool. All of them are JSON; an error
//! is a resource too. A resource belongs to the tools that return the same, and is offered with them.

use crate::arguments::is_uuid;
use crate::error::{ToolError, ToolResult};
use crate::selection::Selection;
use crate::services::Services;
use crate::shorten::{Rows, shorten};
use crate::tool::Verb;
use serde_json::{Value, json};

/// The number of links that the resource of links shows.
const MAX_SHARES: usize = 50;
/// The number of nodes that the resource of the trash shows.
const MAX_TRASHED: usize = 50;
/// The number of pages of links that are searched for active ones.
const MAX_SHARE_PAGES: u32 = 10;

/// A resource with a fixed address.
pub(crate) struct FixedResource {
    pub(crate) uri: &'static str,
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// The tools that return the same: without all of them it is not offered.
    tools: &'static [&'static str],
}

/// A resource template with an id.
pub(crate) struct Template {
    /// The address before the id.
    pub(crate) base: &'static str,
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// The kind of thing that the id names, for messages.
    noun: &'static str,
    /// The tools that return the same: without all of them it is not offered.
    tools: &'static [&'static str],
}

pub(crate) static FIXED: &[FixedResource] = &[
    FixedResource {
        uri: "service://files",
        name: "files",
        description: "The root folder, first 50 entries",
        tools: &["list_files"],
    },
    FixedResource {
        uri: "service://shares",
        name: "shares",
        description: "Active share links, first 50",
        tools: &["list_share_links"],
    },
    FixedResource {
        uri: "service://teams",
        name: "teams",
        description: "Your teams, first 50",
        tools: &["list_teams"],
    },
    FixedResource {
        uri: "service://profile",
        name: "profile",
        description: "Your social profile",
        tools: &["get_profile"],
    },
    FixedResource {
        uri: "service://usage",
        name: "usage",
        description: "Storage quota and AI usage",
        tools: &["get_storage_usage", "get_ai_usage", "get_account_info"],
    },
    FixedResource {
        uri: "service://notifications",
        name: "notifications",
        description: "Unread notifications, at most 50",
        tools: &["get_notifications"],
    },
];

/// The resource of the sync daemon.
pub(crate) static SYNC: FixedResource = FixedResource {
    uri: "service://sync",
    name: "sync",
    description: "State of the sync daemon on this machine",
    tools: &["sync_status"],
};

/// The resource of the trash, beside that of the sync daemon.
pub(crate) static TRASH: FixedResource = FixedResource {
    uri: "service://trash",
    name: "trash",
    description: "What was deleted last, at most 50; restore_from_trash brings it back",
    tools: &["list_trash"],
};

pub(crate) static TEMPLATES: &[Template] = &[
    Template {
        base: "service://files/",
        name: "file",
        description: "One file or folder",
        noun: "file",
        tools: &["get_file_info"],
    },
    Template {
        base: "service://teams/",
        name: "team",
        description: "One team with members and roles",
        noun: "team",
        tools: &["get_team_info"],
    },
];

impl FixedResource {
    pub(crate) fn is_offered(&self, selection: &Selection) -> bool {
        offers_any(selection, self.tools)
    }
}

fn offers_any(selection: &Selection, tools: &[&str]) -> bool {
    tools.iter().any(|tool| selection.find(tool).is_some())
}

/// Returns true for an address of a resource that is offered, or of none that is known.
fn is_offered(selection: &Selection, uri: &str) -> bool {
    let own = [&SYNC, &TRASH];
    let mut fixed = FIXED.iter().chain(own).filter(|fixed| fixed.uri == uri);
    let mut templates = TEMPLATES
        .iter()
        .filter(|template| uri.starts_with(template.base));
    fixed.all(|fixed| fixed.is_offered(selection))
        && templates.all(|template| template.is_offered(selection))
}

impl Template {
    pub(crate) fn is_offered(&self, selection: &Selection) -> bool {
        offers_any(selection, self.tools)
    }

    pub(crate) fn uri(&self) -> String {
        format!("{}{{uuid}}", self.base)
    }
}

/// Returns the content of a resource, `None` for an unknown address and one that is not offered.
pub(crate) async fn read(services: &Services, selection: &Selection, uri: &str) -> Option<Value> {
    if !is_offered(selection, uri) {
        return None;
    }
    let outcome = match uri {
        "service://files" => {
            let query = [("page", "1"), ("page_size", "50"), ("state", "active")];
            get_under(services, "/v2", &["nodes"], &query).await
        }
        "service://shares" => active_shares(services).await,
        "service://teams" => {
            let query = [("page", "1"), ("page_size", "50")];
            get(services, &["team"], &query).await
        }
        "service://profile" => get(services, &["social", "profile"], &[]).await,
        "service://usage" => usage(services).await,
        "service://notifications" => {
            let query = [("unread_only", "true"), ("limit", "50")];
            get(services, &["social", "notifications"], &query).await
        }
        "service://trash" if services.daemon.is_some() => {
            crate::trash_list::read(services, 0, MAX_TRASHED).await
        }
        "service://sync" if services.daemon.is_some() => {
            crate::sync_tools::status::read(services).await
        }
        _ => {
            let (template, id) = TEMPLATES
                .iter()
                .find_map(|template| Some((template, uri.strip_prefix(template.base)?)))?;
            read_one(services, template, id).await
        }
    };
    let texts = services.foreign_texts;
    let mut value = match outcome {
        Ok(value) => value,
        Err(error) => return Some(json!({ "error": texts.error_message(&error, None) })),
    };
    crate::share_address::complete_addresses(services, &mut value).await;
    crate::node_paths::add(services, &mut value).await;
    crate::clean::value(&mut value);
    crate::strip_fields::remove_useless_fields(&mut value);
    texts.guard_resource(uri, &mut value);
    crate::strip_fields::shorten_rows(&mut value);
    crate::node_summaries::shorten_nodes(&mut value);
    Some(shorten(value, Rows::ShownHereOnly))
}

async fn read_one(services: &Services, template: &Template, id: &str) -> ToolResult<Value> {
    // Ids of devices are UUIDs of version 8, those of the service of version 4: any of them is asked for.
    if !is_uuid(id) {
        let shown: String = id.chars().take(60).collect();
        return Err(ToolError::argument(format!(
            "`{shown}` is not a UUID, which the id of a {} is",
            template.noun
        )));
    }
    let id = id.to_lowercase();
    match template.noun {
        "file" => get_under(services, "/v2", &["nodes", &id], &[]).await,
        _ => get(services, &["team", &id], &[]).await,
    }
}

/// Returns the first active links. Ended ones are left out, so that further pages may be needed.
async fn active_shares(services: &Services) -> ToolResult<Value> {
    let mut active = Vec::new();
    let mut last = false;
    for page in 0..MAX_SHARE_PAGES {
        let page = page.to_string();
        let query = [("page", page.as_str()), ("size", "50")];
        let mut list = get(services, &["webshare", "url"], &query).await?;
        let links = list["content"].as_array_mut().map(std::mem::take);
        let links = links.unwrap_or_default();
        last = links.len() < MAX_SHARES;
        active.extend(links.into_iter().filter(|link| link["status"] == "active"));
        if last || active.len() >= MAX_SHARES {
            break;
        }
    }
    let complete = last && active.len() <= MAX_SHARES;
    active.truncate(MAX_SHARES);
    let mut shares = json!({ "content": active, "page": 0, "pageSize": MAX_SHARES });
    if complete {
        shares["totalElements"] = json!(active.len());
    } else {
        shares["hint"] = json!("there are more: list_share_links has all of them");
    }
    Ok(shares)
}

/// Merges two responses; the one about AI may fail alone.
async fn usage(services: &Services) -> ToolResult<Value> {
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

async fn get_under(
    services: &Services,
    root: &str,
    path: &[&str],
    query: &[(&str, &str)],
) -> ToolResult<Value> {
    let query: Vec<_> = query
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    services
        .request_under(root, Verb::Get, path, &query, None)
        .await
}

async fn get(services: &Services, path: &[&str], query: &[(&str, &str)]) -> ToolResult<Value> {
    get_under(services, "/api/v1", path, query).await
}

/// Returns the ids of a template that begin with the typed text, `None` for an unknown address.
pub(crate) async fn complete(
    services: &Services,
    selection: &Selection,
    uri: &str,
    argument: &str,
    typed: &str,
) -> Option<Vec<String>> {
    let mut templates = TEMPLATES.iter();
    let template = templates.find(|template| uri.starts_with(template.base));
    let Some(template) = template.filter(|_| is_offered(selection, uri)) else {
        let mut fixed = FIXED.iter().chain([&SYNC, &TRASH]);
        let is_fixed = fixed.any(|fixed| fixed.uri == uri);
        return (is_fixed && is_offered(selection, uri)).then(Vec::new);
    };
    if argument != "uuid" {
        return Some(Vec::new());
    }
    let path = match template.noun {
        "file" => "nodes",
        _ => "teams",
    };
    let query = [("page", "1"), ("page_size", "100")];
    // Nothing to choose from is no error for whoever is typing.
    let page = get(services, &[path], &query).await.unwrap_or_default();
    let typed = typed.to_lowercase();
    let ids = page["content"].as_array().into_iter().flatten();
    let ids = ids.filter_map(|item| item["id"].as_str());
    let ids = ids.filter(|id| is_uuid(id) && id.starts_with(&typed));
    Some(ids.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::ToolFilter;

    #[test]
    fn a_resource_is_offered_with_the_tools_that_return_the_same() {
        let of = |tools: &[&str]| {
            let filter = ToolFilter {
                tools: tools.iter().map(|name| (*name).to_owned()).collect(),
                ..ToolFilter::default()
            };
            Selection::new(&filter, true).unwrap()
        };
        let id = "123e4567-e89b-42d3-a456-426614174000";
        let file = format!("service://files/{id}");
        let compute = of(&["compute"]);
        let fixed = FIXED.iter().chain([&SYNC, &TRASH]);
        assert!(fixed.clone().all(|fixed| !fixed.is_offered(&compute)));
        assert!(!is_offered(&compute, &file));
        let all = Selection::new(&ToolFilter::default(), true).unwrap();
        assert!(fixed.clone().all(|fixed| fixed.is_offered(&all)));
        assert!(TEMPLATES.iter().all(|template| template.is_offered(&all)));
        let info = of(&["get_file_info", "sync_status"]);
        assert!(is_offered(&info, &file) && is_offered(&info, "service://sync"));
        assert!(!is_offered(&info, "service://files"));
    }
}
