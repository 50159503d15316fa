//! Downloads: manifests (the encrypted records of revisions), chunks, and many small files in one frame (a JSON
//! head and raw bytes in one body).

use crate::call::Call;
use crate::client::Api;
use crate::error::ApiError;
use crate::nodes::check_result_count;
use bytes::Bytes;
use cairn_model::{ChunkId, NodeId, RevisionId};
use cairn_wire::frame;
use cairn_wire::transfer::{
    BATCH_BYTES, DamagedChunks, DamagedChunksQuery, DownloadBatch, DownloadedBatch,
    MAX_SEALED_CHUNK, RevisionContent,
};
use http::Method;
use std::ops::Range;

/// Length of the head, head and payload of a frame.
const MAX_FRAME: usize = 4 + frame::MAX_HEAD + BATCH_BYTES;

impl Api {
    /// `GET /nodes/{id}/revisions/{rev}/manifest`.
    ///
    /// # Errors
    /// [`ApiError::NotFound`].
    pub async fn manifest(
        &self,
        node: NodeId,
        revision: RevisionId,
    ) -> Result<RevisionContent, ApiError> {
        self.json(Call::get(format!(
            "/api/v1/nodes/{node}/revisions/{revision}/manifest"
        )))
        .await
    }

    /// `GET /chunks/damaged`: a page of the space's chunks that the service has lost or has other bytes of.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] of a server that doesn't check what it has.
    pub async fn damaged_chunks(&self, cursor: Option<&str>) -> Result<DamagedChunks, ApiError> {
        let query = DamagedChunksQuery {
            cursor: cursor.map(Into::into),
            limit: None,
        };
        self.json(Call::get("/api/v1/chunks/damaged").query(&query)?)
            .await
    }

    /// `GET /chunks/{id}?node=…`: one sealed chunk, or the given bytes of it.
    ///
    /// # Errors
    /// [`ApiError::NotFound`]; [`ApiError::Protocol`] if another number of bytes than a range has
    /// arrives.
    pub async fn chunk(
        &self,
        node: NodeId,
        chunk: ChunkId,
        range: Option<Range<u64>>,
    ) -> Result<Bytes, ApiError> {
        let mut call = Call::get(format!("/api/v1/chunks/{chunk}?node={node}"))
            .with_base(self.file_base())
            .limit(MAX_SEALED_CHUNK);
        if let Some(range) = &range {
            call = call.header(
                "range",
                &format!("bytes={}-{}", range.start, range.end.saturating_sub(1)),
            )?;
        }
        let bytes = self.bytes(call).await?;
        match range {
            Some(range) if bytes.len() as u64 != range.end.saturating_sub(range.start) => {
                Err(ApiError::Protocol(format!(
                    "bytes {} to {} of chunk {chunk} came as {} bytes",
                    range.start,
                    range.end,
                    bytes.len()
                )))
            }
            Some(_) | None => Ok(bytes),
        }
    }

    /// `POST /downloads/batch`: manifests, and with `content` chunks, of many files. The payload is
    /// the chunks of the files with status 200, in order.
    ///
    /// # Errors
    /// [`ApiError::Protocol`] if the response is no frame or has another number of files.
    pub async fn download_batch(
        &self,
        batch: &DownloadBatch,
    ) -> Result<(DownloadedBatch, Bytes), ApiError> {
        let call = Call::new(Method::POST, "/api/v1/downloads/batch")
            .json(batch)?
            .mark_idempotent()
            .limit(MAX_FRAME);
        let body = self.bytes(call).await?;
        let (head, payload): (DownloadedBatch, Bytes) = frame::decode(body)
            .map_err(|e| ApiError::Protocol(format!("the batch can't be read: {e}")))?;
        check_result_count(head.files.len(), batch.files.len())?;
        Ok((head, payload))
    }
}
