//! The path on the service that a person means: typed as it is on the service, or as the path of a synced file here.

use crate::failure::{CommandResult, Exit, Failure};
use crate::folders::{pairs, remote_path, spaces};
use crate::output::text::shell_word;
use cairn_control::TeamSpace;
use cairn_model::{Name, NodeId, SpaceId};
use cairn_platform::Home;
use std::path::{Component, Path, PathBuf};

/// The folder pairs by which a local path is found on the service.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalPaths {
    home: Option<Home>,
    /// The team's space whose pairs count; `None`: the account's own.
    space: Option<SpaceId>,
}

impl LocalPaths {
    /// Looks into the folder pairs of a home, for a command that works in the account's own space or in a team's.
    pub(crate) fn of(home: &Home, space: Option<SpaceId>) -> Self {
        Self {
            home: Some(home.clone()),
            space,
        }
    }

    /// Returns the path on the service, in its one form. A path that begins with `/` is one of the service
    /// unless it lies in a synced folder of this machine; any other is taken from the working directory.
    pub(crate) fn remote_path(&self, text: &str) -> CommandResult<String> {
        if text.is_empty() {
            return Err(Failure::usage(
                "an empty path names nothing: give one such as /a/b",
            ));
        }
        let path = Path::new(text);
        if path.is_absolute() && !begins_locally(path) {
            return remote_path(text);
        }
        if let Some(remote) = self.in_a_pair(path)? {
            return Ok(remote);
        }
        if text.starts_with('/') {
            return remote_path(text);
        }
        Err(Failure::usage(format!(
            "`{text}` is neither in a synced folder nor a path on the service, which begins with `/`"
        )))
    }

    /// Checks that a path does not name another file of this machine than the one whose names were found on the
    /// service: there are never two under names that differ in how accents are composed, here there may be.
    pub(crate) fn check_same_file(&self, text: &str, found: &[String]) -> CommandResult {
        if self.home.is_none() || text.is_ascii() {
            return Ok(());
        }
        let named = crate::local_path::file(Path::new(text))?;
        let synced = with_names(&named, found);
        let (Ok(one), Ok(other)) = (named.canonicalize(), synced.canonicalize()) else {
            return Ok(());
        };
        if one == other {
            return Ok(());
        }
        Err(Failure::new(
            Exit::Decision,
            format!(
                "{} and {} are two files, whose names differ only in how accents are written: the second one is on the service, the first one is not; rename the first one",
                named.display(),
                synced.display()
            ),
        ))
    }

    /// Returns the remote path of a local one, if it lies in a synced folder.
    fn in_a_pair(&self, path: &Path) -> CommandResult<Option<String>> {
        let Some(home) = &self.home else {
            return Ok(None);
        };
        if !home.index_file().exists() {
            return Ok(None);
        }
        let absolute = crate::local_path::file(path)?;
        let (all, broken) = spaces::open_usable(home)?;
        if let Some((pair, below)) = pair_containing(&all, &absolute)? {
            let below = below.to_str().ok_or_else(|| {
                Failure::usage(format!("{} is not valid UTF-8", absolute.display()))
            })?;
            self.check_space(&absolute, pair.space.as_ref())?;
            let below = below.replace(std::path::MAIN_SEPARATOR, "/");
            return remote_path(&format!("{}/{below}", pair.row.remote_path)).map(Some);
        }
        // A file of this machine may be that of a team whose folders are not known: it is no path on the service.
        if absolute.components().count() > 2 && absolute.exists() {
            spaces::check_none_is_broken(&broken)?;
        }
        Ok(None)
    }

    /// Refuses a path in a folder of another space than the command works in.
    fn check_space(&self, path: &Path, found: Option<&TeamSpace>) -> CommandResult {
        if found.map(|space| space.id) == self.space {
            return Ok(());
        }
        let text = match found {
            Some(team) => format!(
                "is in a folder of the team {0}: add `--team {1}`",
                team.name,
                shell_word(&team.name)
            ),
            None => "is in a folder of your own space: leave out --team".to_owned(),
        };
        Err(Failure::usage(format!("{} {text}", path.display())))
    }
}

/// Returns the team in whose synced folder a path of this machine lies; `None` for any other text, and for a
/// folder of the account's own space.
pub(super) fn team_of(home: &Home, text: &str) -> CommandResult<Option<TeamSpace>> {
    let path = Path::new(text);
    let is_local = !text.is_empty() && (path.is_relative() || begins_locally(path));
    if !is_local || text.parse::<NodeId>().is_ok() || !home.index_file().exists() {
        return Ok(None);
    }
    let absolute = crate::local_path::file(path)?;
    let (all, _) = spaces::open_usable(home)?;
    Ok(pair_containing(&all, &absolute)?.and_then(|(pair, _)| pair.space))
}

