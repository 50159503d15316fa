//! Keys of an account: the passphrase and what it opens, what each device gets when the keys change, invitations to a
//! team, and the words by which people compare that they see the same history.

mod device_box;
mod invitation;
mod key;
mod root;
mod rotation;
mod secrets;
mod words;

pub use device_box::{BoxKey, DeviceBox};
pub use invitation::InvitationToken;
pub use key::AccountKey;
pub use root::{Root, RootCost, RootParams};
pub use rotation::{KeyRotation, change_passphrase, revoke_devices};
pub use secrets::{AccountSecrets, SealedAccount};
pub use words::comparison_words;
