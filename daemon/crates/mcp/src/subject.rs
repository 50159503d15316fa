//! The subject of the question to a person: what a call would act upon, as it was when they were asked. The world may
//! change while they read, and their consent is to what they have read.

use cairn_space::{FileStamp, Replace};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::PathBuf;
use std::sync::Arc;

/// The things that the question of a call is about, noted while it is made.
#[derive(Debug, Default)]
pub(crate) struct Subject(Mutex<Parts>);

/// The states of what a question is about.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Parts {
    /// The states of what is on the service or in the daemon, by id or by what they are.
    states: BTreeMap<String, Value>,
    local_files: BTreeMap<PathBuf, FileStamp>,
}

impl Subject {
    pub(crate) fn of(parts: Parts) -> Self {
        Self(Mutex::new(parts))
    }

    /// Forgets everything, before a question is made anew.
    pub(crate) fn clear(&self) {
        *self.0.lock() = Parts::default();
    }

    /// Notes what the question is about, by its id or by what it is, with the state by which a change is noticed.
    pub(crate) fn note(&self, what: impl Into<String>, state: Value) {
        self.0.lock().states.insert(what.into(), state);
    }

    /// Notes a file or folder of the service.
    pub(crate) fn note_node(&self, node: &Value) {
        if let Some(id) = node["id"].as_str() {
            self.note(id, node["version"].clone());
        }
    }

    /// Notes a file of this machine that would be replaced.
    pub(crate) fn note_file(&self, path: PathBuf, meta: &Metadata) {
        let stamp = FileStamp::of(meta);
        self.0.lock().local_files.insert(path, stamp);
    }

    /// Returns the state of something that was noted.
    pub(crate) fn state(&self, what: &str) -> Option<Value> {
        self.0.lock().states.get(what).cloned()
    }

    pub(crate) fn parts(&self) -> Parts {
        self.0.lock().clone()
    }

    /// Returns the files of this machine that may be replaced, as long as they are what they were.
    pub(crate) fn replaced_files(&self) -> Replace {
        Replace::Unchanged(Arc::new(self.0.lock().local_files.clone()))
    }
}
