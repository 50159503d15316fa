//! Files that were touched but not changed: this is found out before the service is asked for the chunk list of
//! the revision that would be replaced.

use crate::context::TransferContext;
use crate::error::TransferError;
use crate::local::Source;
use crate::upload::Upload;
use cairn_crypto::ContentHasher;
use cairn_model::ContentHash;
use std::io::{self, Read as _};

/// Longer files are not read for this alone: that takes longer than the two requests.
const READ_FIRST: u64 = 64 * 1024 * 1024;
/// Bytes read at a time.
const BLOCK: usize = 1024 * 1024;

/// Returns whether a file is known to have the content that needs no upload.
pub(crate) async fn is_unchanged(
    context: &TransferContext,
    upload: &Upload,
) -> Result<bool, TransferError> {
    if upload.skip_if.is_none() || upload.size > READ_FIRST {
        return Ok(false);
    }
    let (source, size) = (upload.source.clone(), upload.size);
    let hash = context.blocking.run(move || hash_of(&*source, size)).await;
    Ok(Some(hash.map_err(TransferError::Source)?) == upload.skip_if)
}

/// Returns the hash of a file, or that of its beginning if it is longer than expected.
fn hash_of(source: &dyn Source, size: u64) -> io::Result<ContentHash> {
    let mut reader = source.open()?.take(size.saturating_add(1));
    let mut hasher = ContentHasher::new();
    let mut block = vec![0; BLOCK];
    loop {
        match reader.read(&mut block)? {
            0 => return Ok(hasher.finish()),
            read => hasher.update(&block[..read]),
        }
    }
}
