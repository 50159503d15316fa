//! The SBOMs of this checkout, and what the schema of CycloneDX requires of them.

use super::*;
use std::collections::HashSet;

const TREE: &str = "0cairn v0.1.0 (/home/me/daemon)\tMIT OR Apache-2.0\n\
    1cairn-model v0.1.0 (/home/me/daemon/crates/model)\tMIT OR Apache-2.0\n\
    2serde v1.0.1\tMIT/Apache-2.0\n\
    1toml v1.2.0+spec-1.1\tMIT\n\
    2serde v1.0.1\tMIT/Apache-2.0 (*)\n\
    \n\
    0cairn-tray v0.1.0 (/home/me/src-tauri)\tMIT\n\
    1cairn-model v0.1.0 (/home/me/daemon/crates/model)\tMIT OR Apache-2.0 (*)\n";

fn graph() -> Graph {
    let checksums = BTreeMap::from([
        ("serde@1.0.1".to_owned(), "ab".repeat(32)),
        ("toml@1.2.0+spec-1.1".to_owned(), "cd".repeat(32)),
    ]);
    Graph::parse(TREE, &checksums).unwrap()
}

/// Returns what the schema (bom-1.5.schema.json) does not allow.
fn problems(document: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let mut must = |holds: bool, what: &str| {
        if !holds {
            problems.push(what.to_owned());
        }
    };
    must(document["bomFormat"] == "CycloneDX", "bomFormat");
    must(document["specVersion"] == "1.5", "specVersion");
    must(document["version"].as_u64() >= Some(1), "version");
    let timestamp = document["metadata"]["timestamp"].as_str();
    let is_time = timestamp.is_some_and(|at| OffsetDateTime::parse(at, &Rfc3339).is_ok());
    must(is_time, "timestamp");
    let listed = document["components"].as_array().unwrap();
    let program = &document["metadata"]["component"];
    let mut refs = HashSet::new();
    for component in listed.iter().chain([program]) {
        let text = |field: &str| component[field].as_str().unwrap_or_default();
        let name = text("name");
        must(!name.is_empty() && !text("version").is_empty(), name);
        must(matches!(text("type"), "library" | "application"), name);
        must(refs.insert(text("bom-ref")), name);
        // One expression, or a list of licences.
        let licences = component["licenses"].as_array();
        let is_expression =
            |licences: &Vec<Value>| licences.len() == 1 && licences[0]["expression"].is_string();
        must(licences.is_none_or(is_expression), name);
        for hash in component["hashes"].as_array().into_iter().flatten() {
            let digits = hash["content"].as_str().unwrap_or_default();
            let length = match hash["alg"].as_str() {
                Some("SHA-256") => 64,
                Some("SHA-512") => 128,
                _ => 0,
            };
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            must(digits.len() == length && is_hex, name);
        }
    }
    for dependency in document["dependencies"].as_array().into_iter().flatten() {
        let uses = dependency["dependsOn"].as_array().into_iter().flatten();
        for key in uses.chain([&dependency["ref"]]) {
            must(
                refs.contains(key.as_str().unwrap_or_default()),
                "dependencies",
            );
        }
    }
    must(
        reached_keys(document) == refs,
        "something that nothing uses",
    );
    problems
}

/// Returns what is reached from the program along its dependencies.
fn reached_keys(document: &Value) -> HashSet<&str> {
    let mut found = HashSet::new();
    let mut left: Vec<&str> = document["metadata"]["component"]["bom-ref"]
        .as_str()
        .into_iter()
        .collect();
    while let Some(key) = left.pop() {
        if !found.insert(key) {
            continue;
        }
        let edges = document["dependencies"].as_array().into_iter().flatten();
        for edge in edges.filter(|edge| edge["ref"] == key) {
            let uses = edge["dependsOn"].as_array().into_iter().flatten();
            left.extend(uses.filter_map(Value::as_str));
        }
    }
    found
}

#[test]
fn a_crate_that_is_printed_once_belongs_to_all_that_use_it() {
    let (root, libraries) = graph().dependencies_of("cairn").unwrap();
    let keys: Vec<_> = libraries.keys().collect();
    assert_eq!(
        keys,
        ["cairn-model@0.1.0", "serde@1.0.1", "toml@1.2.0+spec-1.1"]
    );
    assert_eq!(root.uses.len(), 2);
    assert_eq!(libraries["serde@1.0.1"].licence, "MIT OR Apache-2.0");
    let toml = &libraries["toml@1.2.0+spec-1.1"];
    assert_eq!(
        toml.purl.as_deref(),
        Some("pkg:cargo/toml@1.2.0%2Bspec-1.1")
    );
    assert_eq!(libraries["cairn-model@0.1.0"].purl, None);
    let (_, libraries) = graph().dependencies_of("cairn-tray").unwrap();
    assert!(libraries.contains_key("serde@1.0.1"));
    assert!(!libraries.contains_key("toml@1.2.0+spec-1.1"));
}

#[test]
fn the_sboms_of_this_checkout_are_valid_and_the_same_each_time() {
    let sboms = Sboms::read().unwrap();
    let again = Sboms::read().unwrap();
    for package in &PACKAGES {
        let text = sboms.text(package).unwrap();
        assert_eq!(text, again.text(package).unwrap());
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(problems(&document), Vec::<String>::new());
        let component = &document["metadata"]["component"];
        assert_eq!(component["name"], package.program);
        let components = document["components"].as_array().unwrap();
        let has = |name: &str| components.iter().any(|c| c["name"] == name);
        assert!(has("serde") && !has("proptest"), "{}", package.name);
        assert_eq!(has("svelte"), package.has_page, "{}", package.name);
        assert!(!text.contains(env!("CARGO_MANIFEST_DIR")));
    }
}

#[test]
fn what_the_page_imports_is_in_its_bill() {
    let mut left = vec![crate::run::root().join("ui/src")];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            continue;
        }
        let name = path.display().to_string();
        let is_source = name.ends_with(".ts") || name.ends_with(".svelte");
        if !is_source || name.ends_with(".test.ts") {
            continue;
        }
        for line in fs::read_to_string(&path).unwrap().lines() {
            let Some((_, from)) = line.split_once(" from \"") else {
                continue;
            };
            let is_known =
                from.starts_with('.') || page::IMPORTED.iter().any(|known| from.starts_with(known));
            assert!(is_known, "{name}: {line}");
        }
    }
}
