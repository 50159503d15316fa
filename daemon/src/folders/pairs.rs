//! Folder pairs of all spaces: folders of different spaces don't overlap either.

use super::spaces::{SpaceIndex, open_team};
use super::{containing_row, no_pair_error, overlap_error, unknown_error};
use crate::failure::{CommandResult, Failure};
use crate::output::text::{clean, now_ms, shell_word};
use cairn_control::{Folder, NewFolder, TeamSpace};
use cairn_engine::PauseOfAll;
use cairn_index::{FolderRow, Index};
use cairn_model::{RelPath, SpaceId};
use cairn_platform::Home;
use std::path::Path;
use std::sync::Arc;

/// A folder pair, and the space that it is in.
#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) space: Option<TeamSpace>,
    pub(crate) index: Arc<Index>,
    pub(crate) row: FolderRow,
}

impl Pair {
    pub(crate) fn to_control(&self) -> Folder {
        Folder {
            space: self.space.clone(),
            ..super::to_control(&self.row)
        }
    }
}

/// Returns the pairs of all spaces.
pub(crate) fn list(all: &[SpaceIndex]) -> CommandResult<Vec<Pair>> {
    let mut pairs = Vec::new();
    for one in all {
        let rows = one.index.read(|db| db.folders())?;
        pairs.extend(rows.into_iter().map(|row| Pair {
            space: one.space.clone(),
            index: one.index.clone(),
            row,
        }));
    }
    Ok(pairs)
}

/// Returns the pair of a local folder.
pub(crate) fn find(all: &[SpaceIndex], local: &str) -> CommandResult<Pair> {
    let pairs = list(all)?;
    if let Some(pair) = pairs.iter().find(|pair| pair.row.root == local) {
        return Ok(pair.clone());
    }
    let mut pairs = pairs.iter();
    let above = pairs.find(|pair| Path::new(local).starts_with(&pair.row.root));
    Err(match above {
        Some(pair) => Failure::usage(format!(
            "{local} is a part of {}: name that folder",
            pair.row.root
        )),
        None => unknown_error(local),
    })
}

/// Returns the pair of a local folder in one space (`None`: the account's own), if there is one.
pub(crate) fn find_in_space(
    all: &[SpaceIndex],
    space: Option<SpaceId>,
    local: &str,
) -> CommandResult<Option<Pair>> {
    let is_it =
        |pair: &Pair| pair.space.as_ref().map(|space| space.id) == space && pair.row.root == local;
    Ok(list(all)?.into_iter().find(is_it))
}

/// Returns the pair that a local path is in, and the path in it.
pub(crate) fn find_containing(all: &[SpaceIndex], path: &Path) -> CommandResult<(Pair, RelPath)> {
    for pair in list(all)? {
        if let Some(below) = containing_row(&pair.row, path)? {
            return Ok((pair, below));
        }
    }
    Err(no_pair_error(path))
}

/// Adds a pair in a space, or says why it can't be one. Folders of different spaces don't overlap either.
pub(crate) fn add(
    home: &Home,
    all: &[SpaceIndex],
    space: Option<&TeamSpace>,
    new: &NewFolder,
) -> CommandResult<Pair> {
    let is_it = |one: &SpaceIndex| one.space.as_ref().map(|s| s.id) == space.map(|s| s.id);
    check_others(all, space.map(|s| s.id), Path::new(&new.local))?;
    let opened;
    let to = match (all.iter().find(|one| is_it(one)), space) {
        (Some(known), _) => known,
        (None, Some(space)) => {
            opened = open_team(home, space)?;
            &opened
        }
        (None, None) => return Err(Failure::failed("the index is not open")),
    };
    let pause_of = |one: &SpaceIndex| one.index.read(|db| PauseOfAll::read(db, now_ms()));
    let own = all.iter().find(|one| one.space.is_none());
    let pause = match own.map(pause_of).transpose()?.flatten() {
        Some(pause) => Some(pause),
        None => pause_of(to)?,
    };
    let row = super::add(home, &to.index, new, pause)?;
    Ok(Pair {
        space: to.space.clone(),
        index: to.index.clone(),
        row,
    })
}

fn check_others(all: &[SpaceIndex], space: Option<SpaceId>, root: &Path) -> CommandResult {
    let id_of = |one: &SpaceIndex| one.space.as_ref().map(|s| s.id);
    all.iter()
        .filter(|one| id_of(one) != space)
        .try_for_each(|other| check_other_space(other, root))
}

