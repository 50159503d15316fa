//! The change feed: `GET /changes`, `GET /changes/stream` (SSE), `GET /changes/snapshot`; and `GET /changes/past`, what
//! nodes were before.
//!
//! A node stands in the feed once, at its latest change, in its present state. Trashing a folder is
//! one change of that folder; its descendants follow it without changes of their own. Restoring it
//! makes a change for each descendant.

use crate::Timestamp;
use crate::nodes::{Node, NodeState};
use cairn_model::{Cursor, DeviceId, NodeId};
use serde::{Deserialize, Serialize};

/// The latest change of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Created,
    Updated,
    Trashed,
    /// Gone from the trash too; `node` is null.
    Deleted,
}

/// One change.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Change {
    pub seq: u64,
    pub kind: ChangeKind,
    pub node_id: NodeId,
    pub node: Option<Node>,
}

/// `GET /changes?cursor=…&limit=…`; without a cursor: from the beginning of the feed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct ChangesQuery {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", param(value_type = Option<String>))]
    pub cursor: Option<Cursor>,
    /// 1 to 1,000, default 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// `GET /changes/stream?cursor=…&bare=…`; without a cursor: from now on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct StreamQuery {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", param(value_type = Option<String>))]
    pub cursor: Option<Cursor>,
    /// Push positions without the changes: for a client that asks for the changes itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "utoipa", param(required = false))]
    pub bare: bool,
}

/// Response of `GET /changes`. The states are consistent once `has_more` is false.
/// 410: the cursor is too old, or from another history: take a snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Changes {
    pub changes: Vec<Change>,
    pub cursor: Cursor,
    pub has_more: bool,
    /// Id of the change feed's history; another one after a backup was restored.
    #[serde(rename = "epoch")]
    pub history_id: String,
}

/// `GET /changes/snapshot?after=…&limit=…`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct SnapshotQuery {
    /// `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// 1 to 1,000, default 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// One page of all active nodes. `cursor` was taken before the first page: applying the changes
/// after it to all pages gives a consistent state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Snapshot {
    pub nodes: Vec<Node>,
    pub next: Option<String>,
    pub cursor: Cursor,
    /// Id of the change feed's history; another one after a backup was restored.
    #[serde(rename = "epoch")]
    pub history_id: String,
    /// The `seq` of the latest change before `cursor`, if there is any; older services leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
}

/// `GET /changes/past?since=…&after=…&limit=…`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct PastStatesQuery {
    /// Only what ended after this time; without it: everything that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", param(value_type = Option<String>, format = DateTime))]
    pub since: Option<Timestamp>,
    /// `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// 1 to 1,000, default 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// A state that a node had until it was moved, renamed, put into the trash or taken out of it. A node that went into
/// the trash with its folder, and out of it again, has no entry of its own for that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PastState {
    pub node_id: NodeId,
    pub parent_id: Option<NodeId>,
    pub name: String,
    pub state: NodeState,
    /// The end of that state.
    pub until: Timestamp,
    /// The device that ended it, if it is known.
    pub device_id: Option<DeviceId>,
}

/// One page of what nodes were, oldest first. Nodes that were deleted for good have none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PastStates {
    pub states: Vec<PastState>,
    pub next: Option<String>,
    /// The time since which no change is missing; 1970 for the whole life of the space.
    pub known_from: Timestamp,
}

/// Data of an SSE event `change` (event id = cursor). Several changes may share one event: it says
/// that the feed has moved, and up to where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct FeedMoved {
    pub cursor: Cursor,
    pub changes: Vec<Change>,
}
