//! The names that a space takes: any in an open one, sealed ones alone in a private one.

use crate::error::{Error, Result};
use cairn_model::{Name, SpaceId};

/// Takes a text for the name of a node in a space.
///
/// # Errors
/// 400 for a text that can't be a name; 409 for one in clear in a private space.
pub fn name_in(space: SpaceId, text: &str) -> Result<Name> {
    if !space.is_private() {
        return Name::new(text).map_err(|e| Error::invalid(format!("`name`: {e}")));
    }
    Name::of_sealed(text).ok_or_else(|| {
        Error::conflict(
            "`name`: a private space takes sealed names only, which its devices make with its keys",
        )
    })
}

/// Returns a name as people are to read it, in mails and on pages.
#[must_use]
pub fn shown_name(name: &str) -> &str {
    match Name::of_sealed(name) {
        Some(_) => "a private file",
        None => name,
    }
}

/// Takes over a name that is stored.
///
/// # Errors
/// 500 for one that can't have been.
pub(super) fn stored_name(space: SpaceId, text: &str) -> Result<Name> {
    name_in(space, text).map_err(|e| Error::Internal(format!("a stored name is bad: {e}")))
}
