//! Looking at the disk: what is ignored, what a scan finds, what a file's bytes are.
//!
//! Watcher events only say where to look. This is the one place that changes the local tree, besides
//! the steps that record what they themselves have put in place.

pub(crate) mod hash;
mod homes;
mod matching;
pub(crate) mod mounts;
mod problems;
pub(crate) mod rules;
pub(crate) mod same_disk;
pub(crate) mod scan;
