//! Operations of a key holder on one space (the files of one account or of one team, under one key): nodes,
//! folders, shares, the keys of accounts and teams, and what this device has pinned (public keys of other
//! people as first seen).
//!
//! Everything from the server is checked before it is used, and changes are sealed (authenticated with the
//! space's key). File content itself is moved by `cairn-transfer`.

pub mod account_keys;
mod compare;
mod download_folder;
mod download_plan;
mod folder_progress;
mod list_paths;
mod local_place;
mod merge_preview;
pub mod past;
mod replace;
mod share;
mod space;
mod team;
mod trash_sizes;
mod trust;
pub mod undo;
mod upload_folder;
mod verify;

/// The keys that these operations take and return.
pub use cairn_crypto::{CryptoError, PublicKeys, SealInfo, SpaceKeys, SystemRandom};
pub use compare::{SealedNode, SealedNodes};
pub use download_folder::{DownloadedFolder, FailedDownload, FolderDownload, LocalFolder};
pub use download_plan::{DownloadPlan, LocalPath, PlanError, PlannedFile, RejectedName};
pub use folder_progress::{FolderProgress, Moving};
pub use list_paths::list_paths;
pub use local_place::{DownloadTarget, DownloadTargetError, SetExecutable, StagedFile};
pub use merge_preview::{FileCount, LeftOut, MergePreview, RemoteFolder};
pub use replace::{FileStamp, Replace};
pub use share::{LinkPassword, ShareError, SharedLink, UnverifiedNodes};
pub use space::{
    BroughtBack, CopiedNode, Earlier, EnsuredFolder, FolderAgain, LocalMetadata, LostPlace,
    MAX_DEPTH, NODES_PER_REQUEST, PlaceBack, Relocation, Space, random_id, restore_without_keys,
};
pub use team::{Granting, KeyRemedy, KeyStatus, MemberKeys, TeamError, TeamGrants};
pub use trash_sizes::{TrashSizes, TrashedSize};
pub use trust::{PinCheck, Trust};
pub use upload_folder::{
    EntryKind, FailedUpload, FolderUpload, LocalEntry, LocalTree, NotUploaded, UploadedFolder,
};
pub use verify::{SeenSeals, unverified_content};
