//! The rules that count in a folder: from the texts of its rules files here and on the service, as far as
//! they can be had.

use crate::engine::Engine;
use crate::observe::nested_rules::{invalid_lines, rules_path};
use crate::observe::rules::{IGNORE_FILE, Rules, RulesFile, Texts, own_places_in, read_text};
use crate::rules_rows::is_file_synced;
use cairn_index::{Db, FolderRow, IndexError};
use cairn_model::{Problem, ProblemCause, ProblemValues, RelPath};
use cairn_platform::FileKind;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The texts of a folder's rules, but for those of the files below its root.
struct LoadedRules {
    /// The text of the file at the root.
    file: String,
    /// The texts of the service's files while they are not synced here, by their directories.
    shared: BTreeMap<RelPath, String>,
    /// The places in the folder that hold Cairn's own files.
    own: Vec<RelPath>,
    /// The rules file can't be read: its last text counts.
    problem: Option<Problem>,
    /// The text of the file is not the one that the index keeps.
    is_new: bool,
    /// The rules file was deleted here, and the service still has it: its last text counts.
    outlives_file: bool,
}

impl LoadedRules {
    /// Returns whether rules are made from these texts.
    fn are_of(&self, rules: &Rules) -> bool {
        let file = rules.file(&RelPath::root());
        let text = file.and_then(|file| file.text());
        text.unwrap_or_default() == self.file && rules.are_shared_of(&self.shared, &self.own)
    }
}

/// The rules of one folder that are in force.
pub(crate) struct FolderRules {
    rules: Arc<Rules>,
    problem: Option<Problem>,
    outlives_file: bool,
    /// Directories below the root whose rules file was deleted here: its last text counts until the service has
    /// dropped it, too.
    outliving: BTreeSet<RelPath>,
}

impl FolderRules {
    /// Loads the rules of a folder. If its file can't be read, the last text counts. Those of the files below the
    /// root are as they were last known, until a scan has looked.
    ///
    /// # Errors
    /// Returns the error of the index: without it nobody knows what the other devices leave out.
    pub(crate) fn load(engine: &Engine, row: &FolderRow) -> Result<Self, IndexError> {
        let loaded = load(engine, row)?;
        keep(engine, row, &loaded);
        Ok(Self {
            problem: loaded.problem.clone(),
            outlives_file: loaded.outlives_file,
            outliving: BTreeSet::new(),
            rules: Arc::new(last_rules(engine, row, loaded)?),
        })
    }

    pub(crate) fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Returns the problems of the rules file at the root.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let root = RelPath::root();
        let file = self.rules.file(&root);
        let invalid = file.and_then(|file| invalid_lines(&root, file));
        self.problem.iter().cloned().chain(invalid).collect()
    }

    /// Takes over what a scan has found of the rules files below the root. Returns whether they have changed.
    pub(crate) fn record_scan(
        &mut self,
        found: Option<Rules>,
        outliving: BTreeSet<RelPath>,
    ) -> bool {
        self.outliving.extend(outliving);
        let Some(found) = found else {
            return false;
        };
        self.rules = Arc::new(self.rules.with_files_of(&found));
        let rules = &self.rules;
        self.outliving.retain(|dir| rules.file(dir).is_some());
        true
    }

    /// Returns whether rules that counted on after their file was deleted here end, because the service has dropped
    /// it too, or whether those of the service are elsewhere now.
    pub(crate) fn have_ended(&self, engine: &Engine, row: &FolderRow) -> bool {
        if self.outlives_file && self.is_outdated(engine, row) {
            return true;
        }
        let ended = engine.index.read(|db| {
            let own = own_places_in(Path::new(&row.root), &engine.own_places);
            if !self.rules.are_shared_of(&shared_texts(db, row)?, &own) {
                return Ok(true);
            }
            for dir in &self.outliving {
                if !is_file_synced(db, row, dir)? {
                    return Ok(true);
                }
            }
            Ok(false)
        });
        ended.unwrap_or(false)
    }

    /// Returns whether they are made from other texts than there are now, or what keeps the file from being read is not
    /// as it was. A scan looks at the files below the root.
    pub(crate) fn is_outdated(&self, engine: &Engine, row: &FolderRow) -> bool {
        load(engine, row)
            .is_ok_and(|loaded| !loaded.are_of(&self.rules) || loaded.problem != self.problem)
    }

    /// Loads the rules again if one of their texts has changed.
    pub(crate) fn refresh(&mut self, engine: &Engine, row: &FolderRow) {
        let loaded = load(engine, row);
        if let Ok(loaded) = &loaded {
            keep(engine, row, loaded);
        }
        self.take(loaded);
    }

    /// Lets the next scan decide which rules outlive their files.
    pub(crate) fn forget_outliving(&mut self) {
        self.outliving.clear();
    }

    /// Takes over what was loaded. If the index could not be read, the rules stay as they are: without
    /// those of the service, files would be sent that the other devices leave out.
    fn take(&mut self, loaded: Result<LoadedRules, IndexError>) {
        match loaded {
            Ok(loaded) => {
                if !loaded.are_of(&self.rules) {
                    let mut rules = Rules::clone(&self.rules);
                    rules.set_file(&RelPath::root(), file_of(&loaded.file));
                    rules.set_shared(loaded.shared, loaded.own);
                    self.rules = Arc::new(rules);
                }
                self.problem = loaded.problem;
                self.outlives_file = loaded.outlives_file;
            }
            Err(error) => {
                tracing::warn!(%error, "the rules can't be read from the index; the last ones stay in force");
            }
        }
    }
}

