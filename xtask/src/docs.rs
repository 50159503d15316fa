//! The site that is made of the README and docs/, with search.

use crate::run::{cargo, root, run_command, succeeds, target};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The pages outside docs/.
const PAGES: [&str; 4] = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
];
/// Folders whose files pages link to or show.
const FOLDERS: [&str; 3] = ["docs", "packaging/grafana", "packaging/proxy"];
const CONTENTS: &str = "docs/SUMMARY.md";

/// Builds the site with mdBook, which is installed first where it is missing.
pub(crate) fn build() -> Result<()> {
    if !succeeds("mdbook", &["--version"]) {
        println!("mdbook is missing: building it takes some minutes, once");
        run_command(cargo().args(["install", "--locked", "mdbook"]))?;
    }
    let (sources, site) = (target().join("book-sources"), target().join("book"));
    if sources.exists() {
        fs::remove_dir_all(&sources)?;
    }
    // mdBook wants the table of contents above all pages; links between pages stay as they are.
    let pages = sources.join("src");
    fs::create_dir_all(&pages)?;
    for page in PAGES {
        fs::copy(root().join(page), pages.join(page)).with_context(|| page.to_owned())?;
    }
    for folder in FOLDERS {
        copy_folder(&root().join(folder), &pages.join(folder))?;
    }
    fs::remove_file(pages.join(CONTENTS))?;
    let contents = fs::read_to_string(root().join(CONTENTS))?;
    let contents = contents
        .replace("](", "](docs/")
        .replace("](docs/../", "](");
    fs::write(pages.join("SUMMARY.md"), contents)?;
    fs::copy(root().join("book.toml"), sources.join("book.toml"))?;
    run_command(
        Command::new("mdbook")
            .args(["build", "--dest-dir"])
            .arg(&site)
            .arg(&sources),
    )?;
    println!("{}", site.join("index.html").display());
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("read {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
