//! The keys of a team's space as the server gives them: opened from the account's grants (a grant: the team's
//! key, sealed to one member), with every name and public key checked against what the device has seen before.
//! An epoch is one generation of the team's key.

mod error;
mod grant;
mod granter;
#[cfg(test)]
mod tests;

pub use error::{KeyRemedy, TeamError};
pub use grant::Granting;

use self::granter::Granter;
use crate::account_keys;
use crate::trust::{PinCheck, Trust};
use cairn_api::Api;
use cairn_crypto::{AccountKeys, CryptoError, GrantContext, KeyRing, PublicKeys, open_grant};
use cairn_model::AccountId;
use cairn_transfer::TransferError;
use cairn_wire::teams::{self as wire, Grant, Team, TeamMember, TeamRole};
use std::collections::{HashMap, HashSet};

/// A team's grants and members at one time. Nothing of it is verified yet.
#[derive(Clone, Debug)]
pub struct TeamGrants {
    team: Team,
    /// The current epoch: the generation of the key that is used now.
    epoch: u32,
    /// The account's own.
    grants: Vec<Grant>,
    members: Vec<Member>,
    /// Something was sealed in the space, or somebody has a key of it.
    used: bool,
}

#[derive(Clone, Debug)]
struct Member {
    account: AccountId,
    email: String,
    role: TeamRole,
    has_grant: bool,
    keys: Served,
}

/// Somebody's public keys as the server gives them.
#[derive(Clone, Debug)]
enum Served {
    None,
    /// The bytes are no valid keys.
    Unusable,
    Keys(PublicKeys),
}

/// A member with the keys that the server gives for them, and how these compare with the pinned ones.
#[derive(Clone, Debug)]
pub struct MemberKeys {
    pub account: AccountId,
    pub email: String,
    pub role: TeamRole,
    /// A grant of the current key.
    pub has_grant: bool,
    pub status: KeyStatus,
    /// The keys that the server gives.
    pub keys: Option<PublicKeys>,
    /// The pinned keys, where others are served.
    pub pinned: Option<PublicKeys>,
}

/// The state of somebody's keys, which decides whether a team's key is sealed for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyStatus {
    /// The account itself.
    You,
    /// Pinned, and accepted by nobody yet: a person has to compare.
    New,
    /// Pinned and accepted.
    Known,
    /// Other keys than the pinned ones: a person has to compare.
    Changed,
    /// The member has made no keys yet.
    NoKeys,
    /// The served bytes are no valid keys.
    Unusable,
}

/// The keys that a grant gave.
struct Opened {
    ring: KeyRing,
    /// A person has accepted the granter, or this device knew the key before.
    is_trusted: bool,
}

impl TeamGrants {
    /// Fetches members and grants from the server.
    ///
    /// # Errors
    /// As the server gives them.
    pub async fn fetch(api: &Api, team: &Team) -> Result<Self, TeamError> {
        let keys = api.team_keys(team.id).await?;
        let people = api.team_members(team.id).await?;
        if keys.space_id != team.space_id {
            return Err(TransferError::protocol("the team's keys are of another space").into());
        }
        let granted = !keys.grants.is_empty() || keys.members.iter().any(|one| one.has_grant);
        let used = granted || account_keys::is_used(&api.in_space(team.space_id)).await?;
        let people: HashMap<_, _> = people.into_iter().map(|one| (one.user_id, one)).collect();
        let members = keys.members.iter().map(|one| Member::of(one, &people));
        Ok(Self {
            team: team.clone(),
            epoch: keys.epoch,
            members: members.collect(),
            grants: keys.grants,
            used,
        })
    }

    /// Returns the current epoch.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Opens the keys of the space; the newest is the current one.
    ///
    /// # Errors
    /// [`TeamError::NotGranted`], [`TeamError::NewGranter`], [`TeamError::KeyChanged`], [`TeamError::Refused`].
    pub fn open(&self, own: &AccountKeys, trust: &mut Trust) -> Result<KeyRing, TeamError> {
        let newest = match self.open_newest(own, trust)? {
            Some(opened) if opened.ring.epoch() == self.epoch => return Ok(opened.ring),
            Some(opened) => Some(opened.ring.epoch()),
            None => {
                let taken_along = self.ring_taken_along(own, trust).ok().flatten();
                taken_along.map(|ring| ring.epoch())
            }
        };
        Err(self.not_granted_error(newest))
    }

