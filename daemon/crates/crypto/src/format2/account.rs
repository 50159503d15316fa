//! Passphrases, invitations and the words by which people compare what they see.

mod invitation;
mod root;
mod words;

pub use invitation::InvitationToken;
pub use root::{Root, RootParams};
pub use words::head_words;
