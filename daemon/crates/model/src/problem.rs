//! A problem of one path.

use crate::ProblemCode;
use serde::{Deserialize, Serialize};

/// Something that doesn't sync, and what to do about it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// Below the folder's root, with `/`; empty for the folder itself.
    pub path: String,
    pub code: ProblemCode,
    /// The problem, as a sentence.
    pub message: String,
    /// The advice to the person.
    pub hint: String,
}
