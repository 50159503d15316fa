//! Sends chunks again that the service has lost or has other bytes of, from a file with the content that they are of.
//!
//! Sealing the same bytes gives the same object, so that what was stored can be made again. The service knows the hash
//! of what it had, and takes nothing else in its place. No new revision is made: the upload that is begun is given up.

use crate::chunk_list::{self, ChunkList, chunk_id};
use crate::commit::{NewRevision, create};
use crate::compression;
use crate::context::TransferContext;
use crate::error::TransferError;
use crate::fetch;
use crate::local::SourceReader;
use crate::naming::{KEPT, KnownChunks, Naming};
use crate::scan::scan;
use crate::send::give_up;
use crate::sending::read_span;
use crate::upload::Upload;
use bytes::Bytes;
use cairn_api::{ApiError, ErrorClass};
use cairn_crypto::format2::{ChunkRow, Compression};
use cairn_crypto::{NodeKey, content_hash};
use cairn_model::{ChunkId, Manifest, NodeId};
use cairn_wire::transfer::{SealedChunk, Upload as BegunUpload};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Pages of damaged chunks that are read at most at a time: a thousand chunks each.
const PAGES: usize = 20;

/// Returns the files of which the service has damaged chunks, as far as it says so, with these.
pub(crate) async fn damaged_files(
    context: &TransferContext,
) -> Result<BTreeMap<NodeId, BTreeSet<ChunkId>>, TransferError> {
    let mut files: BTreeMap<NodeId, BTreeSet<ChunkId>> = BTreeMap::new();
    let mut cursor = None;
    for _ in 0..PAGES {
        let page = match context.api.damaged_chunks(cursor.as_deref()).await {
            Ok(page) => page,
            // An older server, which doesn't know.
            Err(ApiError::NotFound { .. }) => break,
            Err(error) => return Err(error.into()),
        };
        for chunk in page.chunks {
            files
                .entry(chunk.node_id)
                .or_default()
                .insert(chunk.chunk_id);
        }
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    Ok(files)
}

/// Sends again what the service lacks of a file's present content, as far as the source has it. Returns the number of
/// chunks that were sent.
pub(crate) async fn heal(
    context: &Arc<TransferContext>,
    upload: Upload,
) -> Result<usize, TransferError> {
    let Some(content) = upload.target.sealed_content() else {
        return Ok(0);
    };
    let (manifest, stored) = fetch::open(context, content).await?;
    if manifest.size != upload.size {
        return Ok(0);
    }
    let made = match chunk_list::of_revision(context, content.node, &manifest).await {
        Ok(list) => Remade::of(&list),
        Err(TransferError::Api(error)) if is_about_all(&error) => return Err(error.into()),
        // The list itself may be damaged: it is made again with the whole.
        Err(error) => {
            tracing::debug!(%error, node = %content.node, "the list of chunks can't be read");
            match remake(context, &upload, &manifest).await? {
                Some(made) => made,
                None => return Ok(0),
            }
        }
    };
    let begun = begin(context, &upload, stored).await?;
    let sent = send(context, &upload, &made, &begun).await;
    give_up(context, begun.upload_id).await;
    sent
}

/// Returns whether an error is no matter of one chunk.
fn is_about_all(error: &ApiError) -> bool {
    matches!(error.class(), ErrorClass::Offline | ErrorClass::Auth) || error.is_overload()
}

/// A chunk that can be made again.
struct Span {
    key: NodeKey,
    row: ChunkRow,
    /// Position of its first byte in the file.
    offset: u64,
}

/// The objects of a content that can be made again.
struct Remade {
    chunks: HashMap<ChunkId, Span>,
    /// Sealed lists of chunks.
    lists: HashMap<ChunkId, Bytes>,
}

impl Remade {
    /// Lists the chunks of a file in its order, each with the key that `key` gives, beside objects that are sealed.
    fn new(
        rows: &[ChunkRow],
        key: impl Fn(&ChunkRow) -> NodeKey,
        mut lists: HashMap<ChunkId, Bytes>,
    ) -> Self {
        let mut chunks = HashMap::with_capacity(rows.len());
        let mut offset = 0;
        for row in rows {
            let span = || Span {
                key: key(row),
                row: *row,
                offset,
            };
            chunks.entry(chunk_id(&row.id)).or_insert_with(span);
            offset += row.length;
        }
        lists.retain(|id, _| !chunks.contains_key(id));
        Self { chunks, lists }
    }

    fn of(list: &ChunkList) -> Self {
        Self::new(list.rows(), |row| list.key(row.key).clone(), HashMap::new())
    }
}

/// Names all chunks of a file anew. `None` if that doesn't give the list that the manifest names: the file has another
/// content by now, or chunks of earlier keys.
async fn remake(
    context: &Arc<TransferContext>,
    upload: &Upload,
    manifest: &Manifest,
) -> Result<Option<Remade>, TransferError> {
    let key = context.keys.node_key(upload.target.node());
    let compression = compression::of(&upload.target);
    let naming = Naming::new(key.clone(), KnownChunks::default(), compression, KEPT);
    let source = upload.source.clone();
    let (naming, hash) = scan(context, source, upload.size, naming.cuts(), naming).await?;
    let mut named = naming.finish();
    let planned = named.plan(&key)?;
    if hash != manifest.hash || planned.content != manifest.content {
        return Ok(None);
    }
    let rows = &named.list.rows;
    Ok(Some(Remade::new(rows, |_| key.clone(), named.kept)))
}

/// Begins an upload of the content that is there: the service says which chunks of it it lacks.
async fn begin(
    context: &TransferContext,
    upload: &Upload,
    stored: Vec<SealedChunk>,
) -> Result<BegunUpload, TransferError> {
    let head = NewRevision {
        target: upload.target.clone(),
        revision: upload.revision,
        modified_ms: upload.modified_ms,
        executable: upload.executable,
    };
    let request = create(&head, upload.size, stored);
    Ok(context.api.create_upload(&request).await?)
}

/// Sends the missing chunks that can be made again, one after the other; returns how many.
async fn send(
    context: &Arc<TransferContext>,
    upload: &Upload,
    made: &Remade,
    begun: &BegunUpload,
) -> Result<usize, TransferError> {
    let source = upload.source.clone();
    let opened = context.blocking.run(move || source.open()).await;
    let reader = Arc::new(Mutex::new(opened.map_err(TransferError::Source)?));
    let mut sent = 0;
    for id in &begun.missing {
        let sealed = match made.chunks.get(id) {
            Some(Span { key, row, offset }) => {
                let (reader, key) = (reader.clone(), key.clone());
                let (row, offset) = (*row, *offset);
                let seal = move || seal_as_it_was(&reader, &key, &row, offset);
                context.blocking.run(seal).await?
            }
            None => made.lists.get(id).cloned(),
        };
        let Some(sealed) = sealed else { continue };
        context.limits.take_up(sealed.len()).await;
        let (url, upload) = (&begun.chunk_url, begun.upload_id);
        let sealed = (sealed.clone(), content_hash(&sealed).0);
        context.api.put_chunk(url, upload, *id, sealed).await?;
        sent += 1;
    }
    Ok(sent)
}

/// Seals a chunk again. `None` if the file has other bytes there, or if no codec gives the object that was stored.
fn seal_as_it_was(
    reader: &Mutex<Box<dyn SourceReader>>,
    key: &NodeKey,
    row: &ChunkRow,
    offset: u64,
) -> Result<Option<Bytes>, TransferError> {
    let plain = read_span(reader, offset, row.length)?;
    if content_hash(&plain).0 != row.hash {
        return Ok(None);
    }
    for compression in [Compression::On, Compression::Off] {
        let sealed = key.seal_chunk(&plain, compression);
        let sealed = sealed.map_err(TransferError::Sealing)?;
        if sealed.id == row.id {
            return Ok(Some(sealed.bytes.into()));
        }
    }
    Ok(None)
}
