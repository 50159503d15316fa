//! Files and folders: `/api/v1/nodes` (also `/v2/nodes`), trash and revisions.

use crate::{ErrorBody, Sealed, Timestamp};
use cairn_model::{Category, DeviceId, Kind, NameFormat, NodeId, RevisionId, SpaceId};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// Place of a node: in its folder or in the trash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum NodeState {
    Active,
    Trashed,
}

/// One file or folder. `parent_id` is null at the top of the space.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Node {
    pub id: NodeId,
    pub space_id: SpaceId,
    pub parent_id: Option<NodeId>,
    pub kind: Kind,
    pub name: String,
    /// `plain`; `sealed` is reserved for spaces with private names.
    #[cfg_attr(feature = "utoipa", schema(value_type = String))]
    pub name_format: NameFormat,
    /// Plaintext length in bytes; 0 for a folder.
    pub size: u64,
    pub mime_type: Option<String>,
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<String>))]
    pub category: Option<Category>,
    pub state: NodeState,
    pub revision_id: Option<RevisionId>,
    /// The node and revision for which the current content was sealed, if a keyless copy or restore
    /// brought it here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_source: Option<ContentSource>,
    /// The metadata version: grows by one at every change; the `ETag` begins with it.
    pub version: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// The file's own modification time, as its writer gave it.
    pub modified_at: Option<Timestamp>,
    pub executable: bool,
    pub description: String,
    pub labels: BTreeMap<String, String>,
    pub tags: Vec<String>,
    pub favorite: bool,
    /// The node seal of the last client that held the keys; null where the change was keyless.
    pub seal: Option<Sealed>,
    /// Position of the node's last change in the feed.
    pub seq: u64,
    /// The device of the last change, if it named itself.
    #[serde(default)]
    pub device_id: Option<DeviceId>,
}

/// The ids under which content was sealed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ContentSource {
    pub node_id: NodeId,
    pub revision_id: RevisionId,
}

/// The order of a list of nodes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeOrder {
    Name,
    /// The largest first.
    Size,
    /// The newest first.
    Date,
    /// An order that this version doesn't know.
    #[serde(untagged)]
    Unknown(String),
}

impl NodeOrder {
    /// The texts of the known orders.
    pub const TEXTS: &'static [&'static str] = &["name", "size", "date"];
}

/// `GET /nodes`: filters besides `page` and `page_size`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct ListNodes {
    /// The folder; the top of the space if omitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", param(value_type = Option<String>, format = Uuid))]
    pub parent_id: Option<NodeId>,
    /// Default `active`. With `trashed` the list is the trash and `parent_id` is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", param(value_type = Option<String>))]
    pub state: Option<NodeState>,
    /// `name` (default), `size` or `date`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", param(value_type = Option<String>))]
    pub sort_by: Option<NodeOrder>,
    /// An exact name inside the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u64>,
}

/// `GET /nodes/folder-sizes`: the folders of which folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct ListFolderSizes {
    /// The folder that they are in; the top of the space if omitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", param(value_type = Option<String>, format = Uuid))]
    pub parent_id: Option<NodeId>,
}

/// Response of `GET /nodes/folder-sizes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct FolderSizes {
    /// One for each folder in the folder, in no order; none if there is too much below them to add up.
    pub folders: Vec<FolderSize>,
    /// False if there is too much below them to add up.
    pub complete: bool,
}

/// The sum of all files below a folder, at every depth, without those in the trash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct FolderSize {
    pub node_id: NodeId,
    /// The number of files.
    pub files: u64,
    /// The sizes of all of them together: plaintext, present versions alone.
    pub bytes: u64,
}

/// `POST /nodes`: makes a folder. (Files come through uploads.)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreateNode {
    /// Chosen by the client, so that a repeated request is the same request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<NodeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<NodeId>,
    /// The kind: always `folder`.
    #[cfg_attr(feature = "utoipa", schema(value_type = String))]
    pub kind: Kind,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Sealed>,
}

/// `POST /nodes/folders`: a path of folders, those that are missing made in one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreateFolders {
    /// Names between slashes, at most 20.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<NodeId>,
}

