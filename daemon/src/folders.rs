//! Folder pairs in the index, for the daemon and for commands that work without one.

#[cfg(test)]
mod tests;

pub(crate) mod ignore;
pub(crate) mod pairs;
pub(crate) mod spaces;
pub(crate) mod trash;
pub(crate) mod unsynced;

use crate::failure::{CommandResult, Failure};
use cairn_control::{Folder, NewFolder};
use cairn_engine::PauseOfAll;
use cairn_index::{Db, FolderRow, FolderSettings, Index, IndexError};
use cairn_model::{Kind, Name, RelPath};
use cairn_platform::filesystem::{self, Filesystem, FilesystemKind};
use cairn_platform::{Home, dirs};
use std::path::{Path, PathBuf};

/// Opens the database of an installation; also returns the path of an unreadable one that had to be set aside.
pub(crate) fn open_index(home: &Home) -> CommandResult<(Index, Option<PathBuf>)> {
    home.create()?;
    let opened = Index::open(&home.index_file())?;
    Ok((opened.index, opened.set_aside))
}

/// Adds a pair, which begins with a pause of everything if there is one, or fails with the reason why it can't be one.
fn add(
    home: &Home,
    index: &Index,
    new: &NewFolder,
    pause: Option<PauseOfAll>,
) -> CommandResult<FolderRow> {
    let root = Path::new(&new.local);
    let meta = std::fs::metadata(root)
        .map_err(|e| Failure::usage(format!("can't sync {}: {e}", new.local)))?;
    if !meta.is_dir() {
        return Err(Failure::usage(format!(
            "can't sync {}: it isn't a folder",
            new.local
        )));
    }
    check_filesystem(root, &filesystem::of(root)?)?;
    let remote = remote_path(&new.remote)?;
    check_only(&new.only)?;
    check_patterns(&new.exclude)?;
    if let Some(row) = existing_pair(index, root, &remote)? {
        // Wanted and there: a script may say it twice.
        return Ok(row);
    }
    check_own_files(home, root)?;
    if index.read(|db| is_below_a_file(db, &remote))? {
        let text = format!("{remote} is a file on the service, or lies in one: name a folder");
        return Err(Failure::usage(text));
    }
    let settings = FolderSettings {
        mode: new.mode,
        exclude: new.exclude.clone(),
        only: new.only.clone(),
        gate: new.gate,
        paused: pause.is_some(),
        paused_until: pause.and_then(|pause| pause.until_ms),
    };
    let row = index.write(|db| {
        let id = db.add_folder(&new.local, &remote, &settings)?;
        db.folder(id)
    })?;
    row.ok_or_else(|| Failure::failed(format!("the index didn't keep {}", new.local)))
}

/// Returns the pair of these two if there is one; refuses a folder that is part of another pair.
fn existing_pair(index: &Index, root: &Path, remote: &str) -> CommandResult<Option<FolderRow>> {
    for row in index.read(|db| db.folders())? {
        let other = Path::new(&row.root);
        if root == other && row.remote_path == remote {
            return Ok(Some(row));
        }
        if root == other {
            let text = format!(
                "{} is synced already, with {}: see `cairn folders`",
                root.display(),
                row.remote_path
            );
            return Err(Failure::usage(text));
        }
        if root.starts_with(other) || other.starts_with(root) {
            return Err(overlap_error(root, other));
        }
    }
    Ok(None)
}

/// Refuses views of the kernel and devices: they hold no files, and reading them may never end.
fn check_filesystem(root: &Path, found: &Filesystem) -> CommandResult {
    if found.kind != FilesystemKind::Pseudo {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "can't sync {}: it holds no files but a view of the system ({})",
        root.display(),
        found.type_name
    )))
}

/// Refuses a folder in which an installation of Cairn, this one or another, keeps its own files: an index
/// that is synced changes with each change that it records, and would replace another device's.
pub(crate) fn check_own_files(home: &Home, root: &Path) -> CommandResult {
    let places = home.own_places();
    let own = places.iter().find(|place| root.starts_with(place));
    match own
        .map(PathBuf::as_path)
        .or_else(|| dirs::home_around(root))
    {
        None => Ok(()),
        Some(place) => Err(Failure::usage(format!(
            "can't sync {}: Cairn keeps files of its own in {}; choose a folder outside it",
            root.display(),
            place.display()
        ))),
    }
}

/// Returns the directories that the folders of an index do not sync: the installation's own, and folders that were
/// added before they became, or were known to be, another installation's.
pub(crate) fn own_places(home: &Home, index: &Index) -> CommandResult<Vec<PathBuf>> {
    let roots = index.read(|db| db.folders())?.into_iter();
    let roots = roots.map(|row| PathBuf::from(row.root));
    let mut places = home.own_places();
    places.extend(roots.filter(|root| dirs::is_marked(root)));
    Ok(places)
}

fn overlap_error(root: &Path, other: &Path) -> Failure {
    let text = if root.starts_with(other) {
        format!(
            "{} is inside {}, which is already synced",
            root.display(),
            other.display()
        )
    } else {
        format!(
            "{} contains {}, which is already synced",
            root.display(),
            other.display()
        )
    };
    Failure::usage(text)
}

