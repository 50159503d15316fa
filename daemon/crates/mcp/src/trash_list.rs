//! The trash of the account and of its teams, last deleted first, so that what was deleted by mistake is found
//! among much.

use crate::call::Call;
use crate::error::ToolResult;
use crate::param::SKIP;
use crate::services::Services;
use crate::tool::ToolFuture;
use cairn_model::NodeId;
use cairn_wire::nodes::Node;
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Nodes that are listed unless the call asks for another number.
const LIMIT: usize = 20;

pub(crate) fn list_trash(call: Call) -> ToolFuture {
    async move {
        let number = |name: &str| {
            let given = call.arguments.get(name).and_then(Value::as_u64);
            given.and_then(|n| usize::try_from(n).ok())
        };
        let skip = number(SKIP.name).unwrap_or_default();
        let mut list = read(&call.services, skip, number("limit").unwrap_or(LIMIT)).await?;
        let shown = skip + list["content"].as_array().map_or(0, Vec::len);
        if list["totalElements"].as_u64() > Some(shown as u64) {
            list["next"] = json!({ "skip": shown });
        }
        Ok(list)
    }
    .boxed()
}

/// Returns what was deleted last, in the account's own space and in those of its teams, behind the first `skip`.
///
/// # Errors
/// The error of the service for the own space; a team whose trash can't be read is named.
pub(crate) async fn read(services: &Services, skip: usize, limit: usize) -> ToolResult<Value> {
    let mut nodes = services.reads.trash().await?;
    let mut unread = Vec::new();
    for team in services.teams().await? {
        match services.reads_in(team.space_id).await.trash().await {
            Ok(trashed) => nodes.extend(trashed),
            Err(error) => {
                tracing::warn!(team = %team.id, %error, "its trash can't be read");
                unread.push(team.name);
            }
        }
    }
    let mut list = list(nodes, skip, limit);
    if !unread.is_empty() {
        list["teams_not_read"] = json!(unread);
        list["note"] = json!("the trash of some teams can't be read now");
    }
    Ok(list)
}

fn list(mut nodes: Vec<Node>, skip: usize, limit: usize) -> Value {
    let total = nodes.len();
    let trashed: HashSet<NodeId> = nodes.iter().map(|node| node.id).collect();
    nodes.sort_by_key(|node| Reverse(node.updated_at));
    let rows = nodes.iter().skip(skip).take(limit).map(|node| {
        let mut row = json!(node);
        // The last change of what went along with its folder is an older one.
        if node
            .parent_id
            .is_none_or(|parent| !trashed.contains(&parent))
        {
            row["trashed_at"] = row["updated_at"].clone();
        }
        row
    });
    json!({ "content": rows.collect::<Vec<_>>(), "totalElements": total })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(n: u8, parent: Option<u8>, at: &str) -> Node {
        let id = |n: u8| NodeId::from_random_bytes([n; 16]);
        let node = json!({
            "id": id(n), "space_id": id(9), "parent_id": parent.map(id), "kind": "folder", "name": "a",
            "name_format": "plain", "size": 0, "mime_type": null, "category": null, "state": "trashed",
            "revision_id": null, "version": 1, "created_at": at, "updated_at": at, "modified_at": null,
            "executable": false, "description": "", "labels": {}, "tags": [], "favorite": false,
            "seal": null, "seq": 1,
        });
        serde_json::from_value(node).unwrap()
    }

    #[test]
    fn what_went_along_with_its_folder_has_no_time_of_its_own() {
        let (early, late) = ("2026-11-20T00:00:00.000Z", "2026-11-22T00:00:00.000Z");
        let nodes = vec![
            node(1, Some(2), early),
            node(2, Some(3), late),
            node(4, None, early),
        ];
        let list = list(nodes, 0, 20);
        assert_eq!(list["content"][0]["trashed_at"], late, "{list}");
        let times: Vec<bool> = list["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["trashed_at"].is_string())
            .collect();
        assert_eq!(times, [true, false, true], "{list}");
    }

    #[test]
    fn a_list_goes_on_behind_what_was_shown() {
        let at = |n: u8| format!("2026-11-{n}T00:00:00.000Z");
        let nodes: Vec<_> = (10..15).map(|n| node(n, None, &at(n))).collect();
        let list = list(nodes, 2, 2);
        let shown = list["content"].as_array().unwrap();
        let times: Vec<_> = shown.iter().map(|row| &row["updated_at"]).collect();
        assert_eq!(times, [&json!(at(12)), &json!(at(11))], "{list}");
        assert_eq!(list["totalElements"], 5);
    }
}