    /// Returns the error of an account without the key in force; `newest` is the epoch of the newest one that it has.
    fn not_granted_error(&self, newest: Option<u32>) -> TeamError {
        let is_granted = self.members.iter().any(|one| one.has_grant);
        let remedy = match (self.team.role, newest) {
            (TeamRole::Member, Some(_) | None) => KeyRemedy::Ask,
            (TeamRole::Owner | TeamRole::Admin, Some(epoch)) if epoch == self.epoch => {
                KeyRemedy::Renew
            }
            (TeamRole::Owner | TeamRole::Admin, Some(_)) if !is_granted => KeyRemedy::Make,
            (TeamRole::Owner | TeamRole::Admin, None) if !self.used => KeyRemedy::Make,
            (TeamRole::Owner | TeamRole::Admin, Some(_) | None) => KeyRemedy::Ask,
        };
        let team = self.team.name.clone();
        TeamError::NotGranted { team, remedy }
    }

    /// Returns all members, for a person to look at: keys that are seen for the first time are pinned.
    ///
    /// # Errors
    /// [`TeamError::Refused`] if the server gives other keys for this account than its own.
    pub fn members(
        &self,
        own: &AccountKeys,
        trust: &mut Trust,
    ) -> Result<Vec<MemberKeys>, TeamError> {
        let own_public = own.public();
        let mut members = Vec::with_capacity(self.members.len());
        for member in &self.members {
            let (status, keys) = match &member.keys {
                Served::Keys(keys) if *keys == own_public && member.account == own.account => {
                    (KeyStatus::You, Some(keys))
                }
                Served::None | Served::Unusable | Served::Keys(_)
                    if member.account == own.account =>
                {
                    return Err(self.refused_error(CryptoError::KeyChanged));
                }
                Served::None => (KeyStatus::NoKeys, None),
                Served::Unusable => (KeyStatus::Unusable, None),
                Served::Keys(keys) => match trust.compare(member.account, keys) {
                    PinCheck::New => (KeyStatus::New, Some(keys)),
                    PinCheck::Known => (KeyStatus::Known, Some(keys)),
                    PinCheck::Changed => (KeyStatus::Changed, Some(keys)),
                },
            };
            members.push(MemberKeys {
                account: member.account,
                email: member.email.clone(),
                role: member.role,
                has_grant: member.has_grant,
                status,
                keys: keys.cloned(),
                pinned: (status == KeyStatus::Changed)
                    .then(|| trust.pinned_keys(member.account))
                    .flatten(),
            });
        }
        Ok(members)
    }

    /// Pins the changed keys that are served for a member now, because a person has compared them.
    ///
    /// # Errors
    /// [`TeamError::NotShown`] if these are not the ones that were shown before;
    /// [`TeamError::Ambiguous`].
    pub fn accept_changed(&self, email: &str, trust: &mut Trust) -> Result<(), TeamError> {
        self.check_distinct()?;
        let accepted = self
            .keys_of(email)
            .is_some_and(|(account, keys)| trust.accept_changed(account, keys));
        accepted.then_some(()).ok_or_else(|| TeamError::NotShown {
            team: self.team.name.clone(),
            who: email.to_owned(),
        })
    }

    /// Accepts the first keys that were seen of a member, because a person has compared them.
    ///
    /// # Errors
    /// [`TeamError::NotNew`] if no keys are served for that address, or others than the pinned ones;
    /// [`TeamError::Ambiguous`].
    pub fn accept_new(&self, email: &str, trust: &mut Trust) -> Result<(), TeamError> {
        self.check_distinct()?;
        let accepted = self.keys_of(email).is_some_and(|(account, keys)| {
            trust.compare(account, keys);
            trust.accept_new(account, keys)
        });
        accepted.then_some(()).ok_or_else(|| TeamError::NotNew {
            team: self.team.name.clone(),
            who: email.to_owned(),
        })
    }

    fn keys_of(&self, email: &str) -> Option<(AccountId, &PublicKeys)> {
        self.members.iter().find_map(|member| match &member.keys {
            Served::Keys(keys) if member.email == email => Some((member.account, keys)),
            Served::None | Served::Unusable | Served::Keys(_) => None,
        })
    }

    /// Refuses members that a person could not tell apart: an address or a key of two of them.
    fn check_distinct(&self) -> Result<(), TeamError> {
        let mut emails = HashSet::new();
        let mut accounts = HashSet::new();
        let mut keys = HashSet::new();
        for member in &self.members {
            let mut distinct = accounts.insert(member.account);
            distinct &= emails.insert(member.email.trim().to_lowercase());
            if let Served::Keys(served) = &member.keys {
                distinct &= keys.insert(served.rsa_der().to_vec());
                distinct &= keys.insert(served.signing_key().to_vec());
            }
            if !distinct {
                return Err(TeamError::Ambiguous {
                    team: self.team.name.clone(),
                    who: member.email.clone(),
                });
            }
        }
        Ok(())
    }

