//! The contents that must not be lost: those that somebody wrote and that nobody who had them removed.

use std::collections::{BTreeMap, BTreeSet};

/// Contents with their fate. Every write makes a content that never was before.
#[derive(Default)]
pub struct Oracle {
    alive: BTreeSet<Vec<u8>>,
    next: u64,
}

impl Oracle {
    /// A new content, written by a device.
    pub fn write(&mut self, device: &str) -> Vec<u8> {
        self.next += 1;
        let content = format!("{device}-{}", self.next).into_bytes();
        self.alive.insert(content.clone());
        content
    }

    /// A device that had this content overwrote or deleted it.
    pub fn put_away(&mut self, content: &[u8]) {
        self.alive.remove(content);
    }

    /// The contents that must be there and are not.
    #[must_use]
    pub fn missing_contents(&self, tree: &BTreeMap<String, Option<Vec<u8>>>) -> Vec<String> {
        let there: BTreeSet<&Vec<u8>> = tree.values().flatten().collect();
        self.alive
            .iter()
            .filter(|content| !there.contains(content))
            .map(|content| String::from_utf8_lossy(content).into_owned())
            .collect()
    }
}