/// Returns the reason why a person should agree before a folder is synced, if there is one.
pub(crate) fn reason_to_ask(root: &Path) -> CommandResult<Option<String>> {
    let home = dirs::user_home();
    if root.parent().is_none() {
        return Ok(Some(format!("{} is the whole file system", root.display())));
    }
    if home.is_some_and(|home| home.starts_with(root)) {
        return Ok(Some(format!(
            "{} holds your whole home folder, with settings and caches of all programs",
            root.display()
        )));
    }
    let found = filesystem::of(root)?;
    Ok((found.kind == FilesystemKind::Network).then(|| {
        format!(
            "{} is on a network file system ({}): changes made on other machines are only found by scanning",
            root.display(),
            found.type_name
        )
    }))
}

/// Returns `true` if, as far as the index knows the service, a remote path leads to a file or
/// through one.
fn is_below_a_file(db: &Db<'_>, remote: &str) -> Result<bool, IndexError> {
    let Ok(path) = RelPath::parse(remote.trim_matches('/')) else {
        return Ok(false);
    };
    let mut at = None;
    for name in path.names() {
        let Some(found) = db.remote_children_by_key(at, name)?.into_iter().next() else {
            return Ok(false);
        };
        if found.kind == Kind::File {
            return Ok(true);
        }
        at = Some(found.node);
    }
    Ok(false)
}

/// Changes the settings of a pair; its two folders stay the same.
pub(crate) fn change(index: &Index, new: &NewFolder) -> CommandResult<FolderRow> {
    let row = find(index, &new.local)?;
    check_only(&new.only)?;
    let known = &row.settings.exclude;
    check_patterns(new.exclude.iter().filter(|one| !known.contains(one)))?;
    let settings = FolderSettings {
        mode: new.mode,
        exclude: new.exclude.clone(),
        only: new.only.clone(),
        gate: new.gate,
        ..row.settings
    };
    let row = index.write(|db| {
        db.set_folder_settings(row.id, &settings)?;
        db.folder(row.id)
    })?;
    row.ok_or_else(|| unknown_error(&new.local))
}

/// Removes a pair; its files stay on both sides.
pub(crate) fn remove(index: &Index, local: &str) -> CommandResult {
    let row = find(index, local)?;
    Ok(index.write(|db| db.remove_folder(row.id))?)
}

/// The pair of a local folder.
pub(crate) fn find(index: &Index, local: &str) -> CommandResult<FolderRow> {
    let rows = index.read(|db| db.folders())?;
    rows.into_iter()
        .find(|row| row.root == local)
        .ok_or_else(|| unknown_error(local))
}

/// Returns the path of a local path in a pair, if it is in it.
fn containing_row(row: &FolderRow, path: &Path) -> CommandResult<Option<RelPath>> {
    let Ok(below) = path.strip_prefix(&row.root) else {
        return Ok(None);
    };
    let text = below
        .to_str()
        .ok_or_else(|| Failure::usage(format!("{} is not valid UTF-8", path.display())))?;
    let below = RelPath::parse(&text.replace(std::path::MAIN_SEPARATOR, "/"))
        .map_err(|e| Failure::usage(format!("{} can't be a synced path: {e}", path.display())))?;
    Ok(Some(below))
}

fn no_pair_error(path: &Path) -> Failure {
    Failure::usage(format!(
        "{} isn't in a synced folder: see `cairn folders`",
        path.display()
    ))
}

pub(crate) fn unknown_error(local: &str) -> Failure {
    Failure::usage(format!("{local} isn't synced: see `cairn folders`"))
}

/// A pair as control messages have it.
pub(crate) fn to_control(row: &FolderRow) -> Folder {
    Folder {
        local: row.root.clone(),
        remote: row.remote_path.clone(),
        mode: row.settings.mode,
        exclude: row.settings.exclude.clone(),
        only: row.settings.only.clone(),
        gate: row.settings.gate,
        space: None,
    }
}

fn check_only(only: &[String]) -> CommandResult {
    for path in only {
        RelPath::parse(path.trim_matches('/'))
            .map_err(|e| Failure::usage(format!("`{path}` is not a valid subfolder: {e}")))?;
    }
    Ok(())
}

/// Refuses patterns that would never match anything.
pub(crate) fn check_patterns<'a>(patterns: impl IntoIterator<Item = &'a String>) -> CommandResult {
    for pattern in patterns {
        cairn_engine::check_pattern(pattern).map_err(|why| {
            Failure::usage(format!(
                "`{pattern}` is not a valid pattern: {why} (use one line in gitignore syntax)"
            ))
        })?;
    }
    Ok(())
}

/// Checks a path on the service and writes it in its one form: `/` or `/a/b`.
pub(crate) fn remote_path(text: &str) -> CommandResult<String> {
    let wrong = |why: &str| {
        Failure::usage(format!(
            "`{text}` is not a valid path on the service: {why}"
        ))
    };
    let below = text
        .strip_prefix('/')
        .ok_or_else(|| wrong("it has to begin with `/`"))?;
    let names: Vec<Name> = below
        .split('/')
        .filter(|part| !part.is_empty())
        .map(Name::new)
        .collect::<Result<_, _>>()
        .map_err(|e| wrong(&e.to_string()))?;
    Ok(format!("/{}", names.into_iter().collect::<RelPath>()))
}
