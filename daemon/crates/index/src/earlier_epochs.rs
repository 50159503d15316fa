//! Seals that were made under the key of an earlier epoch (generation of the space's key), after that was replaced.
//!
//! A person who lost access when the key was replaced still has the earlier keys, and can seal with them. So once
//! everything was listed with the keys of the present epoch, such a seal vouches for what the index knows already,
//! and for nothing new.

use crate::error::IndexError;
use crate::open::Db;
use cairn_model::NodeId;

/// Key in the index of the epoch with whose keys everything was listed.
const LISTED_EPOCH: &str = "listed_epoch";

/// A valid seal of an epoch before the present one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EarlierSeal<'a> {
    /// The seal of a state that is in the tree.
    State(&'a [u8]),
    /// The number of the seal of a deletion: no more of it is kept.
    Deletion(u64),
}

impl Db<'_> {
    /// Notes that everything was listed with the keys of an epoch.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn note_listed_epoch(&self, epoch: u32) -> Result<(), IndexError> {
        self.set_meta(LISTED_EPOCH, &epoch.to_be_bytes())
    }

    /// Returns whether everything was listed with the keys of this epoch: seals of those before vouch for nothing
    /// new any more.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn is_listed_in(&self, epoch: u32) -> Result<bool, IndexError> {
        Ok(self.meta(LISTED_EPOCH)?.as_deref() == Some(epoch.to_be_bytes().as_slice()))
    }

    /// Returns whether a node's seal of an epoch before the present one vouches for it all the same, because it was
    /// recorded while it did, or not everything was listed yet.
    ///
    /// # Errors
    /// Returns the error of SQLite.
    pub fn still_vouches(
        &self,
        present_epoch: u32,
        node: NodeId,
        seal: EarlierSeal<'_>,
    ) -> Result<bool, IndexError> {
        if !self.is_listed_in(present_epoch)? {
            return Ok(true);
        }
        let past = self.past_seal(node)?;
        match seal {
            EarlierSeal::State(seal) => {
                let present = self.remote_row(node)?;
                Ok(
                    present.is_some_and(|known| known.seal.as_deref() == Some(seal))
                        || past.is_some_and(|past| past.is_of_state(seal)),
                )
            }
            EarlierSeal::Deletion(number) => {
                Ok(past.is_some_and(|past| past.is_of_deletion(number)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::Index;
    use crate::remote::RemoteRow;
    use crate::testing::{name, node};

    fn vouches(index: &Index, seal: EarlierSeal<'_>) -> bool {
        index.read(|db| db.still_vouches(2, node(1), seal)).unwrap()
    }

    #[test]
    fn seals_of_a_replaced_key_vouch_for_what_was_recorded_before() {
        let index = Index::memory().unwrap();
        let (known, other) = (EarlierSeal::State(b"known"), EarlierSeal::State(b"other"));
        let row = RemoteRow {
            seal: Some(b"known".to_vec()),
            seen: 3,
            ..RemoteRow::folder(node(1), None, name("f"))
        };
        index.write(|db| db.put_remote(&[], &row)).unwrap();
        assert!(vouches(&index, other), "not everything was listed");
        index.write(|db| db.note_listed_epoch(1)).unwrap();
        assert!(vouches(&index, other), "not with the present keys");

        index.write(|db| db.note_listed_epoch(2)).unwrap();
        assert!(vouches(&index, known) && !vouches(&index, other));
        assert!(!vouches(&index, EarlierSeal::Deletion(3)));
        // What is recorded afresh was known, too.
        index.write(|db| db.clear_remote()).unwrap();
        assert!(vouches(&index, known) && !vouches(&index, other));

        index.write(|db| db.put_deletion_seal(node(1), 4)).unwrap();
        assert!(vouches(&index, EarlierSeal::Deletion(4)));
        assert!(!vouches(&index, EarlierSeal::Deletion(5)));
        assert!(!vouches(&index, known), "it was deleted since");
    }
}
