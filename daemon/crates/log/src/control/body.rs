//! The bodies of control statements: the signed changes of a space's members, keys and devices. An epoch is one
//! generation of the space's key; boxes are its secret, sealed to each member or device.

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

/// The first statement in the log of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genesis {
    /// The server doesn't see the names.
    pub is_private: bool,
    /// The founder.
    pub account: AccountId,
    /// The founder's identity, an Ed25519 public key.
    pub identity: [u8; 32],
    pub clock_ms: u64,
    pub random: [u8; 16],
}

/// A member, as a roster lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub account: AccountId,
    pub identity: [u8; 32],
    pub role: Role,
}

/// The list of all members of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    pub members: Vec<Member>,
    /// SHA-256 of the boxes beside the commit; zeros if there are none.
    pub boxes: [u8; 32],
    /// The account that signs, and its signature; `None` if nobody is added or gets a higher role.
    pub signed: Option<(AccountId, [u8; 64])>,
}

/// The beginning of an epoch: a new key of the space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epoch {
    pub epoch: u64,
    /// A value derived from the epoch's secret, by which a member checks the one received.
    pub check: [u8; 32],
    /// SHA-256 of the boxes beside the commit.
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
    /// The number of the list; only one with a higher number replaces it.
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

/// A state of the space that a device has verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The size of the log, in leaves.
    pub position: u64,
    /// The Merkle root at that size.
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
    /// The file or folder that is shared.
    pub top: NodeId,
    /// Counts the refreshes of the link.
    pub listing: u64,
    pub hash: [u8; 32],
}

/// A device's statement that it continues a log that the server restored from a backup.
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

/// A claim of a new identity (signing key of an account), or an objection to one.
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
    /// Returns the encoding of the members, in the record and for the signature.
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

    /// Returns the class of the chains that such bodies stand in: the least kind among them.
    pub(crate) fn class(&self) -> u8 {
        match self {
            Self::Genesis(_) | Self::Roster(_) | Self::Epoch(_) | Self::Invitation(_) => 32,
            Self::DeviceList(_)
            | Self::Checkpoint(_)
            | Self::Link(_)
            | Self::Rejoin(_)
            | Self::Joined(_)
            | Self::Identity(_) => self.kind(),
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
