//! A server without local files.

use crate::services::LocalFiles;
use cairn_model::Name;
use std::io;
use std::path::{Path, PathBuf};

/// The files of a server whose tools may touch none of this machine.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl LocalFiles for NoFiles {
    fn executable(&self, _: &Path) -> Option<bool> {
        None
    }

    fn set_executable(&self, _: &Path, _: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync_all(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn check_name(&self, _: &Name) -> Result<(), String> {
        Ok(())
    }

    fn allowed_dirs(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn private_dirs(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn private_mark(&self) -> &'static str {
        ""
    }

    fn allows_client_roots(&self) -> bool {
        false
    }
}
