//! The libraries in the window's page, from npm's lock file.

use super::{Component, Components};
use crate::run::root;
use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use std::collections::BTreeSet;

/// The packages that the page's sources import; all others of the lock file only build or test it.
pub(super) const IMPORTED: [&str; 2] = ["@tauri-apps/api", "svelte"];

const LOCK: &str = "ui/package-lock.json";

pub(super) fn libraries() -> Result<Components> {
    let lock = std::fs::read_to_string(root().join(LOCK)).context(LOCK)?;
    from_lock(&serde_json::from_str(&lock)?)
}

/// Returns the imported packages and all that they need. Some of those of Svelte are its compiler's.
fn from_lock(lock: &Value) -> Result<Components> {
    let mut found = Components::new();
    let mut left: Vec<String> = IMPORTED.iter().map(|name| (*name).to_owned()).collect();
    while let Some(name) = left.pop() {
        let key_of_it = key(lock, &name)?;
        if found.contains_key(&key_of_it) {
            continue;
        }
        let package = &lock["packages"][format!("node_modules/{name}")];
        let version = package["version"].as_str();
        let version = version.with_context(|| format!("{LOCK} has no {name}"))?;
        let needs: BTreeSet<String> = package["dependencies"]
            .as_object()
            .map(|needs| needs.keys().cloned().collect())
            .unwrap_or_default();
        let mut uses = BTreeSet::new();
        for need in needs {
            uses.insert(key(lock, &need)?);
            left.push(need);
        }
        let library = Component {
            name: name.clone(),
            version: version.to_owned(),
            licence: package["license"].as_str().unwrap_or_default().to_owned(),
            purl: Some(format!(
                "pkg:npm/{}@{version}",
                name.replacen('@', "%40", 1)
            )),
            hash: package["integrity"].as_str().and_then(hash),
            uses,
        };
        found.insert(key_of_it, library);
    }
    Ok(found)
}

fn key(lock: &Value, name: &str) -> Result<String> {
    let version = lock["packages"][format!("node_modules/{name}")]["version"].as_str();
    let version = version.with_context(|| format!("{LOCK} has no {name}"))?;
    Ok(format!("npm:{name}@{version}"))
}

/// Reads a hash such as `sha512-BASE64`.
fn hash(integrity: &str) -> Option<(&'static str, String)> {
    let bytes = BASE64_STANDARD
        .decode(integrity.strip_prefix("sha512-")?)
        .ok()?;
    let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(("SHA-512", digits.concat()))
}
