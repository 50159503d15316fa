//! The bodies of control statements.

mod codec;

use crate::bytes::Writer;
use crate::error::{LogError, Result};
use cairn_model::{AccountId, NodeId, SpaceId};

/// Bytes of an RSA modulus (3072 bits).
pub const RSA_MODULUS: usize = 384;
/// Bytes of an ML-KEM-768 public key.
pub const KEM_PUBLIC: usize = 1184;

/// A member's role; each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Viewer,
    /// May edit.
    Member,
    Admin,
    Owner,
}

/// The first statement of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genesis {
    pub is_private: bool,
    /// The founder.
    pub account: AccountId,
    /// The founder's identity, an Ed25519 public key.
    pub identity: [u8; 32],
    pub clock_ms: u64,
    pub random: [u8; 16],
}

/// One line of a roster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub account: AccountId,
    pub identity: [u8; 32],
    pub role: Role,
}

/// All members of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    pub members: Vec<Member>,
    /// SHA-256 of the boxes beside the commit; zeros if there are none.
    pub boxes: [u8; 32],
    /// The account that signs, and its signature; `None` if nobody is added or raised.
    pub signed: Option<(AccountId, [u8; 64])>,
}

/// A new epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epoch {
    pub epoch: u64,
    /// The check value of the epoch's secret.
    pub check: [u8; 32],
    pub boxes: [u8; 32],
}

/// A device of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Device {
    /// The first four bytes of SHA-256 of the key.
    pub number: u32,
    /// Ed25519.
    pub key: [u8; 32],
}

/// The devices and sharing keys of an account, signed by its identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceList {
    pub identity: [u8; 32],
    /// Only a higher one is taken.
    pub counter: u64,
    /// The modulus of the RSA key; its exponent is 65537.
    pub rsa: Box<[u8; RSA_MODULUS]>,
    pub kem: Box<[u8; KEM_PUBLIC]>,
    /// Sorted by number.
    pub devices: Vec<Device>,
    pub signature: [u8; 64],
}

/// An offer to join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    pub invite: [u8; 16],
    /// The Ed25519 public key of the token.
    pub token: [u8; 32],
    /// `None` if it is withdrawn.
    pub role: Option<Role>,
    pub expiry_ms: u64,
}

/// A state that a device has verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub position: u64,
    pub root: [u8; 32],
    /// BLAKE3 of the state digest.
    pub digest: [u8; 32],
    pub epoch: u64,
}

/// The making, refreshing or revoking of a share link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkNotice {
    /// 1 made, 2 refreshed, 3 revoked.
    pub act: u8,
    pub top: NodeId,
    pub listing: u64,
    pub hash: [u8; 32],
}

/// A device's word that it takes up a restored history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejoin {
    pub history: [u8; 16],
    pub size: u64,
    pub root: [u8; 32],
}

/// A team that the account belongs to, in its personal log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    pub is_in: bool,
    /// The hash of the team's genesis.
    pub genesis: [u8; 32],
    pub size: u64,
    pub root: [u8; 32],
}

/// A claim of a new identity, or an objection to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityChange {
    pub is_objection: bool,
    pub old: [u8; 32],
    pub new: [u8; 32],
    pub signature: [u8; 64],
}

/// The body of a control statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlBody {
    Genesis(Genesis),
    Roster(Roster),
    Epoch(Epoch),
    DeviceList(DeviceList),
    Invitation(Invitation),
    Checkpoint(Checkpoint),
    Link(LinkNotice),
    Rejoin(Rejoin),
    Joined(Joined),
    Identity(IdentityChange),
}

impl Role {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Viewer => 1,
            Self::Member => 2,
            Self::Admin => 3,
            Self::Owner => 4,
        }
    }

    pub(crate) fn from_code(code: u8) -> Result<Self> {
        Ok(match code {
            1 => Self::Viewer,
            2 => Self::Member,
            3 => Self::Admin,
            4 => Self::Owner,
            _ => return Err(LogError::NotGenuine),
        })
    }
}

impl Roster {
    /// Returns the members as the record and the signature have them.
    pub(crate) fn encode_members(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.v(self.members.len() as u64);
        for member in &self.members {
            out.raw(member.account.as_bytes())
                .raw(&member.identity)
                .u8(member.role.code());
        }
        out.finish()
    }
}

impl ControlBody {
    pub(super) fn is_known(kind: u8) -> bool {
        (32..=41).contains(&kind)
    }

    pub(super) fn kind(&self) -> u8 {
        match self {
            Self::Genesis(_) => 32,
            Self::Roster(_) => 33,
            Self::Epoch(_) => 34,
            Self::DeviceList(_) => 35,
            Self::Invitation(_) => 36,
            Self::Checkpoint(_) => 37,
            Self::Link(_) => 38,
            Self::Rejoin(_) => 39,
            Self::Joined(_) => 40,
            Self::Identity(_) => 41,
        }
    }

    /// Returns the chain that the body belongs to, if it follows from body, space and signing device.
    pub(crate) fn chain(&self, space: SpaceId, device: u32) -> Option<[u8; 16]> {
        match self {
            Self::Genesis(_) | Self::Roster(_) | Self::Epoch(_) | Self::Invitation(_) => {
                Some(*space.as_bytes())
            }
            Self::Checkpoint(_) => Some(super::checkpoint_chain(device)),
            Self::Rejoin(_) => Some(super::rejoin_chain(device)),
            // An account, a share or a team: named by the statement alone.
            Self::DeviceList(_) | Self::Link(_) | Self::Joined(_) | Self::Identity(_) => None,
        }
    }
}