/// Response of `POST /nodes/folders`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreatedFolders {
    /// One for each name of the path, from the top down.
    pub folders: Vec<Node>,
    /// The nodes among them that are new.
    pub created: Vec<NodeId>,
    pub leaf_id: NodeId,
}

/// `PUT /nodes/{id}`: only the given fields change, name and parent in one atomic step.
/// `If-Match: "VERSION"` guards it (412).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UpdateNode {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Absent: unchanged. Null: the top of the space.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_present"
    )]
    pub parent_id: Option<Option<NodeId>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub favorite: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Sealed>,
}

fn deserialize_present<'de, D, T>(d: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::<T>::deserialize(d).map(Some)
}

/// `POST /nodes/{id}/copy`: one atomic copy, a folder with everything below it. No key is needed:
/// a copied file points at the original's content through `content_source`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CopyNode {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<NodeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<NodeId>,
    /// Default: the original's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Sealed>,
}

/// `DELETE /nodes/{id}?seen=CURSOR`: into the trash, with everything below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct DeleteNode {
    /// A feed position: 409 if anything in the subtree changed after it (by another device).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}

/// One element of `POST /nodes/batch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum NodeOperation {
    CreateFolder {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<NodeId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_id: Option<NodeId>,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<Sealed>,
    },
    Move {
        id: NodeId,
        name: String,
        parent_id: Option<NodeId>,
        /// The same as `If-Match`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<Sealed>,
    },
    Trash {
        id: NodeId,
        /// The same as `seen` of DELETE.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<String>,
        /// The same as `If-Match`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<Sealed>,
    },
    /// Out of the trash, with everything that went there with it.
    Restore {
        id: NodeId,
        /// The same as `If-Match`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
        /// The seal of the state at the place from which it went to the trash; not kept if it comes back to
        /// another one, because its name or its folder is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<Sealed>,
        /// Only to that place: otherwise 409, and it stays in the trash.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        in_place: bool,
        /// The name under which it comes back where its own is in use. Without one it gets a number; in a private
        /// space it then stays in the trash (409), since the server can make no other name of a sealed one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
}

/// `POST /nodes/batch`: at most 1,000 operations, done in order; each succeeds or fails alone, or with its group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct NodeBatch {
    pub operations: Vec<NodeOperation>,
    /// Groups of operations of which all are done or none, in their order and apart from each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<Together>,
}

impl NodeBatch {
    /// Returns a batch without groups.
    #[must_use]
    pub fn each_alone(operations: Vec<NodeOperation>) -> Self {
        Self {
            operations,
            together: Vec::new(),
        }
    }
}

/// Consecutive operations of a batch that are done together, by their positions from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Together {
    pub first: u32,
    pub last: u32,
}

/// The response for one element of a batch: a node, or an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct NodeResult {
    pub status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Node>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

/// The response of `POST /nodes/batch` and `POST /uploads/batch`, in the order of the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct NodeResults {
    pub results: Vec<NodeResult>,
}

/// One content version of a file: an element of `GET /nodes/{id}/revisions` (newest first).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Revision {
    pub id: RevisionId,
    pub node_id: NodeId,
    pub number: u64,
    pub size: u64,
    pub created_at: Timestamp,
    pub modified_at: Option<Timestamp>,
    pub current: bool,
    pub device_id: Option<DeviceId>,
    /// E-mail of the account that wrote it.
    pub uploaded_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_source: Option<ContentSource>,
}

/// `POST /revisions/batch`: asks for the revisions that files had at a time; at most 1,000 files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RevisionsAt {
    pub nodes: Vec<NodeId>,
    pub at: Timestamp,
}

/// The response of `POST /revisions/batch`, in the order of the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct FilesRevisions {
    pub files: Vec<FileRevisions>,
}

/// The revision that a file had at a time, and its present one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct FileRevisions {
    pub node_id: NodeId,
    /// One or two, newest first; none for a folder, and for what is not there any more. Without one of the time
    /// only the present revision, if the other is not kept any more.
    pub revisions: Vec<Revision>,
}

/// Response of `DELETE /trash`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Emptied {
    /// Nodes deleted for good.
    pub deleted: u64,
}
