//! The SBOMs: which libraries are in each program, as CycloneDX 1.5 documents.
//!
//! The same checkout gives the same bytes: a document has no number of its own, and the time of the commit. They
//! are written here and not by cargo-cyclonedx, which knows nothing of the page's libraries and would have to be
//! built on every machine that makes packages.

mod crates;
mod page;

use super::build::source_date;
use super::contents::{PACKAGES, Package};
use anyhow::{Context as _, Result};
use crates::Graph;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A library in a program.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Component {
    name: String,
    version: String,
    /// An SPDX expression; empty if the library doesn't say.
    licence: String,
    /// The address in its registry (Package URL); none for those of this workspace.
    purl: Option<String>,
    /// The algorithm, as CycloneDX names it, and the hash of its archive in hexadecimal digits.
    hash: Option<(&'static str, String)>,
    /// The keys of the libraries that it uses itself.
    uses: BTreeSet<String>,
}

/// Components by a key that is unique in a document.
type Components = BTreeMap<String, Component>;

/// The SBOMs of all packages.
pub(super) struct Sboms {
    graph: Graph,
    page: Components,
    timestamp: String,
}

impl Sboms {
    /// Asks cargo for the libraries of all programs, and reads those of the window's page.
    pub(super) fn read() -> Result<Self> {
        let at = source_date()?.parse()?;
        let at = OffsetDateTime::from_unix_timestamp(at)?;
        Ok(Self {
            graph: Graph::read()?,
            page: page::libraries()?,
            timestamp: at.format(&Rfc3339)?,
        })
    }

    /// Returns the document of a package as text.
    pub(super) fn text(&self, package: &Package) -> Result<String> {
        let (mut root, mut libraries) = self.graph.dependencies_of(package.program)?;
        if package.has_page {
            let is_imported = |library: &Component| page::IMPORTED.contains(&library.name.as_str());
            let imported = self.page.iter().filter(|(_, library)| is_imported(library));
            root.uses.extend(imported.map(|(key, _)| key.clone()));
            libraries.extend(self.page.clone());
        }
        let document = document(&root, &libraries, &self.timestamp);
        Ok(serde_json::to_string_pretty(&document)? + "\n")
    }
}

/// Writes one document for each package into a folder, and returns the files.
pub(super) fn write(sboms: &Sboms, to: &Path) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for package in &PACKAGES {
        let file = to.join(format!("{}.cdx.json", package.program));
        fs::write(&file, sboms.text(package)?)
            .with_context(|| format!("can't write {}", file.display()))?;
        written.push(file);
    }
    Ok(written)
}

fn document(root: &Component, libraries: &Components, timestamp: &str) -> Value {
    let key = format!("{}@{}", root.name, root.version);
    let mut program = component(&key, root);
    program["type"] = json!("application");
    let components: Vec<_> = libraries
        .iter()
        .map(|(key, library)| component(key, library))
        .collect();
    let edges = |key: &str, library: &Component| json!({ "ref": key, "dependsOn": library.uses });
    let dependencies: Vec<_> = std::iter::once(edges(&key, root))
        .chain(libraries.iter().map(|(key, library)| edges(key, library)))
        .collect();
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "timestamp": timestamp, "component": program },
        "components": components,
        "dependencies": dependencies,
    })
}

fn component(key: &str, library: &Component) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": key,
        "name": library.name,
        "version": library.version,
    });
    if !library.licence.is_empty() {
        component["licenses"] = json!([{ "expression": library.licence }]);
    }
    if let Some(purl) = &library.purl {
        component["purl"] = json!(purl);
    }
    if let Some((algorithm, content)) = &library.hash {
        component["hashes"] = json!([{ "alg": algorithm, "content": content }]);
    }
    component
}

#[cfg(test)]
mod tests;
