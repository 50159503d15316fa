//! The spaces (the files of one account or team) in which this installation has folders: the account's own and
//! those of teams, each with an index of its own (docs/decisions/0020-an-engine-for-each-space.md).

use super::open_index;
use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::output::text::clean;
use cairn_control::TeamSpace;
use cairn_index::Index;
use cairn_model::SpaceId;
use cairn_platform::{FileMode, Home, dirs, write_atomic};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file beside a team's index that names the team.
const RECORD: &str = "space.json";
const INDEX: &str = "index.db";

/// The index of one space.
#[derive(Clone)]
pub(crate) struct SpaceIndex {
    /// `None`: the account's own.
    pub(crate) space: Option<TeamSpace>,
    pub(crate) index: Arc<Index>,
    /// The path of an unreadable one that had to be set aside.
    pub(crate) set_aside: Option<PathBuf>,
}

/// A team's space that is recorded here and can't be opened: its folders are not known, and not synced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BrokenSpace {
    /// The id that the directory's name says.
    pub(crate) id: Option<SpaceId>,
    pub(crate) message: String,
}

impl BrokenSpace {
    fn new(dir: &Path, message: String) -> Self {
        let id = dir.file_name().and_then(|name| name.to_str()?.parse().ok());
        Self { id, message }
    }

    fn failure(&self) -> Failure {
        Failure::failed(self.message.clone())
    }
}

/// Refuses what needs the folders of all spaces to be known, while those of one are not.
pub(crate) fn check_none_is_broken(broken: &[BrokenSpace]) -> CommandResult {
    broken.first().map_or(Ok(()), |one| Err(one.failure()))
}

/// Opens the indexes of all spaces; the account's own is the first one. Fails if the folders of one can't be known.
pub(crate) fn open_all(home: &Home) -> CommandResult<Vec<SpaceIndex>> {
    let (all, broken) = open_usable(home)?;
    check_none_is_broken(&broken)?;
    Ok(all)
}

/// Opens the indexes of the spaces that can be opened; the account's own is the first one. The others are the second
/// part.
pub(crate) fn open_usable(home: &Home) -> CommandResult<(Vec<SpaceIndex>, Vec<BrokenSpace>)> {
    let own = open_own(home)?;
    let (teams, broken) = open_teams(home, |_| false);
    Ok((std::iter::once(own).chain(teams).collect(), broken))
}

/// Opens the indexes of the spaces that can be opened, and tells the person about the others.
pub(crate) fn open_noting(app: &App) -> CommandResult<Vec<SpaceIndex>> {
    let (all, broken) = open_usable(&app.home)?;
    for one in broken {
        app.out.note(one.message);
    }
    Ok(all)
}

/// Opens the indexes of the teams' spaces but those that are open already.
pub(crate) fn open_teams(
    home: &Home,
    is_open: impl Fn(SpaceId) -> bool,
) -> (Vec<SpaceIndex>, Vec<BrokenSpace>) {
    let recorded = match recorded_spaces(home) {
        Ok(recorded) => recorded,
        Err(failure) => {
            let broken = BrokenSpace::new(&home.spaces_dir(), failure.message);
            return (Vec::new(), vec![broken]);
        }
    };
    let (mut opened, mut broken) = (Vec::new(), Vec::new());
    for space in recorded {
        match space {
            Ok(space) if is_open(space.id) => {}
            Ok(space) => match open_readable(home, &space) {
                Ok(index) => opened.push(index),
                Err(failure) => {
                    let dir = dir_of(home, space.id);
                    let message = format!(
                        "{} can't be opened ({failure}): the folders of the team {} are not synced, and none can be added until it can",
                        dir.join(INDEX).display(),
                        clean(&space.name)
                    );
                    broken.push(BrokenSpace::new(&dir, message));
                }
            },
            Err(one) => broken.push(one),
        }
    }
    (opened, broken)
}

/// Opens the index of a team's space, and looks whether it answers.
fn open_readable(home: &Home, space: &TeamSpace) -> CommandResult<SpaceIndex> {
    let opened = open_team(home, space)?;
    opened.index.read(|db| db.folders())?;
    Ok(opened)
}

/// Opens the index of the account's own space.
pub(crate) fn open_own(home: &Home) -> CommandResult<SpaceIndex> {
    let (index, set_aside) = open_index(home)?;
    Ok(SpaceIndex {
        space: None,
        index: Arc::new(index),
        set_aside,
    })
}

/// Opens the index of a team's space, and makes it where it is missing.
pub(crate) fn open_team(home: &Home, space: &TeamSpace) -> CommandResult<SpaceIndex> {
    let dir = dir_of(home, space.id);
    dirs::create_private(&home.spaces_dir())?;
    dirs::create_private(&dir)?;
    record(home, space)?;
    let opened = Index::open(&dir.join(INDEX))?;
    Ok(SpaceIndex {
        space: Some(space.clone()),
        index: Arc::new(opened.index),
        set_aside: opened.set_aside,
    })
}

