//! The files that take up space: the largest, and those that nobody has changed for long. Counted over a
//! listing of all nodes, so that an assistant need not walk through the folders.

use crate::call::Call;
use crate::error::ToolResult;
use crate::tool::{ToolFuture, get};
use cairn_api::{Api, Paging};
use cairn_model::{Kind, NodeId};
use cairn_space::MAX_DEPTH;
use cairn_wire::Timestamp;
use cairn_wire::nodes::Node;
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use std::collections::HashMap;
use time::OffsetDateTime;

/// Files that are listed of each kind.
const LISTED: usize = 10;
/// Days without a change after which a file counts as stale.
const STALE_DAYS: i64 = 90;
const DAY_MS: i64 = 24 * 3600 * 1000;
/// The note beside the quota where nothing is known of the files.
const NO_FILES: &str = "which files take up the space is missing: the service gave no list of all files that can be used; list_files shows those of a folder";
/// Pages of 1,000 nodes that are read.
const MAX_PAGES: usize = 20;

pub(crate) fn storage(call: Call) -> ToolFuture {
    async move {
        let mut usage = call.send(&get("userusage/quota-limit")).await?;
        let now = OffsetDateTime::now_utc().unix_timestamp() * 1000;
        match all_files(&call.services.reads, now - STALE_DAYS * DAY_MS).await {
            Ok(files) => usage["files"] = files.to_json(),
            Err(error) => {
                let error = error.public_message();
                tracing::warn!(error, "the files of the account can't be listed");
                usage["note"] = json!(NO_FILES);
            }
        }
        Ok(usage)
    }
    .boxed()
}

/// The files of a space, as far as they are large or stale.
struct Files {
    stale_before: i64,
    folders: HashMap<NodeId, (String, Option<NodeId>)>,
    largest: Vec<Node>,
    largest_stale: Vec<Node>,
    stale_count: u64,
    stale_bytes: u64,
    is_complete: bool,
}

async fn all_files(api: &Api, stale_before: i64) -> ToolResult<Files> {
    let mut files = Files {
        stale_before,
        folders: HashMap::new(),
        largest: Vec::new(),
        largest_stale: Vec::new(),
        stale_count: 0,
        stale_bytes: 0,
        is_complete: false,
    };
    let mut paging = Paging::default();
    let mut after = None;
    for _ in 0..MAX_PAGES {
        let page = api.snapshot(after.as_deref()).await?;
        paging.advance(page.nodes.len(), page.next.as_deref())?;
        for node in page.nodes {
            files.add(node);
        }
        match page.next {
            Some(next) => after = Some(next),
            None => {
                files.is_complete = true;
                break;
            }
        }
    }
    Ok(files)
}

impl Files {
    fn add(&mut self, node: Node) {
        if node.kind == Kind::Folder {
            self.folders.insert(node.id, (node.name, node.parent_id));
            return;
        }
        if modified_at(&node).0 < self.stale_before {
            self.stale_count += 1;
            self.stale_bytes = self.stale_bytes.saturating_add(node.size);
            keep_largest(&mut self.largest_stale, &node);
        }
        keep_largest(&mut self.largest, &node);
    }

    fn to_json(&self) -> Value {
        let list = |nodes: &[Node]| -> Vec<Value> {
            nodes.iter().map(|node| self.shown_file(node)).collect()
        };
        let mut shown = json!({
            "largest": list(&self.largest),
            "not_modified_for_90_days": {
                "count": self.stale_count,
                "bytes": self.stale_bytes,
                "largest": list(&self.largest_stale),
            },
        });
        if !self.is_complete {
            let text =
                "there are more files than were looked at: `cairn list` and `cairn tree` show all";
            shown["note"] = json!(text);
        }
        shown
    }

    fn shown_file(&self, node: &Node) -> Value {
        json!({
            "file_uuid": node.id,
            "path": self.path(node),
            "size": node.size,
            "modified_at": modified_at(node),
        })
    }

    fn path(&self, node: &Node) -> String {
        let mut names = vec![node.name.as_str()];
        let mut above = node.parent_id;
        while let Some((name, parent)) = above.and_then(|id| self.folders.get(&id)) {
            names.push(name);
            above = *parent;
            if names.len() > MAX_DEPTH {
                break;
            }
        }
        names.push("");
        names.reverse();
        names.join("/")
    }
}

/// The file's own time of change, or that of its upload.
fn modified_at(node: &Node) -> Timestamp {
    node.modified_at.unwrap_or(node.created_at)
}

fn keep_largest(list: &mut Vec<Node>, node: &Node) {
    let at = list.partition_point(|other| other.size >= node.size);
    if at < LISTED {
        list.insert(at, node.clone());
        list.truncate(LISTED);
    }
}
