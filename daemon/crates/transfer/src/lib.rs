//! File content between this machine and one space (the files of an account or team) on the service: scanning,
//! sealing and sending what is missing; fetching, opening and checking. One file of any size, or many small
//! ones at a time.
//!
//! Words: a *manifest* is the encrypted record of a revision, with its size, hash and content object; *seal* is
//! encrypt and authenticate; a *node seal* authenticates a node's name, parent and manifest.
//!
//! It decides nothing about what to transfer, and puts nothing in place: sources are read, targets
//! written, and every byte that reaches a target was verified first. Names, folders, shares and teams
//! are the business of `cairn-space`.

mod batch;
mod blocking;
mod chunk_list;
mod commit;
mod compression;
mod content_budget;
mod context;
mod cut_ahead;
mod cuts;
mod download;
mod each;
mod error;
mod fetch;
mod heal;
mod limits;
mod local;
mod naming;
mod nearby;
mod numbers;
mod private_names;
mod progress;
mod recent_contents;
mod restore;
mod scan;
mod send;
mod sending;
mod server_copy;
mod small;
mod transfer;
mod unchanged;
mod upload;

pub use blocking::Blocking;
pub use download::Download;
pub use each::each;
pub use error::{Check, TransferError};
pub use limits::Limits;
pub use local::{
    BytesSource, FileSource, FileTarget, MemoryTarget, Source, SourceReader, Target, temp_in,
};
pub use nearby::Nearby;
pub use numbers::{KnownNumbers, MAX_NUMBER};
pub use private_names::{api_in_space, private_names};
pub use progress::{NewPlace, Progress, ResumableUpload};
pub use restore::Restore;
pub use server_copy::ServerCopy;
pub use transfer::{Options, SharedRevision, Transfer};
pub use upload::{SmallUpload, Upload, UploadTarget, Uploaded};
