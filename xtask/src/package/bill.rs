//! The bills of materials: which libraries are in each program, as CycloneDX documents.

use super::build::source_date;
use super::contents::PACKAGES;
use crate::run::{cargo, root, show, succeeds};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes one document for each package into a folder, and returns the files.
pub(super) fn write(to: &Path) -> Result<Vec<PathBuf>> {
    if !succeeds("cargo", &["cyclonedx", "--version"]) {
        println!("cargo-cyclonedx is missing: building it takes some minutes, once");
        show(cargo().args(["install", "--locked", "cargo-cyclonedx"]))?;
    }
    show(
        cargo()
            .env("SOURCE_DATE_EPOCH", source_date()?)
            .args(["cyclonedx", "--quiet", "--format", "json"])
            .args(["--describe", "binaries", "--no-build-deps"])
            .args(["--spec-version", "1.5"]),
    )?;
    // It writes one beside the manifest of each package of the workspace that has a program.
    let mut written = Vec::new();
    for manifest in manifests()? {
        let dir = manifest.parent().unwrap_or(&manifest);
        for entry in fs::read_dir(dir)? {
            let file = entry?.path();
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let Some(program) = name.strip_suffix("_bin.cdx.json") else {
                continue;
            };
            if PACKAGES.iter().any(|package| package.program == program) {
                let target = to.join(format!("{program}.cdx.json"));
                let text = fs::read_to_string(&file)?;
                fs::write(&target, without_machine(&text, &root()))?;
                written.push(target);
            }
            fs::remove_file(&file)?;
        }
    }
    written.sort();
    Ok(written)
}

/// Returns the manifests of all packages of the workspace.
fn manifests() -> Result<Vec<PathBuf>> {
    let metadata = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo knows the packages")?;
    Ok(packages
        .iter()
        .filter_map(|package| package["manifest_path"].as_str())
        .map(PathBuf::from)
        .collect())
}

/// Takes the place of the checkout out of a document, so that every machine writes the same.
fn without_machine(text: &str, root: &Path) -> String {
    text.replace(&format!("file://{}", root.display()), "file://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_does_not_tell_where_it_was_written() {
        let text = r#"{"bom-ref": "path+file:///home/me/cairn/daemon#cairn@0.1.0"}"#;
        assert_eq!(
            without_machine(text, Path::new("/home/me/cairn")),
            r#"{"bom-ref": "path+file:///daemon#cairn@0.1.0"}"#
        );
    }
}
