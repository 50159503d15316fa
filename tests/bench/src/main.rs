//! Measures Cairn beside rclone crypt, restic, Syncthing and Unison: same machine, same data, same run.
//!
//! `cargo run --release -p cairn-bench` prints a table; `--write` puts it into docs/benchmarks.md.
//! Nothing here judges correctness: that is the business of the end-to-end tests.
#![cfg(unix)]

mod data;
mod line;
mod machine;
mod peer;
mod process;
mod row;
mod table;

use anyhow::{Context, Result, bail};
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Cairn side by side with rclone crypt, restic, Syncthing and Unison on loopback.
#[derive(Debug, Parser)]
struct Options {
    /// Rows to run (default: all). The others are left out.
    #[arg(long, value_delimiter = ',')]
    only: Vec<row::Row>,
    /// Measure Cairn alone.
    #[arg(long, conflicts_with = "tools")]
    skip_peers: bool,
    /// Measure only these (default: Cairn, and the peers that are installed).
    #[arg(long, value_delimiter = ',')]
    tools: Vec<peer::Tool>,
    /// Times that each row is measured; the table has the medians.
    #[arg(long, default_value_t = 1)]
    times: u32,
    /// Part of the full amount of data: 0.1 is a tenth. Targets count at 1 only.
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// Address of a PostgreSQL server on which the service is measured, too (`cargo xtask bench` starts one).
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Write the table to docs/benchmarks.md.
    #[arg(long)]
    write: bool,
    /// Use the programs that are built already.
    #[arg(long)]
    no_build: bool,
    /// Carry packets over this line between the ends, as the row of the long line asks its helper.
    #[arg(long, hide = true, value_name = "LINE")]
    carry_line: Option<line::Quality>,
    /// Directory in which the data is made (default: the system's directory for temporary files).
    #[arg(long)]
    dir: Option<PathBuf>,
}

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the benchmark broke off: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<()> {
    let options = Options::parse();
    if let Some(quality) = options.carry_line {
        return line::carry(quality);
    }
    if !(options.scale > 0.0 && options.scale <= 1.0) {
        bail!(
            "--scale is {}: give a number above 0, at most 1",
            options.scale
        );
    }
    let tools = if options.skip_peers {
        vec![peer::Tool::Cairn]
    } else {
        peer::installed_tools(&options.tools)
    };
    if !options.no_build && tools.contains(&peer::Tool::Cairn) {
        build()?;
    }
    let dir = match &options.dir {
        Some(dir) => tempfile::tempdir_in(dir),
        None => tempfile::tempdir(),
    };
    let bench = row::Bench {
        dir: dir.context("no directory for the data")?,
        scale: options.scale,
        tools,
        postgres: options.postgres.clone(),
    };
    let mut results = table::Results::default();
    for row in row::Row::ALL {
        if !options.only.is_empty() && !options.only.contains(&row) {
            continue;
        }
        for time in 1..=options.times.max(1) {
            eprintln!("== {} ({time} of {})", row.title(), options.times);
            row.run(&bench, &mut results)
                .with_context(|| format!("in the row {}", row.title()))?;
        }
    }
    let report = results.report(options.scale, &bench.tools)?;
    table::print(&report)?;
    if options.write {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/benchmarks.md");
        std::fs::write(&path, &report)
            .with_context(|| format!("{} can't be written", path.display()))?;
        eprintln!("written: {}", path.display());
    }
    Ok(())
}

/// Builds what is measured in the profile in which this program was built.
fn build() -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "-p", "cairn", "-p", "cairn-server"]);
    if cfg!(debug_assertions) {
        eprintln!("warning: a debug build is measured; use `cargo run --release -p cairn-bench`");
    } else {
        command.arg("--release");
    }
    let status = command
        .status()
        .context("cargo can't be run; use --no-build")?;
    if !status.success() {
        bail!("`cairn` and `cairn-server` do not build");
    }
    Ok(())
}
