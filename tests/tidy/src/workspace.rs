//! The packages of the workspace with their dependencies, and its files.

use crate::SourceFile;
use crate::exceptions::{self, Exceptions};
use crate::source::read_all;
use anyhow::{Context as _, Result};
use cargo_metadata::{DependencyKind, MetadataCommand};
use std::path::{Path, PathBuf};

/// The workspace, as far as the rules look at it.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    pub root: PathBuf,
    pub packages: Vec<Package>,
    pub files: Vec<SourceFile>,
    /// Violations that are accepted.
    pub exceptions: Exceptions,
}

/// One package of ours.
#[derive(Clone, Debug)]
pub struct Package {
    pub name: String,
    /// From the workspace's root.
    pub dir: String,
    pub dependencies: Vec<Dependency>,
}

/// One line of a package's dependencies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependency {
    pub name: String,
    /// Needed by the package's tests only.
    pub dev: bool,
}

impl Package {
    /// Dependencies of the package itself, without those of its tests.
    pub fn normal(&self) -> impl Iterator<Item = &str> {
        self.dependencies
            .iter()
            .filter(|d| !d.dev)
            .map(|d| d.name.as_str())
    }
}

impl Workspace {
    /// Reads the workspace that this package belongs to.
    ///
    /// # Errors
    /// Cargo or the file system fails, or `tests/tidy/exceptions.toml` is not valid.
    pub fn load() -> Result<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let metadata = MetadataCommand::new()
            .current_dir(here)
            .no_deps()
            .other_options(["--offline".to_owned()])
            .exec()
            .context("cargo metadata failed")?;
        let root = metadata.workspace_root.as_std_path().to_path_buf();
        let packages = metadata
            .packages
            .iter()
            .map(|package| {
                let manifest = package.manifest_path.as_std_path();
                let dir = manifest.parent().unwrap_or(manifest);
                let dir = dir.strip_prefix(&root).unwrap_or(dir);
                Package {
                    name: package.name.to_string(),
                    dir: dir.to_string_lossy().replace('\\', "/"),
                    dependencies: package
                        .dependencies
                        .iter()
                        .map(|d| Dependency {
                            name: d.name.clone(),
                            dev: d.kind == DependencyKind::Development,
                        })
                        .collect(),
                }
            })
            .collect();
        let files = read_all(&root).with_context(|| format!("can't read {}", root.display()))?;
        let exceptions = match files.iter().find(|file| file.path == exceptions::FILE) {
            Some(file) => Exceptions::parse(&file.text)?,
            None => Exceptions::default(),
        };
        Ok(Self {
            root,
            packages,
            files,
            exceptions,
        })
    }

    pub fn rust_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.is_rust())
    }
}
