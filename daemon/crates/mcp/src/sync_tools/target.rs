//! The conflict or folder that a call means: in the form in which the daemon lists it, or as a local path.

use crate::error::{ToolError, ToolResult};
use crate::local_paths;
use crate::quote::quote_path;
use cairn_control::{ConflictList, Status};
use std::path::{Path, PathBuf};

/// Returns the absolute path of a conflict, given as listed (of either version, below its folder) or
/// absolute.
///
/// # Errors
/// [`ToolError::Refused`] if there is no such conflict, or one in several folders.
pub(super) fn conflict(list: &ConflictList, given: &str) -> ToolResult<String> {
    let wanted = expand_home(given);
    let mut found: Vec<PathBuf> = Vec::new();
    for conflict in &list.conflicts {
        let folder = Path::new(&conflict.folder);
        for version in [&conflict.path, &conflict.copy] {
            // Joining an absolute path gives that path.
            let absolute = folder.join(version);
            if wanted == Path::new(version) || wanted == absolute {
                found.push(absolute);
            }
        }
    }
    found.dedup();
    match found.as_slice() {
        [one] => Ok(one.to_string_lossy().into_owned()),
        [] => Err(ToolError::refused(format!(
            "there is no open conflict of `{given}`: sync_conflicts lists them"
        ))),
        several => Err(ToolError::refused(format!(
            "several folders have a conflict of `{given}`: give one of {}",
            quote_all(
                several
                    .iter()
                    .map(|path| path.to_string_lossy().into_owned())
            )
        ))),
    }
}

/// Returns the local path of a synced folder, given as that path in any form, or by its name.
///
/// # Errors
/// [`ToolError::Refused`] if it is not synced, or if several folders have the name.
pub(super) fn folder(status: &Status, given: &str) -> ToolResult<String> {
    let wanted = expand_home(given);
    let resolved = std::fs::canonicalize(&wanted).ok();
    let locals = || status.folders.iter().map(|folder| folder.local.clone());
    let by_path = locals().find(|local| {
        let local = Path::new(local);
        local == wanted || Some(local) == resolved.as_deref()
    });
    if let Some(local) = by_path {
        return Ok(local);
    }
    let by_name: Vec<_> = locals()
        .filter(|local| Path::new(local).file_name() == Some(wanted.as_os_str()))
        .collect();
    match by_name.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(ToolError::refused(format!(
            "`{given}` is not a synced folder: give one of {}",
            quote_all(locals())
        ))),
        several => Err(ToolError::refused(format!(
            "several synced folders are called `{given}`: give one of {}",
            quote_all(several.iter().cloned())
        ))),
    }
}

/// Expands a leading `~` and drops a trailing separator.
pub(super) fn expand_home(given: &str) -> PathBuf {
    let expanded = local_paths::expand_home(Path::new(given));
    expanded.components().collect()
}

fn quote_all(paths: impl Iterator<Item = String>) -> String {
    let named: Vec<_> = paths.map(|path| quote_path(Path::new(&path))).collect();
    if named.is_empty() {
        "those that `cairn add` makes: there is none yet".to_owned()
    } else {
        named.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_control::{Conflict, FolderStatus};
    use cairn_model::ConflictKind;

    fn conflict_in(folder: &str) -> Conflict {
        Conflict {
            path: "a/f".into(),
            original_gone: false,
            copy: "a/f (copy)".into(),
            folder: folder.into(),
            kind: ConflictKind::Edit,
            device: String::new(),
            copy_device: String::new(),
            copy_made_here: None,
            at: String::new(),
        }
    }

    #[test]
    fn a_conflict_is_found_as_it_was_listed() {
        let one = ConflictList {
            conflicts: vec![conflict_in("/x")],
        };
        for (given, path) in [
            ("a/f", "/x/a/f"),
            ("a/f (copy)", "/x/a/f (copy)"),
            ("/x/a/f", "/x/a/f"),
        ] {
            assert_eq!(conflict(&one, given).unwrap(), path);
        }
        let none = conflict(&one, "a/g").unwrap_err().to_string();
        assert!(none.contains("sync_conflicts"), "{none}");
        let two = ConflictList {
            conflicts: vec![conflict_in("/x"), conflict_in("/y")],
        };
        let several = conflict(&two, "a/f").unwrap_err().to_string();
        assert!(several.contains("`/x/a/f`, `/y/a/f`"), "{several}");
        assert_eq!(conflict(&two, "/y/a/f").unwrap(), "/y/a/f");
    }

    #[test]
    fn a_folder_is_found_in_any_usual_form() {
        let folders = ["/x/Shared", "/x/Photos", "/y/Photos"];
        let status = Status {
            folders: folders
                .iter()
                .map(|local| FolderStatus {
                    local: (*local).to_owned(),
                    ..FolderStatus::default()
                })
                .collect(),
            ..Status::default()
        };
        for given in [
            "/x/Shared",
            "/x/Shared/",
            "/x/./Shared",
            "Shared",
            "Shared/",
        ] {
            assert_eq!(folder(&status, given).unwrap(), "/x/Shared", "{given}");
        }
        let several = folder(&status, "Photos").unwrap_err().to_string();
        assert!(several.contains("`/x/Photos`, `/y/Photos`"), "{several}");
        let none = folder(&status, "/z").unwrap_err().to_string();
        assert!(none.contains("`/x/Shared`"), "{none}");
        assert!(folder(&Status::default(), "/z").is_err());
    }
}
