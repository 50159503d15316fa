//! The folders of an upload, and reading of small files.

use super::*;
use cairn_transfer::{BytesSource, Source, SourceReader};
use std::io;

/// A tree whose files all have this content, or can't be read.
struct Everywhere(Option<&'static [u8]>);

struct Unreadable;

impl Source for Unreadable {
    fn open(&self) -> io::Result<Box<dyn SourceReader>> {
        Err(io::Error::other("it is gone"))
    }
}

impl LocalTree for Everywhere {
    fn list(&self, _: &Path) -> io::Result<Vec<LocalEntry>> {
        Ok(Vec::new())
    }

    fn source(&self, _: &Path) -> Arc<dyn Source> {
        match self.0 {
            Some(content) => Arc::new(BytesSource(content.into())),
            None => Arc::new(Unreadable),
        }
    }
}

/// A tree of two folders in one another; the inner one can't be listed.
struct Nested;

impl LocalTree for Nested {
    fn list(&self, dir: &Path) -> io::Result<Vec<LocalEntry>> {
        let entry = |name: &str, kind: fn(Name) -> EntryKind| LocalEntry {
            path: dir.join(name),
            kind: kind(Name::new(name).unwrap()),
        };
        match dir.to_str() {
            Some("top") => Ok(vec![entry("a", EntryKind::Folder)]),
            Some("top/a") => Ok(vec![entry("b", EntryKind::Folder)]),
            _ => Err(io::Error::other("it can't be listed")),
        }
    }

    fn source(&self, _: &Path) -> Arc<dyn Source> {
        Arc::new(Unreadable)
    }
}

#[test]
fn the_folders_to_upload_are_known_before_anything_is_made() {
    let folders = folders_below(&Nested, PathBuf::from("top"));
    let expected = ["top/a", "top/a/b"].map(PathBuf::from);
    assert_eq!(folders.found, HashSet::from(expected));
    let unlisted: Vec<_> = folders.unlisted.into_keys().collect();
    assert_eq!(unlisted, [PathBuf::from("top/a/b")], "it is reported");
}

#[test]
fn a_file_that_changed_since_it_was_found_is_left_to_another_time() {
    let file = Found {
        path: PathBuf::from("log"),
        facts: LocalMetadata {
            size: 8,
            modified_ms: 0,
            executable: Some(false),
        },
        parent: NodeId::from_random_bytes([1; 16]),
        name: Name::new("log").unwrap(),
        present: None,
    };
    let read = |content| read_whole(&Everywhere(content), &file);
    assert_eq!(read(Some(b"one line")).unwrap(), b"one line");
    for changed in [b"one line and another".as_slice(), b"one"] {
        assert!(matches!(read(Some(changed)), Err(NotUploaded::Changing)));
    }
    assert!(matches!(read(None), Err(NotUploaded::Unreadable(_))));
}
