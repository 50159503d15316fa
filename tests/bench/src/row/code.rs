//! A code tree: up to 10,000 source files of the packages that Cargo has fetched on this machine.

use super::{Bench, clear};
use crate::data::{Amount, amount};
use crate::machine::settle_disk;
use crate::peer::cairn::CairnPush;
use crate::peer::restic::Restic;
use crate::peer::{Push, Tool};
use crate::table::{Measure, Results};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const TITLE: &str = "a code tree of 10,000 files";
pub(crate) const UP: &str = "a code tree of 10,000 files, up";
const FILES: usize = 10_000;

pub(super) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    for tool in [Tool::Cairn, Tool::Restic] {
        if !bench.has(tool) {
            continue;
        }
        let dir = bench.part(&format!("code-{tool:?}"))?;
        let folder = dir.join("folder");
        let mut left = bench.files(FILES);
        copy_some(&sources()?, &folder, &mut left)?;
        let made: Amount = amount(&folder)?;
        ensure!(made.bytes > 0, "there are no sources of packages");
        let mut push: Box<dyn Push> = match tool {
            Tool::Cairn => Box::new(CairnPush::new(&dir)?),
            Tool::Restic => Box::new(Restic::new(&dir)?),
            Tool::Rclone | Tool::Syncthing | Tool::Unison => continue,
        };
        settle_disk();
        let up = push.push(&folder)?;
        results.add(UP, Measure::Seconds, tool, up.seconds);
        results.add(UP, Measure::Wire, tool, up.wire as f64);
        results.add(
            UP,
            Measure::WireRatio,
            tool,
            up.wire as f64 / made.bytes as f64,
        );
        drop(push);
        clear(&dir)?;
    }
    Ok(())
}

/// Returns the folder of unpacked sources of packages.
fn sources() -> Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    Ok(home
        .context("neither CARGO_HOME nor HOME is set")?
        .join("registry/src"))
}

/// Copies regular files in the order of their names until there are enough.
fn copy_some(from: &Path, to: &Path, left: &mut usize) -> Result<()> {
    let listed = fs::read_dir(from).with_context(|| format!("read {}", from.display()))?;
    let mut entries = listed.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        if *left == 0 {
            return Ok(());
        }
        // Cairn and the count leave out what begins with a dot in different ways.
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_some(&entry.path(), &to.join(entry.file_name()), left)?;
        } else if kind.is_file() {
            fs::create_dir_all(to)?;
            fs::copy(entry.path(), to.join(entry.file_name()))?;
            *left -= 1;
        }
    }
    Ok(())
}
