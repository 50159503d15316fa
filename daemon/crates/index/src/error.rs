//! Errors of the index.

use std::path::{Path, PathBuf};

/// A failure of the index file or of its content.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("the index {path} can't be opened: {source}{}", open_hint(source))]
    Open {
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error("the unreadable index {path} can't be moved aside: {source}")]
    SetAside {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(
        "the index was written by a newer Cairn (schema {found}, this one knows {known}): update Cairn"
    )]
    TooNew { found: i64, known: i64 },
    #[error(
        "the home {path} is of a version whose format this one does not read; nothing was changed. Keep it, and the \
         server's data directory: the version before opens them, and is the way to fetch what no device has (old \
         versions, the trash, folders that are not synced). Then give this version another, empty home, with \
         `--home DIR` or CAIRN_HOME"
    )]
    TooOld { path: PathBuf },
    #[error("the list of folder pairs {path} can't be written: {source}")]
    FolderBackup {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the disk that holds the index is full: free some space")]
    DiskFull,
    #[error("the index refused a change: {0}")]
    Sql(rusqlite::Error),
    #[error("the index holds a value that it should not ({0}): delete it to have it built again")]
    Corrupt(&'static str),
}

/// Returns what to do about an index that can't be opened, where it is known.
fn open_hint(source: &rusqlite::Error) -> &'static str {
    match is_unwritable(source) {
        true => {
            "; make it and its directory writable for this user, because reading writes beside it, or name another home \
             with --home"
        }
        false => "",
    }
}

fn is_unwritable(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly)
    )
}

impl IndexError {
    /// Names the index, if it can't be read because it or its directory can't be written.
    pub(crate) fn at(self, path: &Path) -> Self {
        match self {
            Self::Sql(source) if is_unwritable(&source) => Self::Open {
                path: path.to_owned(),
                source,
            },
            Self::Open { .. }
            | Self::SetAside { .. }
            | Self::TooNew { .. }
            | Self::TooOld { .. }
            | Self::FolderBackup { .. }
            | Self::DiskFull
            | Self::Sql(_)
            | Self::Corrupt(_) => self,
        }
    }
}

impl From<rusqlite::Error> for IndexError {
    fn from(error: rusqlite::Error) -> Self {
        if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) {
            Self::DiskFull
        } else {
            Self::Sql(error)
        }
    }
}
