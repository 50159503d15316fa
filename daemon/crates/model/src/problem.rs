//! A problem of one path.

use crate::{ProblemCause, ProblemCode, ProblemValues};
use serde::{Deserialize, Serialize};

/// Something that doesn't sync, and what to do about it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Problem {
    /// Below the folder's root, with `/`; empty for the folder itself.
    pub path: String,
    pub code: ProblemCode,
    /// The problem, as a sentence.
    pub message: String,
    /// The advice to the person.
    pub hint: String,
    /// The cause as a word, for programs that say it in a language of their own.
    #[serde(default, skip_serializing_if = "ProblemCause::is_other")]
    pub cause: ProblemCause,
    /// The values in what is said.
    #[serde(default, skip_serializing_if = "ProblemValues::is_empty")]
    pub values: ProblemValues,
}

impl Problem {
    /// Returns a problem without values; the cause has its code.
    #[must_use]
    pub fn new(
        path: impl Into<String>,
        cause: ProblemCause,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            code: cause.code(),
            message: message.into(),
            hint: hint.into(),
            cause,
            values: ProblemValues::default(),
        }
    }

    /// Returns the same with values.
    #[must_use]
    pub fn with(self, values: ProblemValues) -> Self {
        Self { values, ..self }
    }
}
