//! Cutting a new version of a file where its content is compared, before anything is sent: its upload takes the result
//! over, and reads only the chunks that are new.

use crate::context::TransferContext;
use crate::cuts::{CutVersion, Plain};
use crate::download::Download;
use crate::error::TransferError;
use crate::local::Source;
use crate::naming::{KnownChunks, Naming};
use crate::scan::{Chunks, scan};
use crate::sending::read_span;
use cairn_crypto::content_hash;
use cairn_model::ContentHash;
use parking_lot::Mutex;
use std::sync::Arc;

/// Notes the chunks of a file.
#[derive(Default)]
struct Noted(Vec<Plain>);

impl Chunks for Noted {
    fn chunk(&mut self, plain: &[u8], hash: [u8; 32]) -> Result<(), TransferError> {
        self.0.push((plain.len() as u64, hash));
        Ok(())
    }
}

/// Cuts a file as its upload over a content would, and remembers where. Returns the hash of the whole; `None` without
/// reading anything if the chunks of that content are not known, or nothing tells the file from what it will be later.
pub(crate) async fn cut(
    context: &Arc<TransferContext>,
    replaced: &Download,
    source: Arc<dyn Source>,
    size: u64,
) -> Result<Option<ContentHash>, TransferError> {
    let (Some(recent), Some(state)) = (context.recent.find(replaced), source.state()) else {
        return Ok(None);
    };
    let key = context.keys.node_key(replaced.node);
    let known = KnownChunks::of(&recent.list, &recent.stored, key.at());
    let (Noted(chunks), hash) =
        scan(context, source, size, known.cuts(&key), Noted::default()).await?;
    let version = CutVersion {
        state,
        chunks,
        hash,
    };
    context.recent.put_next(replaced, version);
    Ok(Some(hash))
}

/// Names the chunks of a file that was cut, and returns the hash of the whole. Those that the service may lack are read
/// again, and so is the first, which tells what the file is.
///
/// # Errors
/// [`TransferError::SourceChanged`] if one of these has other bytes by now.
pub(crate) async fn name(
    context: &TransferContext,
    version: CutVersion,
    source: Arc<dyn Source>,
    mut naming: Naming,
) -> Result<(Naming, ContentHash), TransferError> {
    let name_all = move || {
        let reader = Mutex::new(source.open().map_err(TransferError::Source)?);
        let mut offset = 0;
        for (at, &(length, hash)) in version.chunks.iter().enumerate() {
            if at == 0 || !naming.take_known((length, hash)) {
                let plain = read_span(&reader, offset, length)?;
                if content_hash(&plain).0 != hash {
                    return Err(TransferError::SourceChanged);
                }
                naming.chunk(&plain, hash)?;
            }
            offset += length;
        }
        Ok((naming, version.hash))
    };
    context.blocking.run(name_all).await
}
