//! Checks of an announced file: its chunks (encrypted pieces), and the size that they can have.

use crate::error::{Error, Result};
use cairn_wire::transfer::{CreateUpload, MAX_SEALED_CHUNK};
use std::collections::HashMap;

/// Bytes of a row in a list of chunks at least: it has the id of one.
const LEAST_ROW: u64 = 32;
/// Bytes of plaintext that a row of a list stands for at most: a list of 16,384 chunks of 4 MiB.
const MOST_LISTED: u64 = 1 << 36;

/// Checks what needs no database.
pub(crate) fn check_announced(create: &CreateUpload) -> Result<()> {
    let mut sizes = HashMap::with_capacity(create.chunks.len());
    for chunk in &create.chunks {
        if chunk.size == 0 || chunk.size > MAX_SEALED_CHUNK as u64 {
            return Err(Error::invalid(format!(
                "`chunks`: the chunk {} has {} bytes; 1 to {MAX_SEALED_CHUNK} are allowed",
                chunk.id, chunk.size
            )));
        }
        if sizes
            .insert(chunk.id, chunk.size)
            .is_some_and(|size| size != chunk.size)
        {
            return Err(Error::invalid(format!(
                "`chunks`: the chunk {} stands there with two sizes",
                chunk.id
            )));
        }
    }
    if create.copy_of.is_some() && !create.chunks.is_empty() {
        return Err(Error::invalid(
            "`chunks` has to be empty beside `copy_of`, which names a revision that has them",
        ));
    }
    if create.size > 0 && create.chunks.is_empty() && create.copy_of.is_none() {
        return Err(Error::invalid("`chunks` is empty, and `size` is not 0"));
    }
    if i64::try_from(create.size).is_err() {
        return Err(Error::invalid("`size` is too large"));
    }
    if create.copy_of.is_none() {
        check_size(create)?;
    }
    Ok(())
}

/// Refuses a size that the announced objects can't hold. A chunk alone holds no more plaintext than the largest one.
/// Beside it there can be lists of chunks, and lists of those, that name one chunk as often as it is in the file.
fn check_size(create: &CreateUpload) -> Result<()> {
    let alone = (MAX_SEALED_CHUNK as u64).saturating_mul(create.chunks.len() as u64);
    let listed = create
        .chunks
        .iter()
        .map(|chunk| chunk.size / LEAST_ROW)
        .sum::<u64>();
    let most = match create.chunks.len() {
        0 | 1 => alone,
        _ => alone.max(listed.saturating_mul(MOST_LISTED)),
    };
    if create.size > most {
        return Err(Error::invalid(format!(
            "`size` is {}, and the announced chunks can hold {most} bytes at most",
            create.size
        )));
    }
    Ok(())
}
