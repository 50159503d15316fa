//! Trust on first use: other people's public keys are pinned when they are first seen, and the newest key of
//! each team's space is noted; a server that gives other ones later is detected. Only keys that a person has accepted count.
//!
//! Bytes in, bytes out: the caller keeps them.

use cairn_crypto::{CryptoError, KeyRing, PublicKeys, Random, TrustKey};
use cairn_model::{AccountId, SpaceId, TeamId};
use cairn_wire::Sealed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The label that these records are sealed under; its version is that of the format below.
const LABEL: &str = "people and teams/1";

/// The pinned keys of people, and the newest keys of teams.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Trust {
    people: BTreeMap<AccountId, Pin>,
    teams: BTreeMap<TeamId, TeamNote>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Pin {
    keys: StoredKeys,
    /// A person has compared their fingerprint; until then they count as new.
    #[serde(default)]
    accepted: bool,
    /// Signing keys that a person has replaced since: what was signed with them stays signed.
    former: Vec<Sealed>,
    /// Other keys that were served since and shown to a person, who may accept these and none else.
    shown: Option<StoredKeys>,
}

/// Public keys as bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct StoredKeys {
    rsa: Sealed,
    signing: Sealed,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct TeamNote {
    space: SpaceId,
    epoch: u32,
    /// [`KeyRing::check_value`] of the key of that epoch (generation of the team's key).
    check: Sealed,
}

/// The comparison of served keys with those seen before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PinCheck {
    /// The first that were ever seen, pinned now or before, and accepted by nobody yet.
    New,
    /// The pinned ones, which a person has accepted.
    Known,
    /// Others than the pinned ones, which stay pinned.
    Changed,
}

impl Trust {
    /// Opens what [`Self::seal`] made.
    ///
    /// # Errors
    /// [`CryptoError::NotAuthentic`] if it was altered or sealed under another account's key.
    pub fn open(key: &TrustKey, sealed: &[u8]) -> Result<Self, CryptoError> {
        serde_json::from_slice(&key.open(LABEL, sealed)?).map_err(|_| CryptoError::NotAuthentic)
    }

    /// Seals it for keeping.
    ///
    /// # Errors
    /// None in practice: it can always be written.
    pub fn seal(&self, key: &TrustKey, rng: &mut dyn Random) -> Result<Vec<u8>, CryptoError> {
        let plain = serde_json::to_vec(self)
            .map_err(|_| CryptoError::InvalidInput("what is pinned can't be written"))?;
        Ok(key.seal(LABEL, &plain, rng))
    }

    /// Compares somebody's keys, which are about to be shown, with those that are pinned; pins them if
    /// they are the first.
    pub fn compare(&mut self, account: AccountId, served: &PublicKeys) -> PinCheck {
        let keys = StoredKeys::of(served);
        match self.people.get_mut(&account) {
            None => {
                let pin = Pin {
                    keys,
                    accepted: false,
                    former: Vec::new(),
                    shown: None,
                };
                self.people.insert(account, pin);
                PinCheck::New
            }
            Some(pin) if pin.keys == keys => {
                pin.shown = None;
                if pin.accepted {
                    PinCheck::Known
                } else {
                    PinCheck::New
                }
            }
            Some(pin) => {
                pin.shown = Some(keys);
                PinCheck::Changed
            }
        }
    }

    /// Accepts the pinned keys of somebody, because a person has compared their fingerprint. Returns
    /// false if others are served, or none are pinned.
    pub fn accept_new(&mut self, account: AccountId, served: &PublicKeys) -> bool {
        let keys = StoredKeys::of(served);
        let Some(pin) = self.people.get_mut(&account).filter(|pin| pin.keys == keys) else {
            return false;
        };
        pin.accepted = true;
        true
    }

