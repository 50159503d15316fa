//! Taking back changes of files and folders: the record of a change, the checks that nobody else has worked on
//! its node since, and the change in the other direction.
//!
//! The recorder of the changes decides where the records lie. It takes them back newest first: a change that is
//! taken back counts as one of its own.

mod record;
mod take_back;
#[cfg(test)]
mod tests;
mod versions;
mod worked_on;

pub use record::{NodeChange, Record};
pub use take_back::{NotTakenBack, TakenBack, Undoing, take_back};
pub use versions::{LastChange, OwnVersions, StateAfterUndo};
