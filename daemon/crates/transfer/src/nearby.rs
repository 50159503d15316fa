//! A file on this disk that shares chunks with what is to be downloaded: the version that it replaces, or one
//! with the same content.
//!
//! Only an optimisation: whatever goes wrong with it, the chunk is fetched.

use crate::chunk_list::ChunkList;
use crate::context::TransferContext;
use crate::cuts::Cuts;
use crate::error::TransferError;
use crate::local::Source;
use crate::scan::{Chunks, scan};
use cairn_crypto::content_hash;
use cairn_crypto::format2::ChunkRow;
use std::collections::HashMap;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::Arc;

/// A file on this disk from which a download takes what it can.
#[derive(Clone)]
pub enum Nearby {
    /// An earlier version: it is cut to find the chunks that stay.
    Earlier(Arc<dyn Source>),
    /// One that is known to have had the same content: its chunks lie where the wanted ones lie.
    Equal(Arc<dyn Source>),
}

/// The places of the chunks of a similar file.
pub(crate) struct Similar {
    source: Arc<dyn Source>,
    places: Places,
}

/// Offsets by hash and length of the plaintext.
#[derive(Default)]
struct Places {
    offsets: HashMap<([u8; 32], u64), u64>,
    end: u64,
}

impl Chunks for Places {
    fn chunk(&mut self, plain: &[u8], hash: [u8; 32]) -> Result<(), TransferError> {
        let length = plain.len() as u64;
        self.offsets.entry((hash, length)).or_insert(self.end);
        self.end += length;
        Ok(())
    }
}

impl Similar {
    /// Finds the wanted chunks in a file; nothing if it can't be read.
    pub(crate) async fn of(
        context: &Arc<TransferContext>,
        nearby: Nearby,
        wanted: &ChunkList,
    ) -> Option<Self> {
        match nearby {
            Nearby::Earlier(source) => Self::cut(context, source, wanted).await,
            Nearby::Equal(source) => Some(Self::equal(source, wanted)),
        }
    }

    fn equal(source: Arc<dyn Source>, wanted: &ChunkList) -> Self {
        let mut places = Places::default();
        for row in wanted.rows() {
            let key = (row.hash, row.length);
            places.offsets.entry(key).or_insert(places.end);
            places.end += row.length;
        }
        Self { source, places }
    }

    /// Cuts the file as the wanted one was cut.
    async fn cut(
        context: &Arc<TransferContext>,
        source: Arc<dyn Source>,
        wanted: &ChunkList,
    ) -> Option<Self> {
        let opened = source.clone();
        let size = context
            .blocking
            .run(move || opened.open()?.seek(SeekFrom::End(0)))
            .await
            .ok()?;
        let cuts = Cuts::like(wanted.key(wanted.list.cut), wanted.rows());
        let places = Places::default();
        let scanned = scan(context, source.clone(), size, cuts, places).await;
        let (places, _) = scanned.ok()?;
        Some(Self { source, places })
    }

    /// Returns the bytes of a chunk, if the file has it and they still are that chunk.
    pub(crate) fn read(&self, row: &ChunkRow) -> Option<Vec<u8>> {
        let offset = *self.places.offsets.get(&(row.hash, row.length))?;
        let plain = self.read_at(offset, row.length).ok()?;
        (content_hash(&plain).0 == row.hash).then_some(plain)
    }

    fn read_at(&self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut reader = self.source.open()?;
        reader.seek(SeekFrom::Start(offset))?;
        let mut plain = vec![0; length as usize];
        reader.read_exact(&mut plain)?;
        Ok(plain)
    }
}
