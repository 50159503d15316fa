//! Looking at the disk: which files are ignored, what a scan finds, and the hashes of files.
//!
//! The watcher's events only say where to look. This is the one place that changes the local tree, besides
//! the steps that record what they themselves have put in place.

pub(crate) mod backups;
pub(crate) mod hard_links;
pub(crate) mod hash;
mod homes;
mod matching;
pub(crate) mod mounts;
pub(crate) mod nested_rules;
mod problems;
pub(crate) mod rules;
pub(crate) mod same_disk;
pub(crate) mod scan;
pub(crate) mod unsettled;
pub(crate) mod unsynced;
