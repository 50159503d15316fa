//! The crates in the programs, as cargo selects them for this system, with the checksums of Cargo.lock.

use super::super::contents::PACKAGES;
use super::{Component, Components};
use crate::run::{cargo, root};
use anyhow::{Context as _, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};

/// The crates of all programs together: they are built at once, and so with the same features.
pub(super) struct Graph(Components);

impl Graph {
    pub(super) fn read() -> Result<Self> {
        let mut tree = cargo();
        tree.args(["tree", "--locked", "--edges", "normal,no-proc-macro"])
            .args(["--prefix", "depth", "--format", "{p}\t{l}"]);
        for package in &PACKAGES {
            tree.args(["--package", package.program]);
        }
        let output = tree.output().context("can't run cargo tree")?;
        ensure!(
            output.status.success(),
            "cargo tree failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let checksums = checksums(&std::fs::read_to_string(root().join("Cargo.lock"))?)?;
        Self::parse(&String::from_utf8(output.stdout)?, &checksums)
    }

    /// Reads lines such as `2serde v1.0.1<TAB>MIT OR Apache-2.0 (*)`: the depth, the crate with its path if it is
    /// of the workspace, its licence, and a mark where its own crates stand elsewhere.
    pub(super) fn parse(tree: &str, checksums: &BTreeMap<String, String>) -> Result<Self> {
        let mut libraries = Components::new();
        let mut path: Vec<String> = Vec::new();
        for line in tree.lines().filter(|line| !line.is_empty()) {
            let digits = line.find(|c: char| !c.is_ascii_digit()).unwrap_or_default();
            let (depth, rest) = line.split_at(digits);
            let depth: usize = depth.parse().with_context(|| line.to_owned())?;
            let (what, licence) = rest.split_once('\t').with_context(|| line.to_owned())?;
            let mut words = what.split(' ');
            let name = words.next().unwrap_or_default();
            let version = words.next().unwrap_or_default().trim_start_matches('v');
            let key = format!("{name}@{version}");
            let checksum = checksums.get(&key);
            path.truncate(depth);
            if let Some(parent) = path.last().and_then(|parent| libraries.get_mut(parent)) {
                parent.uses.insert(key.clone());
            }
            path.push(key.clone());
            libraries.entry(key).or_insert_with(|| Component {
                name: name.to_owned(),
                version: version.to_owned(),
                licence: expression(licence),
                // Only what comes from the registry has a checksum.
                purl: checksum.map(|_| format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))),
                hash: checksum.map(|checksum| ("SHA-256", checksum.clone())),
                uses: BTreeSet::new(),
            });
        }
        Ok(Self(libraries))
    }

    /// Returns a program, and all crates in it.
    pub(super) fn dependencies_of(&self, program: &str) -> Result<(Component, Components)> {
        let found = self.0.iter().find(|(_, library)| library.name == program);
        let (_, root) = found.with_context(|| format!("cargo tree knows no {program}"))?;
        let mut below = Components::new();
        let mut left: Vec<&String> = root.uses.iter().collect();
        while let Some(key) = left.pop() {
            let library = &self.0[key];
            if below.insert(key.clone(), library.clone()).is_none() {
                left.extend(&library.uses);
            }
        }
        Ok((root.clone(), below))
    }
}

/// Returns a licence as an SPDX expression; older crates write `MIT/Apache-2.0`.
fn expression(licence: &str) -> String {
    let licence = licence.trim_end_matches(" (*)").trim();
    let parts: Vec<_> = licence.split('/').map(str::trim).collect();
    parts.join(" OR ")
}

/// Returns the SHA-256 of each archive of the registry, by name and version.
fn checksums(lock: &str) -> Result<BTreeMap<String, String>> {
    let lock: toml::Table = lock.parse()?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let packages = packages.context("Cargo.lock lists packages")?;
    Ok(packages
        .iter()
        .filter_map(|package| {
            let text = |field| package.get(field).and_then(toml::Value::as_str);
            let key = format!("{}@{}", text("name")?, text("version")?);
            Some((key, text("checksum")?.to_owned()))
        })
        .collect())
}
