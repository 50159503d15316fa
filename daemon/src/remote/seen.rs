//! The seals that the synced folders of a home have seen: what is shared may not be older.

use crate::folders::open_index;
use cairn_index::Index;
use cairn_model::NodeId;
use cairn_platform::Home;
use cairn_space::SeenSeals;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;

/// The index of a home, opened when it is first needed.
pub(crate) struct SeenInHome {
    home: Home,
    index: Mutex<Option<Index>>,
}

impl SeenInHome {
    pub(crate) fn of(home: &Home) -> Arc<Self> {
        Arc::new(Self {
            home: home.clone(),
            index: Mutex::default(),
        })
    }
}

impl SeenSeals for SeenInHome {
    fn newest(&self, node: NodeId) -> io::Result<u64> {
        let mut index = self.index.lock();
        if index.is_none() {
            if !self.home.index_file().exists() {
                return Ok(0);
            }
            let opened = open_index(&self.home);
            let (opened, set_aside) =
                opened.map_err(|failure| io::Error::other(failure.message))?;
            if let Some(damaged) = set_aside {
                // A new one has seen nothing: any past state would pass.
                let damaged = damaged.display();
                return Err(io::Error::other(format!(
                    "the index was damaged and is now {damaged}; sync once, then share again"
                )));
            }
            *index = Some(opened);
        }
        let Some(index) = &*index else { return Ok(0) };
        let row = index.read(|db| db.remote(node));
        Ok(row.map_err(io::Error::other)?.map_or(0, |row| row.seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_index::RemoteRow;
    use cairn_model::{Kind, Name};

    #[test]
    fn a_damaged_index_is_an_error_and_not_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        home.create().unwrap();
        std::fs::write(home.index_file(), "no database").unwrap();
        let seen = SeenInHome::of(&home);
        let error = seen.newest(NodeId::from_random_bytes([1; 16])).unwrap_err();
        assert!(error.to_string().contains("was damaged"), "{error}");
    }

    #[test]
    fn the_newest_seal_is_the_one_that_the_index_has_seen() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        let node = NodeId::from_random_bytes([1; 16]);
        let seen = SeenInHome::of(&home);
        assert_eq!(seen.newest(node).unwrap(), 0, "there is no index");
        assert!(!home.index_file().exists());
        let row = RemoteRow {
            node,
            parent: None,
            name: Name::new("f").unwrap(),
            kind: Kind::Folder,
            revision: None,
            size: 0,
            modified_ms: None,
            executable: false,
            version: 1,
            seal: None,
            source: None,
            device: None,
            hash: None,
            number: None,
            seen: 7,
            changed_ms: None,
        };
        let (index, _) = open_index(&home).unwrap();
        index.write(|db| db.put_remote(&[], &row)).unwrap();
        assert_eq!(seen.newest(node).unwrap(), 7);
        let other = NodeId::from_random_bytes([2; 16]);
        assert_eq!(seen.newest(other).unwrap(), 0);
    }
}
