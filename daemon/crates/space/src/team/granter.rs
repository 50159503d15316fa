//! The granter of a team's key: the server names them, and gives their public keys. So their signature counts only
//! once a person has accepted these.

use super::{Served, TeamError, TeamGrants};
use crate::trust::{PinCheck, Trust};
use cairn_crypto::{AccountKeys, CryptoError, grant_signer};
use cairn_wire::teams::Grant;

/// The signing key of a grant.
pub(super) struct Signer {
    pub(super) key: [u8; 32],
    pub(super) granter: Granter,
}

/// The trust in whoever granted a key.
pub(super) enum Granter {
    /// A person has accepted them, or this device knew the key before.
    Accepted,
    /// The granter has left since: the key serves for nothing but to make its successor.
    Gone,
    /// The granter's keys were never accepted: a person has to compare.
    New { who: String, fingerprint: String },
}

impl TeamGrants {
    /// Returns the signing key that a grant's granter is known by.
    pub(super) fn signer(
        &self,
        grant: &Grant,
        own: &AccountKeys,
        trust: &mut Trust,
    ) -> Result<Signer, TeamError> {
        let key = grant_signer(&grant.grant.0).map_err(|error| self.refused_error(error))?;
        let granter = self.granter(grant, &key, own, trust)?;
        Ok(Signer { key, granter })
    }

    fn granter(
        &self,
        grant: &Grant,
        key: &[u8; 32],
        own: &AccountKeys,
        trust: &mut Trust,
    ) -> Result<Granter, TeamError> {
        let refused = || self.refused_error(CryptoError::NotAuthentic);
        let (team, granter) = (self.team.id, grant.granted_by);
        if granter == own.account {
            let is_own = *key == own.signing.public();
            return is_own.then_some(Granter::Accepted).ok_or_else(refused);
        }
        let known = trust.knows(granter, key);
        if known == Some(true) && trust.is_late(team, grant.epoch, granter, key) {
            return Err(refused());
        }
        // The ring is compared with the noted key, so that it doesn't matter who hands that out once more.
        let is_noted = trust.has_noted(team, grant.epoch);
        if known == Some(true) && (is_noted || trust.has_accepted(granter)) {
            return Ok(Granter::Accepted);
        }
        let member = self.members.iter().find(|one| one.account == granter);
        let served = member.and_then(|member| match &member.keys {
            Served::Keys(keys) => Some((member, keys)),
            Served::None | Served::Unusable => None,
        });
        match served {
            Some((member, keys)) if keys.signing_key() == *key => {
                let who = member.email.clone();
                match trust.compare(granter, keys) {
                    PinCheck::Changed => Err(TeamError::KeyChanged {
                        team: self.team.name.clone(),
                        who,
                    }),
                    PinCheck::New | PinCheck::Known if is_noted => Ok(Granter::Accepted),
                    PinCheck::New | PinCheck::Known => Ok(Granter::New {
                        who,
                        fingerprint: keys.fingerprint(),
                    }),
                }
            }
            // Who has left since is not served any more. That ended the epoch, so that this can't be
            // the one in force, and the key is used for nothing but to make its successor.
            None if known != Some(false) && grant.epoch < self.epoch => Ok(Granter::Gone),
            Some(_) | None => Err(refused()),
        }
    }
}
