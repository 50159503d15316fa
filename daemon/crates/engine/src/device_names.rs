//! Names of the account's devices. They are only for people; without them ids are shown.

use cairn_model::DeviceId;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// The names that were loaded.
#[derive(Default)]
pub(crate) struct DeviceNames(Mutex<BTreeMap<DeviceId, String>>);

impl DeviceNames {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    pub(crate) fn extend(&self, names: impl IntoIterator<Item = (DeviceId, String)>) {
        self.0.lock().extend(names);
    }

    /// Returns a device's name, or its id where the name is not known.
    pub(crate) fn name(&self, id: Option<DeviceId>) -> Option<String> {
        let id = id?;
        let names = self.0.lock();
        Some(names.get(&id).cloned().unwrap_or_else(|| id.to_string()))
    }
}
