//! Names of the account's devices. They are only for people; without them ids are shown.

use cairn_model::DeviceId;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct LoadedNames {
    names: BTreeMap<DeviceId, String>,
    loaded: bool,
    /// Seen or asked for since the last loading, and not known.
    missed: BTreeSet<DeviceId>,
    /// Devices that the service doesn't know either.
    nameless: BTreeSet<DeviceId>,
}

impl LoadedNames {
    fn add(&mut self, names: impl IntoIterator<Item = (DeviceId, String)>) {
        self.names.extend(names);
        self.missed.retain(|id| !self.names.contains_key(id));
        self.nameless.retain(|id| !self.names.contains_key(id));
    }

    /// Has the name of a device loaded if it is not known; asking again and again for one that was removed helps nobody.
    fn miss(&mut self, id: DeviceId) {
        if !self.names.contains_key(&id) && !self.nameless.contains(&id) {
            self.missed.insert(id);
        }
    }
}

/// The names that were loaded.
#[derive(Default)]
pub(crate) struct DeviceNames(Mutex<LoadedNames>);

impl DeviceNames {
    /// Returns whether the names are to be loaded: for the first time, or because of a device that joined later.
    pub(crate) fn is_due(&self) -> bool {
        let known = self.0.lock();
        !known.loaded || !known.missed.is_empty()
    }

    /// Replaces the names by those of all devices of the account.
    pub(crate) fn load(&self, names: impl IntoIterator<Item = (DeviceId, String)>) {
        let mut known = self.0.lock();
        let known = &mut *known;
        known.loaded = true;
        known.nameless.append(&mut known.missed);
        known.add(names);
    }

    /// Adds names that devices have given themselves.
    pub(crate) fn add(&self, names: impl IntoIterator<Item = (DeviceId, String)>) {
        self.0.lock().add(names);
    }

    /// Has the names of devices that have changed something loaded, before anybody is shown what they did.
    pub(crate) fn note(&self, devices: impl IntoIterator<Item = DeviceId>) {
        let mut known = self.0.lock();
        for id in devices {
            known.miss(id);
        }
    }

    /// Returns a device's name, or its id where the name is not known.
    pub(crate) fn name(&self, id: Option<DeviceId>) -> Option<String> {
        let id = id?;
        let mut known = self.0.lock();
        if let Some(name) = known.names.get(&id) {
            return Some(name.clone());
        }
        known.miss(id);
        Some(id.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(n: u8) -> DeviceId {
        DeviceId::from_random_bytes([n; 16])
    }

    #[test]
    fn the_name_of_a_device_that_joined_later_is_loaded_when_somebody_asks_for_it() {
        let names = DeviceNames::default();
        assert!(names.is_due());
        names.load([(device(1), "first".to_owned())]);
        assert!(!names.is_due());
        assert_eq!(names.name(Some(device(1))).as_deref(), Some("first"));
        assert_eq!(
            names.name(Some(device(2))),
            Some(device(2).to_string()),
            "not known yet"
        );
        assert!(names.is_due());
        names.load([(device(2), "second".to_owned())]);
        assert_eq!(names.name(Some(device(2))).as_deref(), Some("second"));
        assert!(!names.is_due());
    }

    #[test]
    fn the_name_of_a_device_that_has_changed_something_is_loaded_before_anybody_asks() {
        let names = DeviceNames::default();
        names.load([(device(1), "first".to_owned())]);
        names.note([device(1)]);
        assert!(!names.is_due(), "it is known");
        names.note([device(2), device(3)]);
        assert!(names.is_due());
        names.load([(device(2), "second".to_owned())]);
        names.note([device(2), device(3)]);
        assert!(!names.is_due(), "nobody knows the third one");
        names.add([(device(3), "third".to_owned())]);
        assert_eq!(names.name(Some(device(3))).as_deref(), Some("third"));
    }

    #[test]
    fn a_device_that_was_removed_is_asked_for_once() {
        let names = DeviceNames::default();
        names.load([]);
        names.name(Some(device(1)));
        assert!(names.is_due());
        names.load([]);
        names.name(Some(device(1)));
        assert!(!names.is_due());
        assert_eq!(names.name(None), None);
    }
}
