//! Upload of one file, in two passes: cut it into chunks and compute their ids, then read again and send those
//! that the server lacks.

use crate::chunk_list::{self, ChunkList};
use crate::commit::{NewContent, NewRevision, check_committed, create};
use crate::compression;
use crate::context::TransferContext;
use crate::cut_ahead;
use crate::cuts::CutVersion;
use crate::download::Download;
use crate::error::TransferError;
use crate::fetch;
use crate::local::Source;
use crate::naming::{KEPT, KnownChunks, Naming, Planned};
use crate::progress::{Progress, ResumableUpload};
use crate::recent_contents::StoredContent;
use crate::scan::scan;
use crate::sending::{Sending, unannounced_error};
use crate::unchanged::is_unchanged;
use crate::upload::{Upload, UploadTarget, Uploaded};
use cairn_api::{ApiError, ErrorClass};
use cairn_crypto::format2::Manifest as List;
use cairn_crypto::{MIN_CHUNK, manifest_hash};
use cairn_model::{ContentHash, RevisionId, UploadId};
use cairn_wire::nodes::Node;
use cairn_wire::transfer::{self as wire, SealedChunk};
use std::sync::Arc;

/// Uploads one file. Chunks of the content that is replaced keep their objects; if the service has lost one
/// of these, all are sealed.
pub(crate) async fn upload(
    context: &Arc<TransferContext>,
    mut upload: Upload,
    progress: &dyn Progress,
) -> Result<Uploaded, TransferError> {
    let replaced = upload.target.sealed_content();
    let replaced = replaced.filter(|_| upload.size > MIN_CHUNK as u64);
    let is_listed = |of: &Download| context.recent.find(of).is_some();
    if replaced.is_some_and(|of| !is_listed(&of)) && is_unchanged(context, &upload).await? {
        return Ok(Uploaded::Unchanged);
    }
    let mut unopened = None;
    match known_chunks(context, &upload.target, replaced).await {
        Ok(None) => {}
        Ok(Some(known)) => {
            let first = Attempt {
                known,
                cut: replaced.and_then(|of| context.recent.take_next(&of, upload.source.state()?)),
                keeps_begun: true,
            };
            match first.make(context, upload.clone(), progress).await? {
                Outcome::Done(uploaded) => return Ok(uploaded),
                // What was begun is given up by now.
                Outcome::Lost => upload.resume = None,
                Outcome::OtherObjects => {}
            }
        }
        Err(TransferError::Api(error))
            if error.is_overload() || error.class() == ErrorClass::Auth =>
        {
            return Err(error.into());
        }
        Err(error) => {
            tracing::debug!(%error, node = %upload.target.node(), "what is replaced can't be opened: all is sent");
            unopened = Some(error);
        }
    }
    // What was begun may use chunks that can't be found out now. It is kept until the service forgets it.
    let may_pass = unopened.as_ref().is_some_and(is_failure);
    let last = Attempt {
        known: KnownChunks::default(),
        cut: None,
        keeps_begun: may_pass && is_begun(context, upload.resume.as_ref()).await?,
    };
    match last.make(context, upload, progress).await? {
        Outcome::Done(uploaded) => Ok(uploaded),
        Outcome::OtherObjects => Err(unopened.unwrap_or_else(unannounced_error)),
        Outcome::Lost => Err(unannounced_error()),
    }
}

/// Returns the chunks of the content that is replaced, if there is any.
///
/// # Errors
/// Fails if they can't be found out: without them, another list is made of the same bytes.
async fn known_chunks(
    context: &Arc<TransferContext>,
    target: &UploadTarget,
    replaced: Option<Download>,
) -> Result<Option<KnownChunks>, TransferError> {
    let Some(replaced) = replaced else {
        return Ok(None);
    };
    let own = context.keys.node_key(target.node()).at();
    if let Some(recent) = context.recent.find(&replaced) {
        return Ok(Some(KnownChunks::of(&recent.list, &recent.stored, own)));
    }
    let (manifest, stored) = fetch::open(context, replaced).await?;
    let list = chunk_list::of_revision(context, replaced.node, &manifest).await?;
    Ok(Some(KnownChunks::of(&list, &stored, own)))
}

