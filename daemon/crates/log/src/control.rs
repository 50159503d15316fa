//! Control statements: signed changes of who belongs to a space, of its keys, devices, links and checkpoints.
//!
//! kind u8 · chain 16 · prev 16 (the short hash of the chain's newest statement) · body. A chain is all
//! statements about one subject, such as an account's devices. It follows from the kind and the body, so a
//! statement can't be put into another one. A number is a length in bytes.

mod body;
mod signing;

pub use body::{
    Checkpoint, ControlBody, Device, DeviceList, Epoch, Genesis, IdentityChange, Invitation,
    Joined, KEM_PUBLIC, LinkNotice, Member, RSA_MODULUS, Rejoin, Role, Roster,
};

use crate::bytes::{Reader, Writer};
use crate::error::{LogError, Result};
use uuid::Uuid;

/// The name of a chain of control statements.
pub type Chain = [u8; 16];

/// A control statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    pub chain: Chain,
    /// The short hash of the statement before in the chain; zeros if there is none.
    pub prev: [u8; 16],
    pub body: ControlBody,
}

impl Control {
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        let mut out = Writer::new();
        out.u8(self.body.kind()).raw(&self.chain).raw(&self.prev);
        self.body.write(&mut out)?;
        Ok(out.finish())
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let kind = reader.u8()?;
        if !ControlBody::is_known(kind) {
            return Err(LogError::UnsupportedFormat(u32::from(kind)));
        }
        let (chain, prev) = (reader.array()?, reader.array()?);
        let body = ControlBody::read(kind, &mut reader)?;
        reader.end()?;
        Ok(Self { chain, prev, body })
    }
}

/// Returns the chain of a device's checkpoints.
pub(crate) fn checkpoint_chain(device: u32) -> Chain {
    device_chain(0, device)
}

/// Returns the chain of a device's rejoins.
pub(crate) fn rejoin_chain(device: u32) -> Chain {
    device_chain(1, device)
}

fn device_chain(last: u8, device: u32) -> Chain {
    let mut chain = [0; 16];
    chain[11] = last;
    chain[12..].copy_from_slice(&device.to_be_bytes());
    chain
}

/// Returns the chain of changes of an account's identity: the account's id with its last bit flipped.
pub(crate) fn identity_chain(account: &Uuid) -> Chain {
    let mut chain = *account.as_bytes();
    chain[15] ^= 1;
    chain
}

#[cfg(test)]
mod tests;
