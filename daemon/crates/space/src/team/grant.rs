//! Granting: seals the team's current key to every member who lacks it, and makes a new key where an epoch (a
//! generation of the key; a new one begins when a member leaves) has none yet.

use super::{KeyStatus, MemberKeys, TeamError, TeamGrants};
use crate::trust::Trust;
use cairn_api::Api;
use cairn_crypto::{AccountKeys, KeyRing, Random, make_grant};
use cairn_model::AccountId;
use cairn_wire::Sealed;
use cairn_wire::teams::{NewGrant, PutGrants, TeamRole};

/// Grants in one request to the server, which takes 1000.
const PUT_GRANTS: usize = 1000;

/// Grants that are made and not sent yet.
#[derive(Clone, Debug)]
pub struct Granting {
    pub ring: KeyRing,
    /// The epoch had no key before.
    pub new_key: bool,
    /// The key is that of the next epoch, which is in force once the grants are sent.
    pub raises: bool,
    pub grants: Vec<NewGrant>,
    /// All members, as they are once the grants are sent.
    pub members: Vec<MemberKeys>,
}

impl Granting {
    /// Returns true if somebody gets a grant by this.
    #[must_use]
    pub fn grants_to(&self, account: AccountId) -> bool {
        self.grants.iter().any(|one| one.user_id == account)
    }
}

impl TeamGrants {
    /// Makes grants of the current key for the members who lack one and whose keys a person has accepted; the key
    /// itself if its epoch has none. Nothing is sent.
    ///
    /// # Errors
    /// [`TeamError::NoRight`]; [`TeamError::Ambiguous`]; [`TeamError::NotGranted`] if others have the key and the account does
    /// not; [`TeamError::KeyWithheld`] for a space in use: a missing key never leads to a new one.
    pub fn grant(
        &self,
        own: &AccountKeys,
        trust: &mut Trust,
        rng: &mut dyn Random,
    ) -> Result<Granting, TeamError> {
        let mut members = self.members_to_grant(own, trust)?;
        let (ring, new_key) = self.ring_in_force(own, trust, &members, rng)?;
        let grants = self.grants_for(&mut members, &ring, own, rng)?;
        Ok(Granting {
            ring,
            new_key,
            raises: false,
            grants,
            members,
        })
    }

    /// Makes the key of the next epoch, because somebody may know the present one, and grants of it for all members
    /// whose keys a person has accepted. Nothing is sent.
    ///
    /// # Errors
    /// As [`TeamGrants::grant`]; [`TeamError::NotGranted`] also if the account has no key to go on from.
    pub fn grant_next_epoch(
        &self,
        own: &AccountKeys,
        trust: &mut Trust,
        rng: &mut dyn Random,
    ) -> Result<Granting, TeamError> {
        let mut members = self.members_to_grant(own, trust)?;
        let Some(before) = self.newest_ring(own, trust)? else {
            return Err(self.not_granted_error(None));
        };
        let next = before.renew(self.epoch.saturating_add(1), rng);
        let ring = next.map_err(|error| self.refused_error(error))?;
        for member in &mut members {
            member.has_grant = false;
        }
        let grants = self.grants_for(&mut members, &ring, own, rng)?;
        Ok(Granting {
            ring,
            new_key: true,
            raises: true,
            grants,
            members,
        })
    }

    /// Returns the members, if the account may grant them keys and no two of them can be taken for one another.
    fn members_to_grant(
        &self,
        own: &AccountKeys,
        trust: &mut Trust,
    ) -> Result<Vec<MemberKeys>, TeamError> {
        if self.team.role == TeamRole::Member {
            let team = self.team.name.clone();
            return Err(TeamError::NoRight { team });
        }
        self.check_distinct()?;
        self.members(own, trust)
    }

    /// Opens the current key, or makes the one of a new epoch. Returns true with a new one.
    fn ring_in_force(
        &self,
        own: &AccountKeys,
        trust: &mut Trust,
        members: &[MemberKeys],
        rng: &mut dyn Random,
    ) -> Result<(KeyRing, bool), TeamError> {
        let team = || self.team.name.clone();
        Ok(match self.newest_ring(own, trust)? {
            Some(ring) if ring.epoch() == self.epoch => (ring, false),
            Some(_) | None if members.iter().any(|one| one.has_grant) => {
                return Err(self.not_granted_error(None));
            }
            Some(before) => {
                let renewed = before.renew(self.epoch, rng);
                (renewed.map_err(|error| self.refused_error(error))?, true)
            }
            None if self.used || trust.has_seen(self.team.id) => {
                return Err(TeamError::KeyWithheld { team: team() });
            }
            None => {
                let space = self.team.space_id;
                (KeyRing::generate(space, self.epoch, rng), true)
            }
        })
    }

    /// Seals the key for each member who lacks it and whose keys are accepted.
    fn grants_for(
        &self,
        members: &mut [MemberKeys],
        ring: &KeyRing,
        own: &AccountKeys,
        rng: &mut dyn Random,
    ) -> Result<Vec<NewGrant>, TeamError> {
        let mut grants = Vec::new();
        for member in members {
            let accepted = matches!(member.status, KeyStatus::You | KeyStatus::Known);
            let Some(keys) = member.keys.as_ref().filter(|_| accepted) else {
                continue;
            };
            if member.has_grant {
                continue;
            }
            let grant = make_grant(ring, own, member.account, keys, rng)
                .map_err(|error| self.refused_error(error))?;
            grants.push(NewGrant {
                user_id: member.account,
                grant: Sealed(grant),
            });
            member.has_grant = true;
        }
        // Of two who make a key at once, the server takes one: each of them names both, or itself.
        grants.sort_by_key(|one| one.user_id != own.account);
        Ok(grants)
    }

    /// Sends the grants to the server.
    ///
    /// # Errors
    /// [`ApiError::Conflict`](cairn_api::ApiError::Conflict) if somebody else granted meanwhile: look again then.
    pub async fn send(&self, api: &Api, granting: &Granting) -> Result<(), TeamError> {
        for (at, grants) in granting.grants.chunks(PUT_GRANTS).enumerate() {
            let put = PutGrants {
                epoch: granting.ring.epoch(),
                raise: granting.raises && at == 0,
                grants: grants.to_vec(),
            };
            api.put_grants(self.team.id, &put).await?;
        }
        Ok(())
    }
}