    /// Pins other keys, if they are the very ones that were shown before. Returns true if they are
    /// the pinned ones now.
    pub fn accept_changed(&mut self, account: AccountId, served: &PublicKeys) -> bool {
        let keys = StoredKeys::of(served);
        let Some(pin) = self.people.get_mut(&account) else {
            return false;
        };
        if pin.shown.as_ref() == Some(&keys) {
            let before = std::mem::replace(&mut pin.keys, keys.clone());
            pin.former.push(before.signing);
            pin.shown = None;
            pin.accepted = true;
        }
        pin.keys == keys
    }

    /// Returns the keys that are pinned for somebody.
    #[must_use]
    pub fn pinned_keys(&self, account: AccountId) -> Option<PublicKeys> {
        let keys = &self.people.get(&account)?.keys;
        PublicKeys::parse(&keys.rsa.0, &keys.signing.0).ok()
    }

    /// Returns true if somebody is or was known by a signing key; `None` for somebody never seen.
    pub(crate) fn knows(&self, account: AccountId, signing: &[u8; 32]) -> Option<bool> {
        let pin = self.people.get(&account)?;
        let mut all = std::iter::once(&pin.keys.signing).chain(&pin.former);
        Some(all.any(|known| known.0 == signing))
    }

    /// Returns true if a person has accepted somebody's keys.
    pub(crate) fn has_accepted(&self, account: AccountId) -> bool {
        self.people.get(&account).is_some_and(|pin| pin.accepted)
    }

    /// Returns true if a grant of a team is signed with a key that somebody has replaced since, and is of a later
    /// epoch than the one that is noted, or none is: whoever has the former key may have made it.
    pub(crate) fn is_late(
        &self,
        team: TeamId,
        epoch: u32,
        account: AccountId,
        signing: &[u8; 32],
    ) -> bool {
        let is_former = self
            .people
            .get(&account)
            .is_some_and(|pin| pin.keys.signing.0 != signing);
        let is_later = |note: &TeamNote| epoch > note.epoch;
        is_former && self.teams.get(&team).is_none_or(is_later)
    }

    /// Notes the newest key of a team's space; an older one than is noted changes nothing.
    pub fn note(&mut self, team: TeamId, ring: &KeyRing) {
        let (space, epoch) = (ring.space(), ring.epoch());
        let older = |note: &TeamNote| note.epoch < epoch;
        if let Some(check) = ring.check_value(epoch)
            && self.teams.get(&team).is_none_or(older)
        {
            let check = Sealed(check.to_vec());
            self.teams.insert(
                team,
                TeamNote {
                    space,
                    epoch,
                    check,
                },
            );
        }
    }

    /// Returns true if a key of the team's space was ever seen.
    pub(crate) fn has_seen(&self, team: TeamId) -> bool {
        self.teams.contains_key(&team)
    }

    /// Returns true if the key of this epoch is noted, with which [`Self::check_ring`] compares.
    pub(crate) fn has_noted(&self, team: TeamId, epoch: u32) -> bool {
        self.teams
            .get(&team)
            .is_some_and(|note| note.epoch == epoch)
    }

    /// Refuses another space than the team had, and an epoch before the noted one.
    pub(crate) fn check_team(
        &self,
        team: TeamId,
        space: SpaceId,
        epoch: u32,
    ) -> Result<(), CryptoError> {
        match self.teams.get(&team) {
            Some(note) if note.space != space => Err(CryptoError::NotAuthentic),
            Some(note) if note.epoch > epoch => Err(CryptoError::Rollback {
                seen: u64::from(note.epoch),
                served: u64::from(epoch),
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses a ring without the noted key: it is an older one, or was made by somebody who never
    /// held that key.
    pub(crate) fn check_ring(&self, team: TeamId, ring: &KeyRing) -> Result<(), CryptoError> {
        self.check_team(team, ring.space(), ring.epoch())?;
        match self.teams.get(&team) {
            Some(note)
                if ring.check_value(note.epoch).map(Vec::from) != Some(note.check.0.clone()) =>
            {
                Err(CryptoError::NotAuthentic)
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl StoredKeys {
    fn of(keys: &PublicKeys) -> Self {
        Self {
            rsa: Sealed(keys.rsa_der().to_vec()),
            signing: Sealed(keys.signing_key().to_vec()),
        }
    }
}