/// Returns whether the service failed, and may not the next time.
fn is_failure(error: &TransferError) -> bool {
    let TransferError::Api(error) = error else {
        return false;
    };
    matches!(error.class(), ErrorClass::Transient | ErrorClass::Protocol)
}

/// Returns whether the service has an upload that was begun.
async fn is_begun(
    context: &TransferContext,
    started: Option<&ResumableUpload>,
) -> Result<bool, TransferError> {
    let Some(started) = started else {
        return Ok(false);
    };
    match context.api.get_upload(started.upload).await {
        Ok(_) => Ok(true),
        Err(error) if error.class() == ErrorClass::Missing => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// One attempt to upload.
struct Attempt {
    /// Chunks that are used as they are.
    known: KnownChunks,
    /// The chunks of the file, if it was cut as it is.
    cut: Option<CutVersion>,
    /// An upload of the same bytes in other objects is kept.
    keeps_begun: bool,
}

/// The result of one attempt to upload.
enum Outcome {
    Done(Uploaded),
    /// The service lacks a chunk that was to be used as it is.
    Lost,
    /// An upload was begun that has the same bytes in other objects.
    OtherObjects,
}

impl Attempt {
    async fn make(
        self,
        context: &Arc<TransferContext>,
        upload: Upload,
        progress: &dyn Progress,
    ) -> Result<Outcome, TransferError> {
        let (source, size) = (upload.source, upload.size);
        let key = context.keys.node_key(upload.target.node());
        let compression = compression::of(&upload.target);
        let naming = Naming::new(key.clone(), self.known, compression, KEPT);
        let (naming, hash) = name(context, self.cut, (&source, size), naming).await?;
        if upload.skip_if == Some(hash) {
            return Ok(Outcome::Done(Uploaded::Unchanged));
        }
        let mut named = naming.finish();
        let planned = named.plan(&key)?;
        let content = NewContent::of(&planned, hash, size);
        let mut head = NewRevision {
            target: upload.target,
            revision: upload.revision,
            modified_ms: upload.modified_ms,
            executable: upload.executable,
        };
        let resume = (upload.resume, self.keeps_begun);
        let begun = match begin(context, &mut head, &planned, &content, resume).await? {
            Begun::Running(begun) => begun,
            Begun::OtherObjects => return Ok(Outcome::OtherObjects),
            Begun::Committed(node) => {
                let (manifest, _) = context.complete(&head, content)?;
                return check_committed(&head, *node, manifest).map(Outcome::Done);
            }
        };
        progress.on_start(&ResumableUpload {
            upload: begun.upload_id,
            revision: head.revision,
            object: content.object.id,
            hash,
            place: head.target.new_place(),
        });
        let sending = Sending {
            context,
            source,
            key,
            named,
            upload: &begun,
            progress,
            size,
            moved: 0.into(),
        };
        let Some(missing) = sending.missing_chunks()? else {
            give_up(context, begun.upload_id).await;
            return Ok(Outcome::Lost);
        };
        sending.send(missing).await?;
        let list = sending.named.list;
        let (uploaded, of) = finish(context, &head, content, begun.upload_id).await?;
        keep(context, of, list, planned.announced);
        Ok(Outcome::Done(uploaded))
    }
}

/// Names the chunks of a file, in a pass over all of it unless it was cut as it is.
async fn name(
    context: &Arc<TransferContext>,
    cut: Option<CutVersion>,
    (source, size): (&Arc<dyn Source>, u64),
    naming: Naming,
) -> Result<(Naming, ContentHash), TransferError> {
    match cut {
        Some(cut) => cut_ahead::name(context, cut, source.clone(), naming).await,
        None => scan(context, source.clone(), size, naming.cuts(), naming).await,
    }
}

/// Keeps the chunks of a content that was sent, for the next edit of it.
fn keep(context: &TransferContext, of: Download, list: List, stored: Vec<SealedChunk>) {
    if let Ok(list) = ChunkList::new(context, list) {
        let list = Arc::new(list);
        context.recent.put(of, StoredContent { list, stored });
    }
}

/// Commits what was sent. Returns the content, too, with the hash of its record.
pub(crate) async fn finish(
    context: &TransferContext,
    head: &NewRevision,
    content: NewContent,
    upload: UploadId,
) -> Result<(Uploaded, Download), TransferError> {
    let (manifest, complete) = context.complete(head, content)?;
    let of = Download {
        manifest_hash: Some(manifest_hash(&complete.manifest.0)),
        ..Download::new(head.target.node(), head.revision)
    };
    let node = match context.api.complete_upload(upload, &complete).await {
        Ok(node) => node,
        Err(ApiError::NotFound { .. } | ApiError::Gone { .. }) => context
            .find_committed(head.target.node(), head.revision)
            .await?
            .ok_or(TransferError::UploadLost)?,
        Err(error) => {
            // Made for a node that is another one by now: the next try begins anew.
            if error.class() == ErrorClass::Stale {
                give_up(context, upload).await;
            }
            return Err(error.into());
        }
    };
    let uploaded = check_committed(head, node, manifest)?;
    Ok((uploaded, of))
}

/// Removes an upload that can't be used; left alone, it expires.
pub(crate) async fn give_up(context: &TransferContext, upload: UploadId) {
    if let Err(error) = context.api.delete_upload(upload).await {
        tracing::debug!(%error, %upload, "an upload that is not needed stays until it expires");
    }
}

enum Begun {
    Running(Box<wire::Upload>),
    /// Committed before; only the response was lost.
    Committed(Box<Node>),
    /// The one to resume has the same bytes in other objects, and is to be kept.
    OtherObjects,
}

/// Finds the upload to resume, or begins one. An upload of the same bytes in other objects is given up
/// unless it is to be kept.
async fn begin(
    context: &TransferContext,
    head: &mut NewRevision,
    planned: &Planned,
    content: &NewContent,
    (resume, keeps_begun): (Option<ResumableUpload>, bool),
) -> Result<Begun, TransferError> {
    if let Some(started) = resume {
        let is_place_known = is_place_known(head, &started);
        if is_place_known && (started.hash, started.object) == (content.hash, content.object.id) {
            head.revision = started.revision;
            match context.api.get_upload(started.upload).await {
                Ok(found) if is_ours(head, &found) => {
                    // The service makes it where it was told to when the upload was begun, and the seal has to name
                    // that place. What was renamed since is moved afterwards, as any other file.
                    head.target.set_new_place(started.place);
                    return Ok(Begun::Running(Box::new(found)));
                }
                Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Gone { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        } else if is_place_known && keeps_begun && started.hash == content.hash {
            return Ok(Begun::OtherObjects);
        } else {
            // Other content can't go under the same revision; what was sent of it is given up.
            give_up(context, started.upload).await;
            if head.revision == started.revision {
                head.revision = context.with_random(|random| {
                    let mut bytes = [0; 16];
                    random.fill(&mut bytes);
                    RevisionId::from_random_bytes(bytes)
                });
            }
        }
    }
    let request = create(head, content.size, planned.announced.clone());
    match context.api.create_upload(&request).await {
        Ok(begun) if is_ours(head, &begun) => Ok(Begun::Running(Box::new(begun))),
        Ok(_) => Err(TransferError::protocol(
            "the upload is for another node or revision",
        )),
        Err(ApiError::Conflict {
            head: found,
            message,
        }) => {
            match context
                .find_committed(head.target.node(), head.revision)
                .await?
            {
                Some(node) => Ok(Begun::Committed(Box::new(node))),
                None => Err(ApiError::Conflict {
                    head: found,
                    message,
                }
                .into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns whether it is known where the service will make a new file: an older Cairn has not noted it.
fn is_place_known(head: &NewRevision, started: &ResumableUpload) -> bool {
    started.place.is_some() == head.target.new_place().is_some()
}

fn is_ours(head: &NewRevision, upload: &wire::Upload) -> bool {
    upload.node_id == head.target.node() && upload.revision_id == head.revision
}