/// Returns the teams' spaces that have an index here, each with its team or the reason why that is not known.
pub(crate) fn recorded_spaces(home: &Home) -> CommandResult<Vec<Result<TeamSpace, BrokenSpace>>> {
    let top = home.spaces_dir();
    let listing = match std::fs::read_dir(&top) {
        Ok(listing) => listing,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e).context(format_args!("list {}", top.display())),
    };
    let mut dirs = Vec::new();
    for entry in listing {
        dirs.push(entry.context("list the spaces")?.path());
    }
    dirs.sort();
    Ok(dirs.iter().filter_map(|dir| team_of(dir)).collect())
}

/// Returns the team of a space's directory; `None` if it has nothing of a space.
fn team_of(dir: &Path) -> Option<Result<TeamSpace, BrokenSpace>> {
    let path = dir.join(RECORD);
    let found = match std::fs::read(&path) {
        Ok(text) => parse(dir, &text),
        // Without an index no folder was ever in it.
        Err(e) if is_no_record(&e) && !dir.join(INDEX).exists() => return None,
        Err(e) => Err(e.to_string()),
    };
    Some(found.map_err(|reason| {
        let message = format!(
            "{} is damaged ({reason}): restore it from a backup; without it the folders of a team are not synced, and none can be added",
            path.display()
        );
        BrokenSpace::new(dir, message)
    }))
}

fn is_no_record(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn parse(dir: &Path, text: &[u8]) -> Result<TeamSpace, String> {
    let space: TeamSpace = serde_json::from_slice(text).map_err(|e| e.to_string())?;
    match dir.ends_with(space.id.to_string()) {
        true => Ok(space),
        false => Err("it is that of another space".to_owned()),
    }
}

/// Keeps the team of a space, also where it has another name now.
pub(crate) fn record(home: &Home, space: &TeamSpace) -> CommandResult {
    let path = dir_of(home, space.id).join(RECORD);
    let text = serde_json::to_vec_pretty(space).map_err(io::Error::from);
    let text = text.context(format_args!("write {}", path.display()))?;
    if std::fs::read(&path).is_ok_and(|before| before == text) {
        return Ok(());
    }
    Ok(write_atomic(&path, &text, FileMode::Private)?)
}

/// Returns the path of the index of a team's space.
pub(crate) fn index_file(home: &Home, space: SpaceId) -> PathBuf {
    dir_of(home, space).join(INDEX)
}

fn dir_of(home: &Home, space: SpaceId) -> PathBuf {
    home.spaces_dir().join(space.to_string())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::folders::pairs::{add, list};
    use cairn_control::NewFolder;
    use cairn_model::TeamId;

    pub(in crate::folders) fn crew() -> TeamSpace {
        TeamSpace {
            id: SpaceId::from_random_bytes([1; 16]),
            team: TeamId::from_random_bytes([2; 16]),
            name: "Crew".into(),
        }
    }

    pub(in crate::folders) fn new(local: &Path) -> NewFolder {
        NewFolder {
            local: local.to_str().unwrap().to_owned(),
            remote: "/".into(),
            ..Default::default()
        }
    }

    /// Returns a home, and a directory beside it.
    pub(in crate::folders) fn places() -> (tempfile::TempDir, Home, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let home = Home::at(&root.join("home"));
        let files = root.join("files");
        std::fs::create_dir_all(files.join("inner")).unwrap();
        (dir, home, files)
    }

    #[test]
    fn a_damaged_record_hides_one_team_only_and_keeps_folders_from_being_added() {
        let (_dir, home, files) = places();
        let other = TeamSpace {
            id: SpaceId::from_random_bytes([3; 16]),
            ..crew()
        };
        for team in [crew(), other.clone()] {
            drop(open_team(&home, &team).unwrap());
        }
        let path = dir_of(&home, crew().id).join(RECORD);
        let sound = std::fs::read(&path).unwrap();
        let of_other = serde_json::to_vec(&other).unwrap();
        for damaged in [Some(&b"{"[..]), Some(&of_other), None] {
            match damaged {
                Some(text) => std::fs::write(&path, text).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            let (all, broken) = open_usable(&home).unwrap();
            let found: Vec<_> = all.iter().map(|one| one.space.clone()).collect();
            assert_eq!(found, [None, Some(other.clone())]);
            assert_eq!(broken[0].id, Some(crew().id));
            assert_eq!(broken.len(), 1);
            let refused = check_none_is_broken(&broken).unwrap_err();
            assert!(refused.message.contains("space.json"), "{refused}");
            assert!(open_all(&home).is_err());
        }
        std::fs::write(&path, sound).unwrap();
        let all = open_all(&home).unwrap();
        assert_eq!(all.len(), 3);
        add(&home, &all, None, &new(&files)).unwrap();
        assert_eq!(list(&all).unwrap().len(), 1);
    }

    #[test]
    fn an_index_that_can_not_be_opened_is_named_with_its_team() {
        let (_dir, home, _files) = places();
        drop(open_team(&home, &crew()).unwrap());
        let index = dir_of(&home, crew().id).join(INDEX);
        std::fs::remove_file(&index).unwrap();
        std::fs::create_dir(&index).unwrap();
        std::fs::write(index.join("kept"), "").unwrap();
        let (all, broken) = open_teams(&home, |_| false);
        assert!(all.is_empty());
        assert!(broken[0].message.contains("Crew"), "{broken:?}");
        assert!(broken[0].message.contains(INDEX), "{broken:?}");
    }
}