/// Returns the rules of a folder, for a look at a path: those of the files above it as they are on the disk now.
///
/// # Errors
/// Fails like [`FolderRules::load`].
pub(crate) fn present_rules(
    engine: &Engine,
    row: &FolderRow,
    path: &RelPath,
) -> Result<Rules, IndexError> {
    let known = last_rules(engine, row, load(engine, row)?)?;
    let mut rules = known.clone();
    rules.read_above(&*engine.ports.disk, Path::new(&row.root), path);
    for dir in known.nested_dirs() {
        let is_gone = rules.file(&dir).is_none();
        let is_unread = rules.file(&dir).is_some_and(|file| file.text().is_none());
        let outlives = is_gone && engine.index.read(|db| is_file_synced(db, row, &dir))?;
        if is_unread || outlives {
            rules.set_file(&dir, known.file(&dir).cloned());
        }
    }
    Ok(rules)
}

/// Returns the rules with those of the files below the root as they were last known.
fn last_rules(engine: &Engine, row: &FolderRow, loaded: LoadedRules) -> Result<Rules, IndexError> {
    let mut files = engine.index.read(|db| db.rules_texts(row.id))?;
    files.insert(RelPath::root(), loaded.file);
    let texts = Texts {
        files,
        shared: loaded.shared,
        own: loaded.own,
    };
    Ok(Rules::new(&texts, &row.settings))
}

fn file_of(text: &str) -> Option<Arc<RulesFile>> {
    (!text.is_empty()).then(|| Arc::new(RulesFile::new(text)))
}

/// Returns the texts of the service's rules that are not synced here, by their directories.
fn shared_texts(db: &Db<'_>, row: &FolderRow) -> Result<BTreeMap<RelPath, String>, IndexError> {
    let mut texts: BTreeMap<RelPath, String> = BTreeMap::new();
    for shared in db.shared_rules(row.id)? {
        let path = db.remote_path_in(row, shared.node)?;
        let is_rules =
            |path: &RelPath| path.name().is_some_and(|name| name.as_str() == IGNORE_FILE);
        if let Some(dir) = path.filter(is_rules).and_then(|path| path.parent()) {
            let text = texts.entry(dir).or_default();
            text.push_str(&shared.text);
            text.push('\n');
        }
    }
    Ok(texts)
}

