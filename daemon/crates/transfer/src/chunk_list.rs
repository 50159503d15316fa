//! The list of a revision's chunks: fetched and decrypted, or made for a new revision.

use crate::context::TransferContext;
use crate::error::{Check, TransferError, refused_error};
use cairn_crypto::format2::{
    ChunkRow, ListedChunk, Manifest as List, NodeKeyRef, ObjectId, OpenedManifest, SealedObject,
    join_parts, open_manifest, plan_manifest,
};
use cairn_crypto::{CryptoError, NodeKey};
use cairn_model::{ChunkId, ContentObject, Manifest, NodeId};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

/// Parts of a long list that are fetched at once.
const AHEAD: usize = 4;

/// The chunks of a revision in file order, with the keys that open them.
#[derive(Clone, Debug)]
pub(crate) struct ChunkList {
    pub(crate) list: List,
    keys: Vec<NodeKey>,
    /// The objects that hold the parts of a long list.
    parts: Vec<ObjectId>,
}

impl ChunkList {
    pub(crate) fn new(context: &TransferContext, list: List) -> Result<Self, TransferError> {
        let keys = list
            .keys
            .iter()
            .map(|at| context.keys.node_key_at(*at))
            .collect::<Result<_, _>>()
            .map_err(refused_error(Check::Manifest))?;
        let parts = Vec::new();
        Ok(Self { list, keys, parts })
    }

    #[cfg(test)]
    pub(crate) fn with_keys(list: List, keys: Vec<NodeKey>) -> Self {
        let parts = Vec::new();
        Self { list, keys, parts }
    }

    /// Returns the key of a chunk, or the one that the file was cut with.
    pub(crate) fn key(&self, place: u8) -> &NodeKey {
        &self.keys[usize::from(place)]
    }

    pub(crate) fn rows(&self) -> &[ChunkRow] {
        &self.list.rows
    }

    /// Returns the objects that hold the parts of a long list.
    pub(crate) fn parts(&self) -> impl Iterator<Item = ChunkId> {
        self.parts.iter().map(chunk_id)
    }

    /// Returns the chunks, each with its own key.
    pub(crate) fn chunks(&self) -> Vec<ListedChunk> {
        let listed = |row: &ChunkRow| self.key(row.key).list_chunk(row.id, row.length, row.hash);
        self.rows().iter().map(listed).collect()
    }

    /// Returns the plaintext of a chunk that came sealed.
    pub(crate) fn open_chunk(&self, row: &ChunkRow, sealed: &[u8]) -> Result<Vec<u8>, CryptoError> {
        let mut plain = self
            .key(row.key)
            .open_chunk(&row.id, sealed, row.length, &row.hash)?;
        Ok(std::mem::take(&mut *plain))
    }
}

/// Returns the id of an object as the service has it.
pub(crate) fn chunk_id(id: &ObjectId) -> ChunkId {
    ChunkId(id.0)
}

fn object_id(content: &ContentObject) -> ObjectId {
    ObjectId(content.id.0)
}

fn key_of(context: &TransferContext, content: &ContentObject) -> Result<NodeKey, TransferError> {
    let at = NodeKeyRef {
        node: content.node,
        epoch: content.epoch,
    };
    context
        .keys
        .node_key_at(at)
        .map_err(refused_error(Check::Manifest))
}

/// The list of a file of one chunk, which is stored nowhere.
fn of_one(manifest: &Manifest) -> List {
    let content = &manifest.content;
    let row = ChunkRow {
        key: 0,
        id: object_id(content),
        length: manifest.size,
        hash: manifest.hash.0,
    };
    List {
        keys: vec![NodeKeyRef {
            node: content.node,
            epoch: content.epoch,
        }],
        cut: 0,
        rows: vec![row],
    }
}

fn open_whole(
    context: &TransferContext,
    manifest: &Manifest,
    sealed: &[u8],
) -> Result<OpenedManifest, TransferError> {
    let content = &manifest.content;
    let key = key_of(context, content)?;
    open_manifest(&key, &object_id(content), sealed, manifest.size)
        .map_err(refused_error(Check::Manifest))
}

/// Opens the list of a small file, whose objects came with it.
pub(crate) fn of_small<'a>(
    context: &TransferContext,
    manifest: &Manifest,
    object: impl Fn(ChunkId) -> Option<&'a [u8]>,
) -> Result<ChunkList, TransferError> {
    if !manifest.content.is_list {
        return ChunkList::new(context, of_one(manifest));
    }
    let sealed = object(manifest.content.id)
        .ok_or_else(|| refused_error(Check::Manifest)(CryptoError::NotAuthentic))?;
    match open_whole(context, manifest, sealed)? {
        OpenedManifest::Whole(list) => ChunkList::new(context, list),
        OpenedManifest::Parts(_) => Err(TransferError::protocol(
            "a file of thousands of chunks came in a batch of small ones",
        )),
    }
}

/// Returns the list of a revision's chunks, fetched from a node that has the revision.
pub(crate) async fn of_revision(
    context: &TransferContext,
    node: NodeId,
    manifest: &Manifest,
) -> Result<ChunkList, TransferError> {
    if !manifest.content.is_list {
        return ChunkList::new(context, of_one(manifest));
    }
    let sealed = context.api.chunk(node, manifest.content.id, None).await?;
    let top = match open_whole(context, manifest, &sealed)? {
        OpenedManifest::Whole(list) => return ChunkList::new(context, list),
        OpenedManifest::Parts(top) => top,
    };
    let mut fetches = Vec::with_capacity(top.parts.len());
    for row in &top.parts {
        let at = top.keys[usize::from(row.key)];
        let key = context.keys.node_key_at(at);
        let key = key.map_err(refused_error(Check::Manifest))?;
        fetches.push(fetch_part(context, node, key, row.id));
    }
    let parts: Vec<List> = stream::iter(fetches).buffered(AHEAD).try_collect().await?;
    let list = join_parts(&top, &parts, manifest.size).map_err(refused_error(Check::Manifest))?;
    let mut list = ChunkList::new(context, list)?;
    list.parts = top.parts.iter().map(|row| row.id).collect();
    Ok(list)
}

async fn fetch_part(
    context: &TransferContext,
    node: NodeId,
    key: NodeKey,
    id: ObjectId,
) -> Result<List, TransferError> {
    let sealed = context.api.chunk(node, chunk_id(&id), None).await?;
    List::open(&key, &id, &sealed, true).map_err(refused_error(Check::Manifest))
}

/// The object that a new revision's bytes begin with, and those that list its chunks.
pub(crate) struct SealedList {
    pub(crate) content: ContentObject,
    pub(crate) objects: Vec<SealedObject>,
}

/// Seals the list of a new revision under its own key; a file of one chunk has none.
pub(crate) fn seal(key: &NodeKey, list: &List) -> Result<SealedList, TransferError> {
    let content = |id: &ObjectId, at: NodeKeyRef, is_list| ContentObject {
        id: chunk_id(id),
        node: at.node,
        epoch: at.epoch,
        is_list,
    };
    if let [only] = &list.rows[..] {
        let content = content(&only.id, list.keys[usize::from(only.key)], false);
        let objects = Vec::new();
        return Ok(SealedList { content, objects });
    }
    let planned = plan_manifest(key, list).map_err(TransferError::Sealing)?;
    let content = content(&planned.named.id, key.at(), true);
    let mut objects = planned.parts;
    objects.push(planned.named);
    Ok(SealedList { content, objects })
}
