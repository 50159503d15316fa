//! A position in the change feed.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A position in the change feed, opaque to clients; only the server that made it can read it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(pub String);

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
