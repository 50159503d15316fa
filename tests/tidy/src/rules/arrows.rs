//! The imports between packages, and the owner of each big dependency.

use crate::{Rule, Violation};

/// The packages of ours that each package may import.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("cairn-model", &[]),
    ("cairn-plan", &["model"]),
    ("cairn-wire", &["model"]),
    ("cairn-log", &["model"]),
    ("cairn-crypto", &["model", "log"]),
    ("cairn-index", &["model", "platform"]),
    ("cairn-platform", &["model"]),
    ("cairn-api", &["model", "wire"]),
    ("cairn-transfer", &["model", "wire", "crypto", "api"]),
    (
        "cairn-space",
        &["model", "wire", "crypto", "api", "transfer"],
    ),
    ("cairn-control", &["model", "platform"]),
    (
        "cairn-engine",
        &[
            "model", "wire", "plan", "crypto", "index", "transfer", "api", "platform",
        ],
    ),
    (
        "cairn-mcp",
        &[
            "model", "wire", "api", "crypto", "transfer", "space", "control",
        ],
    ),
    (
        "cairn",
        &[
            "model", "wire", "index", "transfer", "space", "api", "platform", "control", "engine",
            "mcp",
        ],
    ),
    ("cairn-tray", &["model", "control", "platform"]),
    ("cairn-store", &["model", "wire", "log"]),
    ("cairn-service", &["model", "wire", "log", "store"]),
    ("cairn-dev", &["model", "wire", "store", "service"]),
    ("cairn-server", &["model", "store", "service", "dev"]),
    (
        "cairn-contract",
        &[
            "model", "wire", "api", "crypto", "transfer", "space", "control", "mcp", "server",
            "e2e",
        ],
    ),
    ("cairn-e2e", &[]),
    ("cairn-bench", &["e2e"]),
    (
        "cairn-sim",
        &[
            "model", "wire", "plan", "crypto", "index", "transfer", "api", "platform", "engine",
            "server",
        ],
    ),
    ("cairn-tidy", &[]),
    ("xtask", &[]),
];

pub const ARROWS: Rule = Rule {
    name: "arrows",
    rule: "a package imports only the packages of ours that ARCHITECTURE.md lets it",
    rationale: "the planner stays pure, the server without keys and the tray without sync logic only \
              because they can't reach the rest; a new arrow is a decision, not a line in a manifest",
    find: |workspace| {
        let mut violations = Vec::new();
        for package in &workspace.packages {
            let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == package.name)
            else {
                violations.push(Violation::new(
                    &package.name,
                    "stands in no line of MAY_IMPORT (tests/tidy/src/rules/arrows.rs)",
                ));
                continue;
            };
            for dependency in package.normal().filter_map(short_name) {
                if !allowed.contains(&dependency) {
                    violations.push(Violation::new(
                        &package.name,
                        format!("may not import {dependency}"),
                    ));
                }
            }
        }
        violations
    },
};

/// The packages below `server/`.
const SERVER: [&str; 4] = ["cairn-server", "cairn-dev", "cairn-service", "cairn-store"];
/// The packages that they never reach, not even in their tests.
const KEYS_AND_CONTENT: [&str; 3] = ["crypto", "transfer", "space"];

pub const TEST_ARROWS: Rule = Rule {
    name: "test-arrows",
    rule: "the tests of a package import nothing that lies above it, except the server",
    rationale: "a test that needs the engine to test the index belongs to the engine; and the server's \
              own tests must not see keys either: that it can't is the zero-knowledge test",
    find: |workspace| {
        let mut violations = Vec::new();
        for package in &workspace.packages {
            for dependency in package.dependencies.iter().filter(|d| d.dev) {
                let Some(name) = short_name(&dependency.name) else {
                    continue;
                };
                let of_server =
                    SERVER.contains(&package.name.as_str()) && KEYS_AND_CONTENT.contains(&name);
                let above = name != "server"
                    && reaches(name, short_name(&package.name).unwrap_or(&package.name));
                if of_server || above {
                    violations.push(Violation::new(
                        &package.name,
                        format!("may not import {name} for its tests"),
                    ));
                }
            }
        }
        violations
    },
};

