//! The newest seal of each node that the synced folders of this installation have seen (a seal: the MAC with
//! which a key holder authenticates a node's name, parent and content). A node whose seal is older is not verified,
//! and no share link takes it: that would be a rollback by the server. Nor is one verified that was sealed with a
//! replaced key after that was replaced.

use crate::folders::spaces;
use cairn_index::{Db, EarlierSeal, Index, IndexError};
use cairn_model::{NodeId, SpaceId};
use cairn_platform::Home;
use cairn_space::{SealInfo, SeenSeals};
use cairn_wire::nodes::{Node, NodeState};
use parking_lot::Mutex;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The database of a space in an installation, opened when it is first needed.
pub(crate) struct SeenInHome {
    file: PathBuf,
    index: Mutex<Option<Index>>,
}

impl SeenInHome {
    /// Looks into the database of a team's space; `None` is the account's own.
    pub(crate) fn of(home: &Home, team: Option<SpaceId>) -> Arc<Self> {
        Arc::new(Self {
            file: team.map_or_else(|| home.index_file(), |team| spaces::index_file(home, team)),
            index: Mutex::default(),
        })
    }
}

impl SeenInHome {
    /// Reads in the database; `unseen` is the answer where there is none.
    fn read<T>(
        &self,
        unseen: T,
        read: impl FnOnce(&Db<'_>) -> Result<T, IndexError>,
    ) -> io::Result<T> {
        let mut index = self.index.lock();
        if index.is_none() {
            if !self.file.exists() {
                return Ok(unseen);
            }
            // A damaged one is not replaced: a new one has seen nothing, and would accept any past state.
            let opened = Index::open_for_lookups(&self.file);
            *index = Some(opened.map_err(io::Error::other)?);
        }
        let Some(index) = &*index else {
            return Ok(unseen);
        };
        index.read(read).map_err(io::Error::other)
    }
}

impl SeenSeals for SeenInHome {
    fn newest_number(&self, node: NodeId) -> io::Result<u64> {
        self.read(0, |db| db.newest_seal(node))
    }

    fn still_vouches(&self, present_epoch: u32, node: &Node, info: SealInfo) -> io::Result<bool> {
        let seal = match node.state {
            NodeState::Active => {
                let seal = node.seal.as_ref().map(|seal| &*seal.0);
                EarlierSeal::State(seal.unwrap_or_default())
            }
            NodeState::Trashed => EarlierSeal::Deletion(info.seq),
        };
        self.read(true, |db| db.still_vouches(present_epoch, node.id, seal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folders::open_index;
    use cairn_control::TeamSpace;
    use cairn_index::RemoteRow;
    use cairn_model::{Name, TeamId};

    #[test]
    fn a_damaged_index_is_an_error_and_not_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        home.create().unwrap();
        std::fs::write(home.index_file(), "no database").unwrap();
        let seen = SeenInHome::of(&home, None);
        let node = NodeId::from_random_bytes([1; 16]);
        for attempt in 1..=2 {
            assert!(seen.newest_number(node).is_err(), "attempt {attempt}");
        }
        let there = std::fs::read_to_string(home.index_file()).unwrap();
        assert_eq!(there, "no database", "it was not set aside");
    }

    #[test]
    fn the_space_of_a_team_has_seen_what_its_own_index_has() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        home.create().unwrap();
        let space = TeamSpace {
            id: SpaceId::from_random_bytes([5; 16]),
            team: TeamId::from_random_bytes([4; 16]),
            name: "Crew".into(),
        };
        let node = NodeId::from_random_bytes([1; 16]);
        let row = RemoteRow {
            seen: 7,
            ..RemoteRow::folder(node, None, Name::new("f").unwrap())
        };
        let opened = spaces::open_team(&home, &space).unwrap();
        opened.index.write(|db| db.put_remote(&[], &row)).unwrap();
        let newest = |team| SeenInHome::of(&home, team).newest_number(node).unwrap();
        assert_eq!(newest(Some(space.id)), 7);
        assert_eq!(newest(None), 0);
        let other = SpaceId::from_random_bytes([6; 16]);
        assert_eq!(newest(Some(other)), 0);
    }

    #[test]
    fn the_newest_seal_is_the_one_that_the_index_has_seen() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        let node = NodeId::from_random_bytes([1; 16]);
        let seen = SeenInHome::of(&home, None);
        assert_eq!(seen.newest_number(node).unwrap(), 0, "there is no index");
        assert!(!home.index_file().exists());
        let row = RemoteRow {
            seen: 7,
            ..RemoteRow::folder(node, None, Name::new("f").unwrap())
        };
        let (index, _) = open_index(&home).unwrap();
        index.write(|db| db.put_remote(&[], &row)).unwrap();
        assert_eq!(seen.newest_number(node).unwrap(), 7);
        let other = NodeId::from_random_bytes([2; 16]);
        assert_eq!(seen.newest_number(other).unwrap(), 0);
    }
}
