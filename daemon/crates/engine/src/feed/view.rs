//! A device's view of its space at a position of the change feed: devices of one space that have read the feed to the
//! same change have the same view, unless the service shows them different files.

use super::left_out::must_list_again;
use super::{last_seq, went_back};
use cairn_index::{Db, IndexError};
use cairn_model::Kind;

/// Begins what is hashed.
const LABEL: &[u8] = b"cairn/view/1";

/// A view of a space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// Id of the history of the feed.
    pub history: String,
    /// The number of the latest change in it.
    pub seq: u64,
    /// BLAKE3 over all nodes.
    pub digest: [u8; 32],
}

/// Returns the view that the index has. `None` where it is no view that others could have: nothing was listed yet, or
/// something of what the service has shown is not recorded.
///
/// # Errors
/// Returns the error of the index.
pub fn view(db: &Db<'_>) -> Result<Option<View>, IndexError> {
    let (Some(history), seq) = (went_back::history(db)?, last_seq(db)?) else {
        return Ok(None);
    };
    let is_whole = seq > 0 && db.has_all_shown()? && !must_list_again(db)?;
    if !is_whole || went_back::is_recording(db)? || went_back::is_waiting(db)? {
        return Ok(None);
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(LABEL);
    db.visit_remote(&mut |row| {
        hasher.update(row.node.as_bytes());
        // No node has this id.
        let none = [0; 16];
        hasher.update(row.parent.as_ref().map_or(&none, |id| id.as_bytes()));
        hasher.update(row.revision.as_ref().map_or(&none, |id| id.as_bytes()));
        hasher.update(&[u8::from(row.kind == Kind::Folder)]);
        let name = row.name.as_str().as_bytes();
        hasher.update(&(name.len() as u64).to_be_bytes());
        hasher.update(name);
    })?;
    Ok(Some(View {
        history,
        seq,
        digest: *hasher.finalize().as_bytes(),
    }))
}
