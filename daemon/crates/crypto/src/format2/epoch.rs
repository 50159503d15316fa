//! New epochs of teams (an epoch: one generation of a team's secret; a new one begins when a member leaves): a new
//! secret, a grant (the secret, sealed to one member) for each member, and the older secrets under the new one.

use crate::error::{CryptoError, require};
use crate::format2::grant::{make_grant, open_grant};
use crate::format2::ring::KeyRing;
use crate::format2::sharing::{SharingKeys, SharingPublic};
use crate::random::Random;
use cairn_log::{Boxes, Epoch, SealedBox};
use cairn_model::{AccountId, SpaceId};

/// An epoch that has yet to be committed.
#[derive(Clone, Debug)]
pub struct NewEpoch {
    pub ring: KeyRing,
    /// The body of the statement.
    pub statement: Epoch,
    /// The blob beside the commit.
    pub boxes: Boxes,
}

impl NewEpoch {
    pub(crate) fn new(ring: KeyRing, boxes: Vec<SealedBox>, rng: &mut dyn Random) -> Self {
        let boxes = Boxes::new(ring.seal_older(rng), boxes);
        let statement = Epoch {
            epoch: ring.newest_secret().epoch(),
            check: ring.newest_secret().check_value(),
            boxes: boxes.hash(),
        };
        Self {
            ring,
            statement,
            boxes,
        }
    }
}

/// Makes the next epoch of a team for all its members; their sharing keys come from their device lists.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] for keys that can't be sealed to.
pub fn raise_team_epoch(
    ring: &KeyRing,
    members: &[(AccountId, SharingPublic)],
    rng: &mut dyn Random,
) -> std::result::Result<NewEpoch, CryptoError> {
    let ring = ring.with_next_epoch(rng);
    let mut boxes = Vec::with_capacity(members.len());
    for (account, public) in members {
        boxes.push(SealedBox {
            account: *account,
            number: 0,
            sealed: make_grant(ring.newest_secret(), *account, public, rng)?,
        });
    }
    Ok(NewEpoch::new(ring, boxes, rng))
}

/// Opens all secrets of a team up to an epoch that its log has. `boxes` is the blob beside the commit.
///
/// # Errors
/// [`CryptoError::NotAuthentic`] for another blob, a member without a box, or a box of another secret.
pub fn open_team_epoch(
    keys: &SharingKeys,
    account: AccountId,
    space: SpaceId,
    statement: &Epoch,
    boxes: &[u8],
) -> std::result::Result<KeyRing, CryptoError> {
    let boxes = Boxes::decode_named(boxes, &statement.boxes)?;
    let grant = boxes.find(account, 0).ok_or(CryptoError::NotAuthentic)?;
    let secret = open_grant(keys, space, statement.epoch, account, grant)?;
    require(secret.check_value() == statement.check)?;
    KeyRing::open_older(secret, &boxes.ring)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemRandom;
    use crate::format2::SpaceSecret;
    use crate::format2::sharing::tests::sharing_keys;

    fn account(n: u8) -> AccountId {
        AccountId::from_random_bytes([n; 16])
    }

    fn space() -> SpaceId {
        SpaceId::from_random_bytes([1; 16])
    }

    fn raise_epoch(members: &[u8]) -> NewEpoch {
        let first = SpaceSecret::from_bytes(space(), 1, &[7; 32]).unwrap();
        let members: Vec<_> = members
            .iter()
            .map(|n| (account(*n), sharing_keys(*n).public().clone()))
            .collect();
        raise_team_epoch(&KeyRing::new(first), &members, &mut SystemRandom).unwrap()
    }

    fn open(n: u8, statement: &Epoch, boxes: &Boxes) -> Result<KeyRing, CryptoError> {
        open_team_epoch(
            &sharing_keys(n),
            account(n),
            space(),
            statement,
            &boxes.encode(),
        )
    }

    #[test]
    fn members_of_an_epoch_open_it_and_all_before() {
        let new = raise_epoch(&[0, 1]);
        assert_eq!(new.statement.epoch, 2);
        for n in [0, 1] {
            let ring = open(n, &new.statement, &new.boxes).unwrap();
            assert_eq!(*ring.encode(), *new.ring.encode());
        }
        let without = raise_epoch(&[0]);
        assert!(open(1, &without.statement, &without.boxes).is_err());
        // The box of somebody else, under one's own name.
        let mut moved = without.boxes;
        moved.boxes[0].account = account(1);
        let statement = Epoch {
            boxes: moved.hash(),
            ..without.statement
        };
        assert!(open(1, &statement, &moved).is_err());
    }

    #[test]
    fn another_blob_or_another_secret_is_refused() {
        let (new, other) = (raise_epoch(&[0]), raise_epoch(&[0]));
        assert!(open(0, &new.statement, &other.boxes).is_err());
        let mut statement = new.statement.clone();
        statement.check = other.statement.check;
        assert!(open(0, &statement, &new.boxes).is_err());
        let mut boxes = new.boxes.clone();
        boxes.ring = other.boxes.ring;
        let statement = Epoch {
            boxes: boxes.hash(),
            ..new.statement
        };
        assert!(open(0, &statement, &boxes).is_err());
    }
}