fn load(engine: &Engine, row: &FolderRow) -> Result<LoadedRules, IndexError> {
    let top = RelPath::root();
    let (last, shared, is_synced) = engine.index.read(|db| {
        let last = db.rules_text(row.id, &top)?;
        Ok((last, shared_texts(db, row)?, is_file_synced(db, row, &top)?))
    })?;
    let disk = &*engine.ports.disk;
    let root = Path::new(&row.root);
    // A directory of that name, or a link, is no rules file, as in directories below.
    let is_gone = || match disk.stat(&root.join(IGNORE_FILE)) {
        Ok(stat) => stat.kind != FileKind::File,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    let (file, problem) = match read_text(disk, root) {
        Ok(file) => (Some(file), None),
        Err(_) if is_gone() => (Some(String::new()), None),
        Err(error) => (None, Some(unreadable_problem(&error))),
    };
    // What the other devices leave out is not sent while a deletion of the rules is on its way, which may wait
    // for a person.
    let outlives_file = is_synced && file.as_ref().is_some_and(String::is_empty) && is_gone();
    let file = file.filter(|_| !outlives_file);
    Ok(LoadedRules {
        is_new: file
            .as_ref()
            .is_some_and(|file| !file.is_empty() && Some(file) != last.as_ref()),
        file: file.or(last).unwrap_or_default(),
        shared,
        own: own_places_in(root, &engine.own_places),
        problem,
        outlives_file,
    })
}

/// Keeps the text of the rules file for the time in which it can't be read.
fn keep(engine: &Engine, row: &FolderRow, loaded: &LoadedRules) {
    if loaded.is_new {
        let (root, text) = (RelPath::root(), &loaded.file);
        let kept = engine
            .index
            .write(|db| db.set_rules_text(row.id, &root, text));
        if let Err(error) = kept {
            tracing::warn!(%error, "the rules can't be kept in the index");
        }
    }
}

fn unreadable_problem(error: &std::io::Error) -> Problem {
    Problem::new(
        rules_path(&RelPath::root()),
        ProblemCause::RulesUnreadable,
        format!("the rules can't be read, so the last ones stay in force: {error}"),
        "give this user the right to read it, or remove it",
    )
    .with(ProblemValues::of_detail(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestEngine, synced_file};
    use cairn_index::{FolderSettings, RemoteRow, SyncedRow};
    use cairn_model::{Kind, LocalId, Name, NodeId, RevisionId};
    use std::path::PathBuf;
    use tempfile::TempDir;

    /// A folder with a rules file.
    struct Scene {
        engine: Arc<Engine>,
        row: FolderRow,
        rules: FolderRules,
        dir: TempDir,
    }

    impl Scene {
        fn new(text: &str) -> Self {
            let test = TestEngine::new();
            let row = test.folder.clone();
            let (engine, dir) = test.into_engine();
            std::fs::write(dir.path().join(IGNORE_FILE), text).unwrap();
            Self {
                rules: FolderRules::load(&engine, &row).unwrap(),
                engine,
                row,
                dir,
            }
        }

        fn file(&self) -> PathBuf {
            self.dir.path().join(IGNORE_FILE)
        }

        fn refresh(&mut self) {
            self.rules.refresh(&self.engine, &self.row);
        }

        fn is_outdated(&self) -> bool {
            self.rules.is_outdated(&self.engine, &self.row)
        }

        fn have_ended(&self) -> bool {
            self.rules.have_ended(&self.engine, &self.row)
        }
    }

    /// Returns whether rules leave out `*.key`.
    fn ignores_keys(rules: &FolderRules) -> bool {
        let key = RelPath::parse("id.key").unwrap();
        rules.rules().ignores(&key, false)
    }

    fn loaded_texts(file: &str, shared: &str) -> LoadedRules {
        LoadedRules {
            file: file.into(),
            shared: [(RelPath::root(), shared.into())].into(),
            own: Vec::new(),
            problem: None,
            is_new: false,
            outlives_file: false,
        }
    }

    #[test]
    fn an_index_that_can_not_be_read_leaves_the_rules_as_they_are() {
        let settings = FolderSettings::default();
        let mut rules = FolderRules {
            rules: Arc::new(Rules::new(&Texts::default(), &settings)),
            problem: None,
            outlives_file: false,
            outliving: BTreeSet::new(),
        };
        rules.take(Ok(loaded_texts("", "*.key\n")));
        assert!(ignores_keys(&rules));
        rules.take(Err(IndexError::DiskFull));
        assert!(
            ignores_keys(&rules),
            "what the service forbids is still forbidden"
        );
        rules.take(Ok(loaded_texts("", "")));
        assert!(!ignores_keys(&rules));
    }

    #[test]
    fn a_directory_in_the_place_of_the_rules_is_no_rules_file() {
        let mut scene = Scene::new("*.key\n");
        std::fs::remove_file(scene.file()).unwrap();
        std::fs::create_dir(scene.file()).unwrap();
        assert!(scene.is_outdated());
        scene.refresh();
        assert_eq!(scene.rules.problems(), []);
        assert!(!ignores_keys(&scene.rules), "as after a deletion");
        assert!(!scene.is_outdated());
    }

    #[test]
    fn rules_that_can_be_read_again_are_outdated_though_their_text_is_the_same() {
        let mut scene = Scene::new("");
        let refused = io::Error::from(io::ErrorKind::PermissionDenied);
        scene.rules.problem = Some(unreadable_problem(&refused));
        assert!(scene.is_outdated(), "the message would stay");
        scene.refresh();
        assert_eq!(scene.rules.problems(), []);
        assert!(!scene.is_outdated());
    }

    #[test]
    fn rules_that_were_deleted_here_count_until_the_service_has_dropped_them() {
        let mut scene = Scene::new("*.key\n");
        let node = NodeId::from_random_bytes([1; 16]);
        let name = Name::new(IGNORE_FILE.to_owned()).unwrap();
        let revision = Some(RevisionId::from_random_bytes([2; 16]));
        let remote = RemoteRow {
            kind: Kind::File,
            revision,
            ..RemoteRow::folder(node, None, name)
        };
        let synced = SyncedRow {
            revision,
            ..synced_file(scene.row.id, node, LocalId(7), IGNORE_FILE)
        };
        let put = |db: &Db<'_>| {
            db.put_remote(&[], &remote)?;
            db.put_synced(&synced)
        };
        scene.engine.index.write(put).unwrap();

        std::fs::remove_file(scene.file()).unwrap();
        scene.refresh();
        assert!(ignores_keys(&scene.rules), "the others leave it out");
        let again = FolderRules::load(&scene.engine, &scene.row).unwrap();
        assert!(ignores_keys(&again), "also after a start");
        assert!(!scene.have_ended());

        let removed = scene.engine.index.write(|db| db.remove_remote(node));
        removed.unwrap();
        assert!(scene.have_ended());
        scene.refresh();
        assert!(!ignores_keys(&scene.rules));
        assert!(!scene.have_ended());
    }
}