/// A big dependency, and the packages that may name it.
const OWNED: &[(&str, &[&str])] = &[
    // The server posts to webhooks, with a resolver of its own.
    ("reqwest", &["cairn-api", "cairn-service"]),
    ("lettre", &["cairn-service"]),
    ("rusqlite", &["cairn-index", "cairn-store"]),
    ("tokio-postgres", &["cairn-store"]),
    ("axum", &["cairn-service", "cairn-dev", "cairn-sim"]),
    ("rmcp", &["cairn-mcp"]),
    ("notify", &["cairn-platform"]),
    ("jiff", &["cairn-platform"]),
    ("keyring-core", &["cairn-platform"]),
    ("jsonc-parser", &["cairn"]),
    ("zbus", &["cairn-platform"]),
    ("rustix", &["cairn-platform", "cairn-e2e", "cairn-bench"]),
    ("tauri", &["cairn-tray"]),
    // The server seals its own records at rest; it never has a key of a client.
    ("aes-gcm", &["cairn-store"]),
    // The server signs ID tokens with a key of its own.
    ("rsa", &["cairn-crypto", "cairn-service"]),
    ("aws-lc-rs", &["cairn-crypto"]),
    ("pbkdf2", &["cairn-crypto"]),
    (
        "ed25519-dalek",
        &["cairn-log", "cairn-crypto", "cairn-service"],
    ),
    ("fastcdc", &["cairn-crypto"]),
    ("bip39", &["cairn-crypto"]),
    // Passphrases of files, and passwords for logging in.
    ("zxcvbn", &["cairn-crypto", "cairn-service"]),
    ("aes-siv", &["cairn-crypto"]),
    ("argon2", &["cairn-crypto"]),
    ("ml-kem", &["cairn-crypto"]),
    ("zstd", &["cairn-crypto", "cairn-wire"]),
    (
        "clap",
        &["cairn", "cairn-server", "cairn-bench", "cairn-sim", "xtask"],
    ),
    ("indicatif", &["cairn"]),
    (
        "anyhow",
        &[
            "cairn",
            "cairn-store",
            "cairn-service",
            "cairn-dev",
            "cairn-server",
            "cairn-e2e",
            "cairn-bench",
            "cairn-sim",
            "cairn-tidy",
            "xtask",
        ],
    ),
];

pub const OWNERS: Rule = Rule {
    name: "owners",
    rule: "a big dependency is named by its owner only",
    rationale: "what one crate wraps can be replaced, mocked and audited in one place; and errors stay \
              typed where a caller has to tell them apart (anyhow is for programs and tests)",
    find: |workspace| {
        let mut violations = Vec::new();
        for package in &workspace.packages {
            for dependency in package.normal() {
                let owners = OWNED.iter().find(|(name, _)| *name == dependency);
                if let Some((_, owners)) = owners
                    && !owners.contains(&package.name.as_str())
                {
                    let owners = owners.join(", ");
                    violations.push(Violation::new(
                        &package.name,
                        format!("names {dependency}, which belongs to {owners}"),
                    ));
                }
            }
        }
        violations
    },
};

/// The short name of a package of ours.
fn short_name(name: &str) -> Option<&str> {
    name.strip_prefix("cairn-")
}

/// Returns `true` if package `from` may import `to`, directly or through others.
fn reaches(from: &str, to: &str) -> bool {
    let full = format!("cairn-{from}");
    MAY_IMPORT
        .iter()
        .find(|(name, _)| *name == full)
        .is_some_and(|(_, next)| next.iter().any(|n| *n == to || reaches(n, to)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workspace;
    use crate::workspace::{Dependency, Package};

    fn package(name: &str, dependencies: &[(&str, bool)]) -> Workspace {
        Workspace {
            packages: vec![Package {
                name: name.to_owned(),
                dir: String::new(),
                dependencies: dependencies
                    .iter()
                    .map(|(name, dev)| Dependency {
                        name: (*name).to_owned(),
                        dev: *dev,
                    })
                    .collect(),
            }],
            ..Workspace::default()
        }
    }

    #[test]
    fn an_arrow_that_is_not_drawn_is_a_violation() {
        assert!(
            ARROWS
                .check(&package("cairn-plan", &[("cairn-model", false)]))
                .is_ok()
        );
        for (from, to) in [
            ("cairn-plan", "cairn-index"),
            ("cairn-server", "cairn-crypto"),
            ("cairn-store", "cairn-service"),
            ("cairn-service", "cairn-dev"),
            ("cairn-dev", "cairn-transfer"),
            ("cairn-tray", "cairn-engine"),
            ("cairn-unknown", "serde"),
        ] {
            let error = ARROWS.check(&package(from, &[(to, false)])).unwrap_err();
            assert!(error.contains("why:"), "{error}");
        }
    }

    #[test]
    fn tests_may_use_the_server_but_nothing_above_their_crate() {
        let ok = package(
            "cairn-api",
            &[("cairn-server", true), ("cairn-crypto", true)],
        );
        assert!(TEST_ARROWS.check(&ok).is_ok());
        assert!(
            TEST_ARROWS
                .check(&package("cairn-index", &[("cairn-engine", true)]))
                .is_err()
        );
        assert!(
            TEST_ARROWS
                .check(&package("cairn-server", &[("cairn-crypto", true)]))
                .is_err()
        );
        assert!(
            TEST_ARROWS
                .check(&package("cairn-store", &[("cairn-space", true)]))
                .is_err()
        );
    }

    #[test]
    fn a_dependency_of_another_owner_is_a_violation() {
        assert!(
            OWNERS
                .check(&package("cairn-api", &[("reqwest", false)]))
                .is_ok()
        );
        assert!(
            OWNERS
                .check(&package("cairn-engine", &[("reqwest", false)]))
                .is_err()
        );
        assert!(
            OWNERS
                .check(&package("cairn-engine", &[("reqwest", true)]))
                .is_ok()
        );
    }
}
