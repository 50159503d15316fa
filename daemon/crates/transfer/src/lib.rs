//! One file up or down: chunking, sealing, sending what is missing; fetching, opening, checking.
//!
//! It decides nothing about what to transfer, and puts nothing in place: sources are read, targets
//! written, and every byte that reaches a target was verified first.

mod batch;
mod blocking;
mod commit;
mod download;
mod error;
mod fetch;
pub mod keys;
mod limits;
mod local;
mod progress;
mod scan;
mod send;
mod share;
mod similar;
mod small;
mod space;
mod team;
mod transfer;
mod trust;
mod upload;

pub use blocking::Blocking;
pub use download::Download;
pub use error::{Check, TransferError};
pub use limits::Limits;
pub use local::{BytesSource, FileSource, FileTarget, MemoryTarget, Source, SourceReader, Target};
pub use progress::{Progress, Started};
pub use share::{LinkPassword, SharedLink};
pub use space::{LocalFacts, SmallFile, Space, random_id};
pub use team::{Granting, Person, Standing, TeamError, TeamGrants};
pub use transfer::{Options, Transfer};
pub use trust::{Sight, Trust};
pub use upload::{SmallUpload, Upload, UploadTarget, Uploaded};
