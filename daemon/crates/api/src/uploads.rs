//! Uploads: resumable ones by chunk, and many small files in one frame (a JSON head and raw bytes in one body).
//!
//! An upload makes a revision the head (the newest revision) of its node, if the head is still the base, the revision
//! that the client started from.

use crate::call::Call;
use crate::client::Api;
use crate::error::ApiError;
use crate::nodes::check_result_count;
use crate::transport::Payload;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use cairn_model::{ChunkId, UploadId};
use cairn_wire::frame::HeadForm;
use cairn_wire::nodes::{Node, NodeResults};
use cairn_wire::transfer::{BatchFile, CompleteUpload, CreateUpload, Upload, UploadBatch};
use cairn_wire::{frame, headers};
use http::Method;
use std::borrow::Cow;

const UPLOADS: &str = "/api/v1/uploads";

impl Api {
    /// `POST /uploads`: begins an upload, or finds it again by its revision id.
    ///
    /// # Errors
    /// [`ApiError::Conflict`] if the base is no longer the head or the name is taken,
    /// [`ApiError::QuotaFull`], [`ApiError::TooLarge`].
    pub async fn create_upload(&self, upload: &CreateUpload) -> Result<Upload, ApiError> {
        self.json(
            Call::new(Method::POST, UPLOADS)
                .json(&self.wire_upload(upload)?)?
                .mark_idempotent(),
        )
        .await
    }

    /// `GET /uploads/{id}`: which chunks are still missing.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] once it is completed, cancelled or expired.
    pub async fn get_upload(&self, id: UploadId) -> Result<Upload, ApiError> {
        self.json(Call::get(format!("{UPLOADS}/{id}"))).await
    }

    /// `DELETE /uploads/{id}`: cancels an upload.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] if there is none.
    pub async fn delete_upload(&self, id: UploadId) -> Result<(), ApiError> {
        self.send_for_status(Call::new(Method::DELETE, format!("{UPLOADS}/{id}")).mark_idempotent())
            .await
    }

    /// `PUT {chunk_url}/uploads/{id}/chunks/{chunk}`: sends one sealed chunk with its BLAKE3.
    ///
    /// # Errors
    /// [`ApiError::Protocol`] if `chunk_url` is outside the configured origins.
    pub async fn put_chunk(
        &self,
        chunk_url: &str,
        id: UploadId,
        chunk: ChunkId,
        (sealed, hash): (Bytes, [u8; 32]),
    ) -> Result<(), ApiError> {
        let digest = format!("blake3=:{}:", STANDARD.encode(hash));
        let call = Call::new(Method::PUT, format!("/uploads/{id}/chunks/{chunk}"))
            .with_base(self.chunk_base(chunk_url)?)
            .body(sealed, "application/octet-stream")
            .header(headers::CONTENT_DIGEST, &digest)?
            .mark_idempotent();
        self.send_for_status(call).await
    }

    /// `POST /uploads/{id}/complete`: makes the revision the head, all at once.
    ///
    /// # Errors
    /// [`ApiError::Conflict`] if the base is no longer the head or the name is taken.
    pub async fn complete_upload(
        &self,
        id: UploadId,
        complete: &CompleteUpload,
    ) -> Result<Node, ApiError> {
        self.json_with_names(
            Call::new(Method::POST, format!("{UPLOADS}/{id}/complete"))
                .json(&self.wire_completion(complete))?
                .mark_idempotent(),
        )
        .await
    }

    /// `POST /uploads/batch`: many small files in one request. `payload` is the sealed chunks of
    /// all files in order; the results come in the order of the files.
    ///
    /// # Errors
    /// [`ApiError::Protocol`] if the number of results is another.
    pub async fn upload_batch(
        &self,
        batch: &UploadBatch,
        payload: &[Bytes],
    ) -> Result<NodeResults, ApiError> {
        let batch = self.wire_batch(batch)?;
        let body = frame::encode_pieces(batch.as_ref(), payload, HeadForm::Compressed)
            .map(Payload)
            .map_err(|e| ApiError::Protocol(format!("the batch can't be written: {e}")))?;
        let call = Call::new(Method::POST, format!("{UPLOADS}/batch"))
            .body(body, frame::MEDIA_TYPE)
            .mark_idempotent();
        let results: NodeResults = self.json_with_names(call).await?;
        check_result_count(results.results.len(), batch.files.len())?;
        Ok(results)
    }

    /// Returns a batch as the server is to have it: another one in a private space alone.
    fn wire_batch<'a>(&self, batch: &'a UploadBatch) -> Result<Cow<'a, UploadBatch>, ApiError> {
        if !self.is_private() {
            return Ok(Cow::Borrowed(batch));
        }
        let sealed = |file: &BatchFile| {
            Ok::<_, ApiError>(BatchFile {
                create: self.wire_upload(&file.create)?,
                complete: self.wire_completion(&file.complete),
            })
        };
        let files = batch.files.iter().map(sealed).collect::<Result<_, _>>()?;
        Ok(Cow::Owned(UploadBatch { files }))
    }
}