/// Returns the folder pair that an absolute path lies in, and the path below it.
fn pair_containing(
    all: &[spaces::SpaceIndex],
    absolute: &Path,
) -> CommandResult<Option<(pairs::Pair, PathBuf)>> {
    let resolved = absolute.canonicalize().ok();
    for pair in pairs::list(all)? {
        let of = |path: &Path| {
            path.strip_prefix(&pair.row.root)
                .map(Path::to_path_buf)
                .ok()
        };
        let below = of(absolute).or_else(|| resolved.as_deref().and_then(of));
        if let Some(below) = below {
            return Ok(Some((pair, below)));
        }
    }
    Ok(None)
}

/// Returns a path with the names that equal those at its end but for how accents are composed.
fn with_names(path: &Path, names: &[String]) -> PathBuf {
    let mut above = path.to_owned();
    let mut below: Vec<&str> = Vec::new();
    for name in names.iter().rev() {
        let own = above.file_name().and_then(|own| own.to_str());
        let key = |text: &str| Name::new(text).map(|name| name.key()).ok();
        if own.is_none_or(|own| key(own) != key(name)) {
            break;
        }
        above.pop();
        below.push(name);
    }
    below.iter().rev().fold(above, |path, name| path.join(name))
}

/// Returns whether the first folder of an absolute path exists on this machine.
fn begins_locally(path: &Path) -> bool {
    let first: PathBuf = path
        .components()
        .take_while(|part| !matches!(part, Component::CurDir | Component::ParentDir))
        .take(2)
        .collect();
    first.components().count() == 2 && first.symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_index::FolderSettings;

    #[test]
    fn a_local_path_is_found_on_the_service() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("Shared");
        std::fs::create_dir(&root).unwrap();
        let home = Home::at(&dir.path().join("home"));
        let own = spaces::open_own(&home).unwrap();
        own.index
            .write(|db| {
                db.add_folder(
                    root.to_str().unwrap(),
                    "/shared",
                    &FolderSettings::default(),
                )
            })
            .unwrap();
        let paths = LocalPaths::of(&home, None);
        let remote = |text: &str| paths.remote_path(text).unwrap();
        let local = |below: &str| root.join(below).display().to_string();
        assert_eq!(remote(&local("a/gone.txt")), "/shared/a/gone.txt");
        assert_eq!(remote(root.to_str().unwrap()), "/shared");
        assert_eq!(remote("/no-such-folder-here//x/"), "/no-such-folder-here/x");
        // A folder of this machine that is not synced: the path is one of the service.
        assert_eq!(remote("/tmp/x"), "/tmp/x");
        let elsewhere = LocalPaths::of(&home, Some(SpaceId::from_random_bytes([1; 16])));
        let refused = elsewhere.remote_path(&local("x")).unwrap_err();
        assert!(refused.message.contains("leave out --team"), "{refused}");
        let refused = paths.remote_path("not-synced/x").unwrap_err();
        assert!(
            refused.message.contains("neither in a synced folder"),
            "{refused}"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_with_other_accents_is_not_the_file_on_the_service() {
        let dir = tempfile::tempdir().unwrap();
        let paths = LocalPaths::of(&Home::at(&dir.path().join("home")), None);
        let (composed, apart) = ("\u{e9}.txt", "e\u{301}.txt");
        let text = |name: &str| dir.path().join(name).display().to_string();
        let found = ["shared".to_owned(), composed.to_owned()];
        std::fs::write(text(apart), "apart").unwrap();
        // One file, by whichever of its names.
        assert!(paths.check_same_file(&text(apart), &found).is_ok());
        std::fs::write(text(composed), "composed").unwrap();
        assert!(paths.check_same_file(&text(composed), &found).is_ok());
        let refused = paths.check_same_file(&text(apart), &found).unwrap_err();
        assert_eq!(refused.exit, Exit::Decision);
        for name in [composed, apart] {
            assert!(refused.message.contains(&text(name)), "{refused}");
        }
    }

    #[test]
    fn without_a_home_every_path_is_one_of_the_service() {
        let paths = LocalPaths::default();
        assert_eq!(paths.remote_path("/tmp/x").unwrap(), "/tmp/x");
        assert!(paths.remote_path("x").is_err());
        assert_eq!(paths.remote_path("").unwrap_err().exit, Exit::Usage);
    }
}
