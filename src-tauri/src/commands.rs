//! The calls of the window and what carries them out.
//!
//! Most of them go on to the daemon or to the `cairn` program; pickers and file managers are reached
//! through [`Desktop`].

mod account;
mod calls;
mod conflicts;
mod context;
mod device;
mod folders;
mod history;
mod links;
mod sync;
mod trash;
mod versions;
mod webhooks;

pub use account::{AccountView, DeviceView, LoginForm};
pub use calls::{Call, Signature, signatures, visit_types};
pub use context::{Commands, Desktop};
pub use device::{Assistant, AssistantConfig, AutostartView, ConfigKey, DaemonConfig, StartInfo};
pub use folders::{FolderChoices, GateView, IgnoreCheck, RemoteFolder, RemoteItem};
pub use history::{LeftAsItIs, PastEvent, PastPage, RewindPlan, RewindView};
pub use links::{LinkAction, LinkChoices, LinkTarget, LinkView};
pub(crate) use sync::pause_request;
pub use trash::{LocalTrashed, RemoteTrashed};
pub use versions::{VersionDiff, VersionText, VersionView};
pub use webhooks::{DeliveryView, WebhookAction, WebhookView};

#[cfg(test)]
mod tests;