/// Refuses what [`add`] would refuse because of the pairs that there are.
pub(crate) fn check_pairs(
    all: &[SpaceIndex],
    space: Option<SpaceId>,
    root: &Path,
    remote: &str,
) -> CommandResult {
    check_others(all, space, root)?;
    let id_of = |one: &SpaceIndex| one.space.as_ref().map(|s| s.id);
    match all.iter().find(|one| id_of(one) == space) {
        Some(own) => super::existing_pair(&own.index, root, remote).map(drop),
        None => Ok(()),
    }
}

/// Refuses a folder that another space's pair has, or has a part of.
fn check_other_space(other: &SpaceIndex, root: &Path) -> CommandResult {
    for row in other.index.read(|db| db.folders())? {
        let synced = Path::new(&row.root);
        if synced == root {
            let (whose, hint) = match &other.space {
                Some(team) => (
                    format!("of the team {}", clean(&team.name)),
                    format!(
                        "its options change with `--space {}`",
                        shell_word(&team.name)
                    ),
                ),
                None => (
                    "of your own space".to_owned(),
                    "its options change without --space".to_owned(),
                ),
            };
            return Err(Failure::usage(format!(
                "{} is synced already, with {} {whose}: {hint}, or run `cairn remove` first",
                row.root, row.remote_path
            )));
        }
        if root.starts_with(synced) || synced.starts_with(root) {
            return Err(overlap_error(root, synced));
        }
    }
    Ok(())
}

/// Changes the settings of a pair; its two folders stay the same.
pub(crate) fn change(all: &[SpaceIndex], new: &NewFolder) -> CommandResult<Pair> {
    let pair = find(all, &new.local)?;
    let row = super::change(&pair.index, new)?;
    Ok(Pair { row, ..pair })
}

/// Removes a pair; its files stay on both sides.
pub(crate) fn remove(all: &[SpaceIndex], local: &str) -> CommandResult {
    super::remove(&find(all, local)?.index, local)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Exit;
    use crate::folders::spaces::tests::{crew, new, places};
    use crate::folders::spaces::{open_all, record, recorded_spaces};
    use cairn_engine::record_pause;

    #[test]
    fn a_folder_of_a_team_is_kept_with_its_space_and_found_again() {
        let (_dir, home, files) = places();
        let added = add(
            &home,
            &open_all(&home).unwrap(),
            Some(&crew()),
            &new(&files),
        )
        .unwrap();
        assert_eq!(added.space, Some(crew()));
        let all = open_all(&home).unwrap();
        assert_eq!(all.len(), 2);
        let found = find(&all, files.to_str().unwrap()).unwrap();
        assert_eq!(found.to_control().space, Some(crew()));
        let (pair, below) = find_containing(&all, &files.join("inner/f")).unwrap();
        assert_eq!(pair.row.root, found.row.root);
        assert_eq!(below.to_string(), "inner/f");
        let own = all[0].index.read(|db| db.folders()).unwrap();
        assert!(own.is_empty(), "the own space has nothing of it");
        remove(&all, files.to_str().unwrap()).unwrap();
        assert_eq!(list(&all).unwrap().len(), 0);
        // A team that was renamed keeps its folders.
        let renamed = TeamSpace {
            name: "Fleet".into(),
            ..crew()
        };
        record(&home, &renamed).unwrap();
        assert_eq!(recorded_spaces(&home).unwrap(), [Ok(renamed)]);
    }

    #[test]
    fn folders_of_two_spaces_never_overlap() {
        let (_dir, home, files) = places();
        let inner = files.join("inner");
        let own = open_all(&home).unwrap();
        add(&home, &own, None, &new(&inner)).unwrap();
        let all = open_all(&home).unwrap();
        for (folder, says) in [(&inner, "synced already"), (&files, "contains")] {
            let refused = add(&home, &all, Some(&crew()), &new(folder));
            let refused = refused.map(drop).unwrap_err();
            assert_eq!(refused.exit, Exit::Usage);
            assert!(refused.message.contains(says), "{refused}");
        }
        assert!(
            recorded_spaces(&home).unwrap().is_empty(),
            "nothing is left of it"
        );
        let places = [home.spaces_dir(), home.spaces_dir().join("x")];
        for place in places {
            std::fs::create_dir_all(&place).unwrap();
            let refused = add(&home, &all, Some(&crew()), &new(&place));
            let refused = refused.map(drop).unwrap_err();
            assert!(refused.message.contains("files of its own"), "{refused}");
        }
    }

    #[test]
    fn a_folder_of_a_team_is_paused_with_everything_else() {
        let (_dir, home, files) = places();
        let all = open_all(&home).unwrap();
        let pause = |db: &cairn_index::Db<'_>| record_pause(db, None, true, None);
        all[0].index.write(pause).unwrap();
        let added = add(&home, &all, Some(&crew()), &new(&files)).unwrap();
        assert!(added.row.settings.paused);
    }
}