    /// Returns the newest keys of the space that the account can open: from a grant, or, without one, those that
    /// were taken along when the account's own keys were replaced. The latter are for making grants only: whoever
    /// had the account's former keys has them, too.
    ///
    /// # Errors
    /// As [`TeamGrants::open`].
    pub fn newest_ring(
        &self,
        own: &AccountKeys,
        trust: &mut Trust,
    ) -> Result<Option<KeyRing>, TeamError> {
        match self.open_newest(own, trust)? {
            Some(opened) => Ok(Some(opened.ring)),
            None => self.ring_taken_along(own, trust),
        }
    }

    /// Returns the newest keys of the space for taking them along when the account's own keys are replaced: as
    /// [`Self::newest_ring`], but none whose granter nobody has accepted.
    ///
    /// # Errors
    /// As [`TeamGrants::open`].
    pub fn ring_to_take_along(
        &self,
        own: &AccountKeys,
        trust: &mut Trust,
    ) -> Result<Option<KeyRing>, TeamError> {
        match self.open_newest(own, trust)? {
            Some(opened) if opened.is_trusted => Ok(Some(opened.ring)),
            Some(_) => Err(self.not_granted_error(None)),
            None => self.ring_taken_along(own, trust),
        }
    }

    fn ring_taken_along(
        &self,
        own: &AccountKeys,
        trust: &Trust,
    ) -> Result<Option<KeyRing>, TeamError> {
        let Some(ring) = own.team_ring(self.team.space_id) else {
            return Ok(None);
        };
        if ring.epoch() > self.epoch {
            return Err(self.refused_error(CryptoError::Rollback {
                seen: ring.epoch().into(),
                served: self.epoch.into(),
            }));
        }
        trust
            .check_ring(self.team.id, ring)
            .map_err(|error| self.refused_error(error))?;
        Ok(Some(ring.clone()))
    }

    /// Opens the newest grant that the account has, of the current epoch or of one before.
    fn open_newest(
        &self,
        own: &AccountKeys,
        trust: &mut Trust,
    ) -> Result<Option<Opened>, TeamError> {
        let team = self.team.id;
        trust
            .check_team(team, self.team.space_id, self.epoch)
            .map_err(|error| self.refused_error(error))?;
        let mine = |grant: &&Grant| grant.user_id == own.account && grant.epoch <= self.epoch;
        let Some(grant) = self.grants.iter().filter(mine).max_by_key(|one| one.epoch) else {
            return Ok(None);
        };
        let signer = self.signer(grant, own, trust)?;
        let asked = GrantContext {
            space: self.team.space_id,
            epoch: grant.epoch,
            granter: grant.granted_by,
            signing: signer.key,
        };
        let ring = open_grant(own, &asked, &grant.grant.0)
            .and_then(|ring| trust.check_ring(team, &ring).map(|()| ring))
            .map_err(|error| self.refused_error(error))?;
        let is_trusted = match signer.granter {
            Granter::Accepted => true,
            Granter::Gone => false,
            Granter::New { who, fingerprint } => {
                let team = self.team.name.clone();
                return Err(TeamError::NewGranter {
                    team,
                    who,
                    fingerprint,
                });
            }
        };
        if is_trusted {
            trust.note(team, &ring);
        }
        Ok(Some(Opened { ring, is_trusted }))
    }

    fn refused_error(&self, source: CryptoError) -> TeamError {
        TeamError::Refused {
            team: self.team.name.clone(),
            source,
        }
    }
}

impl Member {
    fn of(served: &wire::MemberKeys, people: &HashMap<AccountId, TeamMember>) -> Self {
        let keys = match (&served.rsa_public, &served.signing_public) {
            (Some(rsa), Some(signing)) => {
                PublicKeys::parse(&rsa.0, &signing.0).map_or(Served::Unusable, Served::Keys)
            }
            (None, None) => Served::None,
            (Some(_), None) | (None, Some(_)) => Served::Unusable,
        };
        let person = people.get(&served.user_id);
        Self {
            account: served.user_id,
            email: person.map_or_else(|| served.user_id.to_string(), |one| one.email.clone()),
            role: person.map_or(TeamRole::Member, |one| one.role),
            has_grant: served.has_grant,
            keys,
        }
    }
}
