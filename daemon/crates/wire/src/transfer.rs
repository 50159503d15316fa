//! Content up and down: `/api/v1/uploads`, `/api/v1/downloads`, manifests and chunks.

use crate::nodes::ContentSource;
use crate::{ErrorBody, Sealed, Timestamp};
use cairn_model::{ChunkId, NodeId, RevisionId, UploadId};
use serde::{Deserialize, Serialize};

/// Files in one batch at most.
pub const BATCH_FILES: usize = 256;
/// Payload bytes in one batch at most.
pub const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// The largest sealed chunk that the server takes: 4 MiB of plaintext, padded, with its tag.
pub const MAX_SEALED_CHUNK: usize = 5 * 1024 * 1024;

/// A chunk, or a list of chunks, as the server sees it: its id and the length of its **sealed** bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SealedChunk {
    pub id: ChunkId,
    pub size: u64,
}

/// `POST /uploads`: begins a resumable upload of a new file or a new revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreateUpload {
    /// The client chooses the node's id, because content is sealed to it.
    pub node_id: NodeId,
    /// Likewise; also what makes `complete` repeatable.
    pub revision_id: RevisionId,
    /// The head that this revision replaces. Absent: the node is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_revision_id: Option<RevisionId>,
    /// The folder of a new node (the top of the space if absent); its name follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<NodeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Plaintext length in bytes.
    pub size: u64,
    /// All objects of the revision: chunks in file order, then the lists of them. Chunks that are there, of
    /// this file or of one that it was copied from, are not sent again.
    pub chunks: Vec<SealedChunk>,
    /// In a batch: a revision of a file of the same space, maybe of this one. The new one has all of its objects;
    /// `chunks` is empty, and nothing is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<ContentSource>,
}

/// Response of `POST /uploads` (201) and `GET /uploads/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Upload {
    pub upload_id: UploadId,
    pub node_id: NodeId,
    pub revision_id: RevisionId,
    /// Chunks that the server still needs, each once, in file order.
    pub missing: Vec<ChunkId>,
    /// Base address for `PUT {chunk_url}/uploads/{upload_id}/chunks/{chunk_id}`.
    pub chunk_url: String,
    pub expires_at: Timestamp,
}

/// `POST /uploads/{id}/complete`: atomic; returns the node.
/// 409 (head in `ETag`) if the base is no longer the head or the name is taken; 412 if the node has another
/// version than `base_version`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CompleteUpload {
    /// The version of the node that `executable` and `seal` of a new revision were made for. Absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_version: Option<u64>,
    pub manifest: Sealed,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<Timestamp>,
    #[serde(default)]
    pub executable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Sealed>,
}

/// Head of the frame of `POST /uploads/batch`; the payload is the sealed chunks of all files, in order.
/// The response is [`crate::nodes::NodeResults`] as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UploadBatch {
    #[cfg_attr(feature = "utoipa", schema(value_type = Vec<PlainBatchFile>))]
    pub files: Vec<BatchFile>,
}

/// One file of an upload batch: the fields of both requests in one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PlainBatchFile")]
pub struct BatchFile {
    #[serde(flatten)]
    pub create: CreateUpload,
    #[serde(flatten)]
    pub complete: CompleteUpload,
}

/// The form in which a [`BatchFile`] is read and described: a flattened one could neither refuse
/// unknown fields nor be read without a detour through maps.
#[derive(Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema), schema(as = BatchFile))]
#[serde(deny_unknown_fields)]
struct PlainBatchFile {
    node_id: NodeId,
    revision_id: RevisionId,
    base_revision_id: Option<RevisionId>,
    parent_id: Option<NodeId>,
    name: Option<String>,
    size: u64,
    chunks: Vec<SealedChunk>,
    copy_of: Option<ContentSource>,
    base_version: Option<u64>,
    manifest: Sealed,
    modified_at: Option<Timestamp>,
    #[serde(default)]
    executable: bool,
    seal: Option<Sealed>,
}

impl From<PlainBatchFile> for BatchFile {
    fn from(plain: PlainBatchFile) -> Self {
        Self {
            create: CreateUpload {
                node_id: plain.node_id,
                revision_id: plain.revision_id,
                base_revision_id: plain.base_revision_id,
                parent_id: plain.parent_id,
                name: plain.name,
                size: plain.size,
                chunks: plain.chunks,
                copy_of: plain.copy_of,
            },
            complete: CompleteUpload {
                base_version: plain.base_version,
                manifest: plain.manifest,
                modified_at: plain.modified_at,
                executable: plain.executable,
                seal: plain.seal,
            },
        }
    }
}

/// `POST /downloads/batch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DownloadBatch {
    pub files: Vec<DownloadFile>,
    /// With `false` only manifests come: no chunks, and no lists of them.
    #[serde(default = "yes")]
    pub content: bool,
}

fn yes() -> bool {
    true
}

/// A revision of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DownloadFile {
    pub node_id: NodeId,
    pub revision_id: RevisionId,
}

/// Head of the frame that answers `POST /downloads/batch`; the payload is the chunks of the files
/// with status 200, in order. A file that would exceed the limit of the batch has status 413: it has to be
/// requested again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DownloadedBatch {
    pub files: Vec<DownloadedFile>,
}

/// One file of a download batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DownloadedFile {
    pub status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<RevisionContent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

/// Everything sealed that a revision consists of, chunks aside.
/// Response of `GET /nodes/{id}/revisions/{rev}/manifest`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RevisionContent {
    pub node_id: NodeId,
    pub revision_id: RevisionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_source: Option<ContentSource>,
    pub manifest: Sealed,
    /// All objects of the revision, each once: chunks in file order, then the lists of them. Empty in a batch
    /// without content.
    pub chunks: Vec<SealedChunk>,
}

/// `GET /chunks/damaged?cursor=…&limit=…`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "utoipa", into_params(parameter_in = Query))]
pub struct DamagedChunksQuery {
    /// `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// 1 to 1,000, default 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// A stored chunk that is missing, cut short, or has other bytes than were sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DamagedChunk {
    /// The file that it was stored for.
    pub node_id: NodeId,
    pub chunk_id: ChunkId,
    pub found_at: Timestamp,
}

/// One page of a space's damaged chunks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DamagedChunks {
    pub chunks: Vec<DamagedChunk>,
    /// The beginning of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
