//! A file on this disk that shares chunks with what is to be downloaded: the version that it replaces.
//!
//! Only an economy: whatever goes wrong with it, the chunk is fetched.

use crate::context::TransferContext;
use crate::local::Source;
use crate::scan::scan;
use cairn_crypto::ContentKey;
use cairn_model::ChunkId;
use std::collections::HashMap;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::Arc;

/// The places of the chunks of a similar file.
pub(crate) struct Similar {
    source: Arc<dyn Source>,
    offsets: HashMap<(ChunkId, u32), u64>,
}

impl Similar {
    /// Cuts the file into chunks and names them under the key of the node that both are versions of.
    pub(crate) async fn of(
        context: &Arc<TransferContext>,
        source: Arc<dyn Source>,
        key: ContentKey,
    ) -> Option<Self> {
        let opened = source.clone();
        let size = context
            .blocking
            .run(move || opened.open()?.seek(SeekFrom::End(0)))
            .await
            .ok()?;
        let scanned = scan(context, source.clone(), size, key).await.ok()?;
        let mut offsets = HashMap::with_capacity(scanned.chunks.len());
        let mut offset = 0;
        for chunk in scanned.chunks {
            offsets.entry((chunk.id, chunk.len)).or_insert(offset);
            offset += u64::from(chunk.len);
        }
        Some(Self { source, offsets })
    }

    /// Returns the bytes of a chunk, if the file has it and they still are that chunk.
    pub(crate) fn read(&self, key: &ContentKey, id: ChunkId, len: u32) -> Option<Vec<u8>> {
        let offset = *self.offsets.get(&(id, len))?;
        let plain = self.read_at(offset, len).ok()?;
        (key.chunk_id(&plain) == id).then_some(plain)
    }

    fn read_at(&self, offset: u64, len: u32) -> io::Result<Vec<u8>> {
        let mut reader = self.source.open()?;
        reader.seek(SeekFrom::Start(offset))?;
        let mut plain = vec![0; len as usize];
        reader.read_exact(&mut plain)?;
        Ok(plain)
    }
}
