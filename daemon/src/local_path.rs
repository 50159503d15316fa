//! Paths on this machine, as a person types them and as the index stores them.

use crate::failure::{CommandResult, Context as _, Failure};
use std::io;
use std::path::{Path, PathBuf};

/// The one absolute form of a folder's path, whether the folder is still there or not.
pub(crate) fn folder(path: &Path) -> CommandResult<String> {
    let absolute = match path.canonicalize() {
        Ok(path) => path,
        Err(e) if e.kind() == io::ErrorKind::NotFound => below_existing(path)?,
        Err(e) => return Err(e).context(format_args!("find {}", path.display())),
    };
    absolute.into_os_string().into_string().map_err(|_| {
        Failure::usage(format!(
            "{} is not valid UTF-8: rename it first",
            path.display()
        ))
    })
}

/// The absolute form of a path whose last component may be a symbolic link, or missing.
pub(crate) fn file(path: &Path) -> CommandResult<PathBuf> {
    below_existing(path)
}

/// Resolves the nearest folder above that exists, and leaves what is below it as it was given.
fn below_existing(path: &Path) -> CommandResult<PathBuf> {
    let absolute = std::path::absolute(path).context(format_args!("find {}", path.display()))?;
    let mut above = absolute.clone();
    let mut below = Vec::new();
    while let Some(name) = above.file_name().map(ToOwned::to_owned) {
        above.pop();
        below.push(name);
        if let Ok(resolved) = above.canonicalize() {
            return Ok(below
                .iter()
                .rev()
                .fold(resolved, |path, name| path.join(name)));
        }
    }
    Ok(absolute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_keeps_its_name_below_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let gone = dir.path().join("gone/below");
        assert_eq!(
            folder(&gone).unwrap(),
            root.join("gone/below").to_str().unwrap()
        );
        assert_eq!(folder(dir.path()).unwrap(), root.to_str().unwrap());
        assert_eq!(file(&gone).unwrap(), root.join("gone/below"));
    }
}
