//! Both versions of a conflict: size and time of each, and the lines in which they differ.
//!
//! Both are files in the synced folder. They are only read here; the daemon changes them.

use crate::line_diff::{DiffLine, compare};
use crate::program::ProgramError;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use ts_rs::TS;

/// The size in bytes up to which texts are compared.
pub(crate) const MAX_TEXT: u64 = 256 * 1024;

/// One of the two versions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct VersionInfo {
    /// Below the folder.
    pub path: String,
    pub exists: bool,
    pub bytes: u64,
    /// RFC 3339 in UTC; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub modified: Option<String>,
}

/// A conflict with both versions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct ConflictDetail {
    /// The conflict copy, whichever device it is from.
    pub copy: VersionInfo,
    /// The version that kept the name.
    pub original: VersionInfo,
    /// Absent if one of them isn't text, or is too big.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub diff: Option<Vec<DiffLine>>,
    /// True if there are more differing lines than `diff` has.
    pub cut: bool,
    /// True if equal lines end differently: LF, CR LF, or the end of the file.
    pub ends_differ: bool,
}

/// Reads both versions of a conflict in `folder`.
///
/// # Errors
/// [`ProgramError`] if a version can't be read.
pub fn read(folder: &str, path: &str, copy: &str) -> Result<ConflictDetail, ProgramError> {
    let root = Path::new(folder);
    let (copy, original) = (version_info(root, copy)?, version_info(root, path)?);
    let comparable = copy.exists && original.exists;
    let texts = match comparable {
        true => text(root, &copy)?.zip(text(root, &original)?),
        false => None,
    };
    let compared = texts.map(|(copy, original)| compare(&copy, &original));
    Ok(ConflictDetail {
        copy,
        original,
        cut: compared.as_ref().is_some_and(|found| found.cut),
        ends_differ: compared.as_ref().is_some_and(|found| found.ends_differ),
        diff: compared.map(|found| found.lines),
    })
}

fn version_info(root: &Path, path: &str) -> Result<VersionInfo, ProgramError> {
    let mut info = VersionInfo {
        path: path.to_owned(),
        exists: false,
        bytes: 0,
        modified: None,
    };
    // A symbolic link is not followed: it may lead out of the folder.
    match std::fs::symlink_metadata(root.join(path)) {
        Ok(meta) => {
            info.exists = meta.is_file();
            info.bytes = meta.len();
            let at = meta.modified().ok().map(OffsetDateTime::from);
            info.modified = at.and_then(|at| at.format(&Rfc3339).ok());
            Ok(info)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(info),
        Err(error) => Err(unreadable_fault(path, &error)),
    }
}

fn text(root: &Path, info: &VersionInfo) -> Result<Option<String>, ProgramError> {
    if info.bytes > MAX_TEXT {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    File::open(root.join(&info.path))
        .and_then(|file| file.take(MAX_TEXT + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable_fault(&info.path, &error))?;
    if bytes.len() as u64 > MAX_TEXT || bytes.contains(&0) {
        return Ok(None);
    }
    Ok(String::from_utf8(bytes).ok())
}

fn unreadable_fault(path: &str, error: &io::Error) -> ProgramError {
    ProgramError::failed(format!("can't read {path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line_diff::{LineKind, MAX_LINES};

    fn world(mine: &[u8], theirs: &[u8]) -> ConflictDetail {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("copy"), mine).unwrap();
        std::fs::write(dir.path().join("file"), theirs).unwrap();
        read(dir.path().to_str().unwrap(), "file", "copy").unwrap()
    }

    #[test]
    fn texts_are_compared_line_by_line() {
        let detail = world(b"one\ntwo\nthree\n", b"one\n2\nthree\nfour\n");
        let lines: Vec<_> = detail
            .diff
            .unwrap()
            .into_iter()
            .map(|line| (line.kind, line.text))
            .collect();
        let line = |kind, text: &str| (kind, text.to_owned());
        assert_eq!(
            lines,
            [
                line(LineKind::Same, "one"),
                line(LineKind::Mine, "two"),
                line(LineKind::Theirs, "2"),
                line(LineKind::Same, "three"),
                line(LineKind::Theirs, "four"),
            ]
        );
        assert_eq!((detail.copy.bytes, detail.original.bytes), (14, 17));
        assert!(detail.copy.modified.is_some() && !detail.cut);
    }

    #[test]
    fn far_differences_have_a_gap_between() {
        let long: Vec<String> = (0..50).map(|n| n.to_string()).collect();
        let mut other = long.clone();
        other[5] = "x".into();
        other[40] = "y".into();
        let detail = world(long.join("\n").as_bytes(), other.join("\n").as_bytes());
        let gaps = detail.diff.unwrap();
        assert_eq!(gaps.iter().filter(|l| l.kind == LineKind::Gap).count(), 1);
    }

    #[test]
    fn binary_and_big_files_are_not_compared() {
        assert_eq!(world(b"a\0b", b"a").diff, None);
        assert_eq!(world(&[0xff, 0xfe], b"a").diff, None);
        assert_eq!(world(&vec![b'a'; 300_000], b"a").diff, None);
    }

    #[test]
    fn endless_differences_are_cut() {
        let (a, b) = ("a\n".repeat(5_000), "b\n".repeat(5_000));
        let detail = world(a.as_bytes(), b.as_bytes());
        assert!(detail.cut && detail.diff.unwrap().len() == MAX_LINES);
    }

    #[test]
    fn a_version_that_is_gone_does_not_exist() {
        let dir = tempfile::tempdir().unwrap();
        let detail = read(dir.path().to_str().unwrap(), "file", "copy").unwrap();
        assert!(!detail.copy.exists && !detail.original.exists && detail.diff.is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed_out_of_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("copy"), "x").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("file")).unwrap();
        let detail = read(dir.path().to_str().unwrap(), "file", "copy").unwrap();
        assert!(!detail.original.exists && detail.diff.is_none());
    }
}
