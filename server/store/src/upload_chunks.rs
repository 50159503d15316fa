//! The chunks (encrypted pieces of a file) that come in one by one for an upload.

use super::chunks;
use super::holders::{self, StoredChunk};
use super::revisions::to_signed;
use super::uploads::no_upload;
use super::{ChunkDigest, OpenUpload, Tx, usage};
use crate::db::{Optional as _, params};
use crate::error::{Error, Result};
use cairn_wire::transfer::SealedChunk;

impl Tx<'_> {
    /// Records that a chunk of an upload lies alone in an object. Bytes in the object `replaces` give
    /// way to these, as long as no revision and nobody else's upload uses them, or these are what was stored there; the
    /// names of objects that are not needed any more come back. `None` if other bytes than those are there by now, which nobody has looked at.
    ///
    /// # Errors
    /// 404 for an upload that has ended, 409 for a chunk that something else uses, 507.
    pub fn add_chunk(
        &self,
        upload: &OpenUpload,
        (chunk, digest): (&SealedChunk, ChunkDigest),
        object: &str,
        replaces: Option<&str>,
    ) -> Result<Option<Vec<String>>> {
        let node = upload.create.node_id;
        let reserved = self.set_aside(upload)?;
        let found = holders::find_stored(self.conn, node, chunk.id, upload.account, self.now)?;
        if found.as_ref().map(|found| found.place.object.as_str()) != replaces {
            return Ok(None);
        }
        if let Some(damaged) = found
            .as_ref()
            .filter(|found| found.place.digest == Some(digest))
        {
            return self.heal_chunk(damaged, object).map(Some);
        }
        if let Some(refusal) = found.as_ref().and_then(StoredChunk::refusal) {
            return Err(refusal);
        }
        let known = found.map(|found| found.place.size);
        let mut garbage = Vec::new();
        chunks::remove(self.conn, node, chunk.id, &mut garbage)?;
        let row = chunks::add_object(self.conn, object)?;
        let new = chunks::NewChunk {
            node,
            chunk: *chunk,
            object: row,
            start: 0,
            digest,
            space: upload.space,
            account: upload.account,
        };
        if !chunks::add(self.conn, &new, 0)? {
            return Err(Error::Internal(format!(
                "the chunk {} was removed and is there",
                chunk.id
            )));
        }
        chunks::set_object_refs(self.conn, row, 1)?;
        let size = to_signed(chunk.size);
        // Of a chunk that another upload of the file sent meanwhile, the bytes stay set aside.
        let paid = known.map_or_else(|| reserved.min(size), |known| to_signed(known).min(size));
        if known.is_none() {
            self.conn
                .prepare_cached("UPDATE uploads SET reserved = reserved - ?2 WHERE id = ?1")?
                .execute(params![upload.id.as_bytes(), paid])?;
        }
        if size > paid {
            // It is counted already: whether everything fits is all there is to ask.
            usage::check_fits(self.conn, upload.space)?;
        }
        Ok(Some(garbage))
    }

    /// Records that the bytes of a damaged chunk lie in an object again. Returns the objects that are not needed any more.
    fn heal_chunk(&self, damaged: &StoredChunk, object: &str) -> Result<Vec<String>> {
        let row = chunks::add_object(self.conn, object)?;
        chunks::set_object_refs(self.conn, row, 1)?;
        let which = (damaged.holder, damaged.place.id);
        let mut garbage = Vec::new();
        chunks::heal(self.conn, which, (row, 0), &mut garbage)?;
        Ok(garbage)
    }

    /// Returns the bytes that an open upload has still set aside.
    fn set_aside(&self, upload: &OpenUpload) -> Result<i64> {
        let reserved = self
            .conn
            .prepare_cached(
                "SELECT reserved FROM uploads WHERE id = ?1 AND account = ?2 AND expires_at > ?3 AND done = 0",
            )?
            .query_row(
                params![upload.id.as_bytes(), upload.account.as_bytes(), self.now],
                |row| row.get(0),
            )
            .optional()?;
        reserved.ok_or_else(|| no_upload(self.conn, upload.account, upload.id))
    }
}
