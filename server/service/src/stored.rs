//! Reads stored chunks, and holds each against the digest of what was stored.
//!
//! A disk returns other bytes than were written more often than one thinks. A client finds that out by the seal,
//! but only the server can tell it to a device that has the file; so it notes what is damaged, and devices send it again.

use crate::error::{Error, Result};
use bytes::Bytes;
use cairn_store::{ChunkDigest, ChunkPlace, Extent, ObjectUse, Objects, Store};

/// Bytes of chunks that are read at once.
const TOGETHER: u64 = 8 << 20;

/// Returns false if a chunk has other bytes than were stored, as far as that can be told.
fn is_sound(place: &ChunkPlace, bytes: &Bytes) -> bool {
    let digest = ChunkDigest::of(std::slice::from_ref(bytes));
    place.digest.is_none_or(|stored| stored == digest)
}

/// The objects, and the records of which chunks lie in them.
#[derive(Clone, Copy)]
pub(crate) struct StoredChunks<'a> {
    pub(crate) store: &'a Store,
    pub(crate) objects: &'a Objects,
}

impl StoredChunks<'_> {
    /// Reads whole chunks, in order. `None` for one that is damaged, which is noted.
    ///
    /// # Errors
    /// A database or an object store that fails.
    pub(crate) async fn read(self, places: &[ChunkPlace]) -> Result<Vec<Option<Bytes>>> {
        Ok(self.read_and_note(places).await?.0)
    }

    /// Does the same; also returns how many of them were noted.
    async fn read_and_note(self, places: &[ChunkPlace]) -> Result<(Vec<Option<Bytes>>, u64)> {
        let mut found = self.fetch(places).await?;
        let mut damaged = Vec::new();
        for (place, bytes) in places.iter().zip(&mut found) {
            if !bytes.as_ref().is_some_and(|bytes| is_sound(place, bytes)) {
                *bytes = None;
                damaged.push(place);
            }
        }
        let Some(first) = damaged.first() else {
            return Ok((found, 0));
        };
        let (count, object) = (damaged.len(), &first.object);
        tracing::error!(
            count,
            object,
            "stored chunks are missing or have other bytes than were stored"
        );
        let noted = self.store.note_damaged(&damaged)?;
        Ok((found, noted))
    }

    /// Reads one whole chunk.
    ///
    /// # Errors
    /// Fails like [`StoredChunks::read`], and for one that is damaged.
    pub(crate) async fn read_one(self, place: &ChunkPlace) -> Result<Bytes> {
        let found = self.read(std::slice::from_ref(place)).await?;
        found.into_iter().next().flatten().ok_or(Error::Damaged)
    }

    /// Checks that a chunk is there, without reading it: whoever asks for its headers makes the server read nothing.
    ///
    /// # Errors
    /// Fails like [`StoredChunks::read`], for one that is missing or cut short, which is noted, and for one that was noted
    /// as damaged before.
    pub(crate) async fn check_one(self, place: &ChunkPlace) -> Result<()> {
        if !self.objects.has(&place.extent()).await? {
            tracing::error!(object = place.object, "a stored chunk is missing");
            self.store.note_damaged(&[place])?;
            return Err(Error::Damaged);
        }
        match self.store.is_noted_damaged(std::slice::from_ref(place))? {
            true => Err(Error::Damaged),
            false => Ok(()),
        }
    }

    /// Reads chunks: all at once, or where some can't be read, one by one.
    async fn fetch(self, places: &[ChunkPlace]) -> Result<Vec<Option<Bytes>>> {
        let extents: Vec<Extent> = places.iter().map(ChunkPlace::extent).collect();
        match self.objects.get_many(&extents).await {
            Ok(found) => return Ok(found.into_iter().map(Some).collect()),
            Err(error) => tracing::warn!(%error, "can't read chunks together"),
        }
        let mut found = Vec::with_capacity(places.len());
        for extent in &extents {
            found.push(self.objects.get_if_whole(extent).await?);
        }
        Ok(found)
    }

    /// Reads the chunks of an object, and notes which are damaged and which are not. Returns how many are damaged.
    ///
    /// # Errors
    /// Fails like [`StoredChunks::read`].
    pub(crate) async fn examine(self, object: &ObjectUse) -> Result<u64> {
        let parts = self.store.parts_of(object)?;
        let places: Vec<ChunkPlace> = parts.into_iter().map(|part| part.place).collect();
        self.examine_places(&places).await
    }

    /// Does the same with chunks that lie anywhere.
    ///
    /// # Errors
    /// Fails like [`StoredChunks::read`].
    pub(crate) async fn examine_places(self, places: &[ChunkPlace]) -> Result<u64> {
        let mut damaged = 0;
        let mut rest = places;
        while !rest.is_empty() {
            let (some, later) = rest.split_at(together(rest));
            rest = later;
            damaged += self.examine_some(some).await?;
        }
        Ok(damaged)
    }

    async fn examine_some(self, places: &[ChunkPlace]) -> Result<u64> {
        // What moved or went while it was read is not damaged.
        let (found, damaged) = self.read_and_note(places).await?;
        let is_noted = self.store.is_noted_damaged(places)?;
        let mut sound = Vec::new();
        for (place, bytes) in places.iter().zip(&found) {
            if let Some(bytes) = bytes
                && (is_noted || place.digest.is_none())
            {
                sound.push((place, ChunkDigest::of(std::slice::from_ref(bytes))));
            }
        }
        if !sound.is_empty() {
            self.store.note_sound(&sound)?;
        }
        Ok(damaged)
    }
}

/// Returns the number of chunks, at least one, that are read at once.
fn together(places: &[ChunkPlace]) -> usize {
    let mut bytes = 0;
    let fits = |place: &&ChunkPlace| {
        bytes += place.size;
        bytes <= TOGETHER
    };
    places.iter().take_while(fits).count().max(1)
}
