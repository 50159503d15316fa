//! The folder pairs, kept a second time in a small file beside the index: an index that has to be
//! built again still knows which folders it is for.

use crate::error::IndexError;
use crate::folders::{FolderRow, FolderSettings};
use crate::open::Db;
use cairn_platform::{FileMode, write_atomic};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The name of the backup, beside the index.
pub(crate) const FILE: &str = "folders.json";

#[derive(Serialize, Deserialize)]
struct Pair {
    local: String,
    remote: String,
    #[serde(default)]
    settings: FolderSettings,
}

/// Writes the list whole or not at all.
pub(crate) fn save(path: &Path, folders: &[FolderRow]) -> Result<(), IndexError> {
    let wrap = |source| IndexError::FolderBackup {
        path: path.to_owned(),
        source,
    };
    let pairs: Vec<Pair> = folders
        .iter()
        .map(|row| Pair {
            local: row.root.clone(),
            remote: row.remote_path.clone(),
            settings: row.settings.clone(),
        })
        .collect();
    let text =
        serde_json::to_vec_pretty(&pairs).map_err(|_| IndexError::Corrupt("folder settings"))?;
    write_atomic(path, &text, FileMode::Inherit).map_err(wrap)
}

/// Adds the pairs of the list to an index that has none. A list that can't be read counts as empty.
pub(crate) fn restore(db: &Db<'_>, path: &Path) -> Result<(), IndexError> {
    let Ok(text) = std::fs::read(path) else {
        return Ok(());
    };
    let Ok(pairs) = serde_json::from_slice::<Vec<Pair>>(&text) else {
        return Ok(());
    };
    for pair in pairs {
        db.add_folder(&pair.local, &pair.remote, &pair.settings)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Index;
    use std::sync::Barrier;

    #[test]
    fn the_pairs_of_many_commands_at_once_are_all_kept() {
        let threads = 8;
        for _ in 0..10 {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("index.db");
            drop(Index::open(&path).unwrap());
            let start = Barrier::new(threads);
            std::thread::scope(|scope| {
                for n in 0..threads {
                    let (start, path) = (&start, &path);
                    scope.spawn(move || {
                        let index = Index::open(path).unwrap().index;
                        start.wait();
                        let root = format!("/home/{n}");
                        let add =
                            |db: &Db<'_>| db.add_folder(&root, "/", &FolderSettings::default());
                        index.write(add).unwrap();
                    });
                }
            });
            let text = std::fs::read(dir.path().join(FILE)).unwrap();
            let pairs: Vec<Pair> = serde_json::from_slice(&text).unwrap();
            assert_eq!(pairs.len(), threads);
        }
    }

    #[test]
    fn the_pairs_survive_the_loss_of_the_index() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.db");
        let settings = FolderSettings {
            exclude: vec!["*.iso".into()],
            ..Default::default()
        };
        let index = Index::open(&path).unwrap().index;
        let gone = index
            .write(|db| db.add_folder("/gone", "/x", &FolderSettings::default()))
            .unwrap();
        index
            .write(|db| db.add_folder("/home/a", "/a", &settings))
            .unwrap();
        index.write(|db| db.remove_folder(gone)).unwrap();
        drop(index);
        std::fs::write(
            &path,
            "garbage that is no database at all, and long enough to be looked at",
        )
        .unwrap();
        let opened = Index::open(&path).unwrap();
        assert!(opened.set_aside.is_some());
        let folders = opened.index.read(|db| db.folders()).unwrap();
        assert_eq!(folders.len(), 1);
        assert_eq!(
            (folders[0].root.as_str(), &folders[0].settings),
            ("/home/a", &settings)
        );
    }
}
