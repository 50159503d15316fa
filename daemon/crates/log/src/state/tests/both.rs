//! A state in memory and one that keeps its records as a database does. Each test of the rules runs over
//! both: they take and refuse the same for the same reason, and have the same head and digest.

use super::rows::RowRecords;
use super::*;

#[derive(Clone, Debug)]
pub(super) struct Both {
    memory: SpaceState,
    rows: SpaceState<RowRecords>,
}

impl Both {
    pub(super) fn new(space: SpaceId, history: [u8; 16]) -> Self {
        Self {
            memory: SpaceState::new(space, history),
            rows: SpaceState::with_records(space, history, RowRecords::default()),
        }
    }

    pub(super) fn with_history(self, history: [u8; 16]) -> Self {
        Self {
            memory: self.memory.with_history(history),
            rows: self.rows.with_history(history),
        }
    }

    pub(super) fn apply_commit(&mut self, bytes: &[u8]) -> LogResult<u64> {
        let result = self.memory.apply_commit(bytes);
        // Only a reader forgets roots.
        if result != Err(Refusal::RootUnknown) {
            assert_eq!(self.resume().apply_commit(bytes), result);
        }
        self.compare();
        result
    }

    pub(super) fn apply_entry(&mut self, bytes: &[u8]) -> LogResult<u64> {
        let result = self.memory.apply_entry(bytes);
        assert_eq!(self.resume().apply_entry(bytes), result);
        self.compare();
        result
    }

    /// Goes on from bytes, as after a restart.
    fn resume(&mut self) -> &mut SpaceState<RowRecords> {
        let (core, records) = (self.rows.core(), self.rows.records().clone());
        self.rows = SpaceState::resume(self.rows.space, &core, records).unwrap();
        &mut self.rows
    }

    fn compare(&self) {
        assert_eq!(self.rows.head(), self.memory.head());
        assert_eq!(self.rows.digest(), self.memory.digest());
        assert_eq!(self.rows.records().digest(), *self.memory.digest());
        assert_eq!(self.rows.core(), self.memory.core());
        for (id, node) in &self.memory.records.nodes {
            assert_eq!(self.rows.records().node(*id).as_ref(), Ok(node));
        }
    }
}

impl std::ops::Deref for Both {
    type Target = SpaceState;

    fn deref(&self) -> &SpaceState {
        &self.memory
    }
}

impl std::ops::DerefMut for Both {
    fn deref_mut(&mut self) -> &mut SpaceState {
        &mut self.memory
    }
}

#[test]
fn a_core_is_read_whole_or_not_at_all() {
    let mut world = World::with_genesis(false);
    world.second_device();
    world.create_folder(1, None);
    let core = world.state.core();
    let resume =
        |core: &[u8]| SpaceState::resume(world.space(), core, world.state.records().clone());
    assert_eq!(resume(&core).unwrap().core(), core);
    for at in 0..core.len() {
        assert!(resume(&core[..at]).is_err(), "{at}");
    }
    assert!(resume(&[&core[..], &[0]].concat()).is_err());
    let mut newer = core;
    newer[0] = 2;
    let error = resume(&newer).err();
    assert_eq!(error, Some(crate::LogError::UnsupportedFormat(2)));
}
