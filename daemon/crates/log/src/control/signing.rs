//! The bytes that an identity signs in device lists, rosters and changes of itself.

use super::body::{DeviceList, IdentityChange, Roster};
use crate::associated_data::AssociatedData;
use crate::sha256;
use cairn_model::{AccountId, SpaceId};

impl DeviceList {
    /// Returns SHA-256 of the sharing keys: RSA modulus, then ML-KEM key.
    #[must_use]
    pub fn sharing_hash(&self) -> [u8; 32] {
        sha256(&[&self.rsa[..], &self.kem[..]].concat())
    }

    /// Returns the bytes that the account's identity signs.
    #[must_use]
    pub fn to_sign(&self, account: AccountId) -> AssociatedData {
        let mut signed = AssociatedData::new("cairn/2/devices")
            .id(&account)
            .number(self.counter)
            .bytes(&self.sharing_hash());
        for device in &self.devices {
            signed = signed.number(u64::from(device.number)).bytes(&device.key);
        }
        signed
    }
}

impl Roster {
    /// Returns the bytes that the identity of an owner or admin signs.
    #[must_use]
    pub fn to_sign(&self, space: SpaceId, prev: &[u8; 16]) -> AssociatedData {
        AssociatedData::new("cairn/2/roster")
            .id(&space)
            .bytes(prev)
            .bytes(&self.encode_members())
            .bytes(&self.boxes)
    }
}

impl IdentityChange {
    /// Returns the bytes that the new identity signs in a claim, and the old one against it.
    #[must_use]
    pub fn to_sign(&self, account: AccountId) -> AssociatedData {
        AssociatedData::new("cairn/2/claim")
            .id(&account)
            .number(if self.is_objection { 2 } else { 1 })
            .bytes(&self.old)
            .bytes(&self.new)
    }
}
