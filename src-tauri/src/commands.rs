//! The calls of the window and what carries them out.
//!
//! Most of them go on to the daemon or to the `cairn` program; pickers and file managers are reached
//! through [`Desktop`].

mod account;
mod assistants;
mod calls;
mod conflicts;
mod context;
mod device;
mod devices;
mod folders;
mod history;
mod links;
mod sessions;
mod sync;
mod trash;
mod versions;
mod webhooks;
mod why;

pub use account::{AccountView, LoginForm, RecoveryKeyView};
pub use assistants::{Assistant, AssistantConfig};
pub use calls::{Call, Signature, signatures, visit_types};
pub use context::{Commands, Desktop};
pub use device::{AutostartView, ConfigKey, DaemonConfig, StartInfo};
pub use devices::{
    CompareView, DeviceList, DeviceView, LastChange, LostDevice, RevokeChoices, RevokedView,
    SpaceWords,
};
pub use folders::{FolderChoices, GateView, IgnoreCheck, LimitsView, RemoteFolder, RemoteItem};
pub use history::{LeftAsItIs, PastEvent, PastPage, RewindPlan, RewindView};
pub use links::{LinkAction, LinkChoices, LinkTarget, LinkView};
pub use sessions::{SessionBy, SessionView, UndoCounts, UndoPreview};
pub(crate) use sync::pause_request;
pub use trash::{LocalTrashed, RemoteTrashed};
pub use versions::{VersionDiff, VersionText, VersionView};
pub use webhooks::{DeliveryView, WebhookAction, WebhookView};
pub use why::WhyView;

#[cfg(test)]
mod tests;
