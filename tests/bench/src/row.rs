//! The rows of the table: what is done with which data, and with whom.

pub(crate) mod assistant;
pub(crate) mod big;
pub(crate) mod busy;
pub(crate) mod code;
pub(crate) mod deletions;
pub(crate) mod live;
pub(crate) mod long_line;
pub(crate) mod restart;
pub(crate) mod service;
pub(crate) mod small;
pub(crate) mod tree_copy;

use crate::data::{Amount, amount};
use crate::peer::Tool;
use crate::table::Results;
use anyhow::Result;
use cairn_e2e::wait;
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Longer than any peer takes for the full amount of data.
const LIMIT: Duration = Duration::from_secs(1200);

/// One row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Row {
    /// 10,000 small files: up, and from A to B.
    Small,
    /// A code tree of 10,000 files, up.
    Code,
    /// One file of 1 GiB: up, down, from A to B, 16 bytes of it changed, copied.
    Big,
    /// A folder of 1 GiB, copied beside itself.
    TreeCopy,
    /// One new small file, from A to B; and while 10,000 others go up.
    NewFile,
    /// 1 kB both ways while three files of 1 GiB go up through a limited line.
    Busy,
    /// A large file and 10,000 small ones over a long line that loses packets.
    LongLine,
    /// 10,000 deletions among 100,000 files.
    Deletions,
    /// A folder of 10,000 files renamed, from A to B.
    Rename,
    /// A restart with 100,000 files and nothing to do.
    Restart,
    /// The tool server for assistants: its start, and its memory.
    Assistant,
    /// The service: reads and small files a second, and a change told to many.
    Service,
    /// The same of one and of three servers on PostgreSQL.
    Servers,
    /// The service's lists, feed and commits while a space grows to a million files and folders.
    Nodes,
}

/// Directory, amount and tools of a run.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) dir: TempDir,
    pub(crate) scale: f64,
    /// The tools to measure, of those that are installed.
    pub(crate) tools: Vec<Tool>,
    /// The address of a database server, without options.
    pub(crate) postgres: Option<String>,
}

impl Row {
    pub(crate) const ALL: [Self; 14] = [
        Self::Small,
        Self::Code,
        Self::Big,
        Self::TreeCopy,
        Self::NewFile,
        Self::Busy,
        Self::LongLine,
        Self::Deletions,
        Self::Rename,
        Self::Restart,
        Self::Assistant,
        Self::Service,
        Self::Servers,
        Self::Nodes,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Small => small::TITLE,
            Self::Code => code::TITLE,
            Self::Big => big::TITLE,
            Self::TreeCopy => tree_copy::TITLE,
            Self::NewFile => live::NEW_FILE,
            Self::Busy => busy::TITLE,
            Self::LongLine => long_line::TITLE,
            Self::Deletions => deletions::TITLE,
            Self::Rename => live::RENAME,
            Self::Restart => restart::TITLE,
            Self::Assistant => assistant::TITLE,
            Self::Service => service::TITLE,
            Self::Servers => service::SEVERAL,
            Self::Nodes => service::SIZE,
        }
    }

    pub(crate) fn run(self, bench: &Bench, results: &mut Results) -> Result<()> {
        match self {
            Self::Small => small::run(bench, results),
            Self::Code => code::run(bench, results),
            Self::Big => big::run(bench, results),
            Self::TreeCopy => tree_copy::run(bench, results),
            Self::NewFile => live::new_file(bench, results),
            Self::Busy => busy::run(bench, results),
            Self::LongLine => long_line::run(bench, results),
            Self::Deletions => deletions::run(bench, results),
            Self::Rename => live::rename(bench, results),
            Self::Restart => restart::run(bench, results),
            Self::Assistant => assistant::run(bench, results),
            Self::Service => service::run(bench, results),
            Self::Servers => service::run_several(bench, results),
            Self::Nodes => service::run_size(bench, results),
        }
    }
}

impl Bench {
    /// A new empty directory for one part of a row.
    pub(crate) fn part(&self, name: &str) -> Result<PathBuf> {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(path)
    }

    /// A number of files, scaled.
    pub(crate) fn files(&self, full: usize) -> usize {
        ((full as f64 * self.scale) as usize).max(1)
    }

    /// A number of bytes, scaled.
    pub(crate) fn bytes(&self, full: u64) -> u64 {
        ((full as f64 * self.scale) as u64).max(1024)
    }

    pub(crate) fn has(&self, tool: Tool) -> bool {
        self.tools.contains(&tool)
    }
}

/// Waits until a folder holds this amount. Looks 20 times a second: seconds are measured here.
pub(crate) fn wait_for_amount(root: &Path, wanted: Amount) -> Result<()> {
    wait::holds(
        &format!("{} files are in {}", wanted.files, root.display()),
        LIMIT,
        || {
            std::thread::sleep(Duration::from_millis(40));
            Ok(amount(root)? == wanted)
        },
    )
}

/// Frees the space of a finished part.
pub(crate) fn clear(path: &Path) -> Result<()> {
    Ok(std::fs::remove_dir_all(path)?)
}
