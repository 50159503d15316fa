//! The metadata for registries and installers, compared with the program.

use crate::mcp::bundle_rules::broken_rules;
use serde_json::Value;

const SERVER: &str = include_str!("../../../../../daemon/crates/mcp/packaging/server.json");
const MANIFEST: &str = include_str!("../../../../../daemon/crates/mcp/packaging/manifest.json");

#[test]
fn versions_and_variables_are_the_programs() {
    let server: Value = serde_json::from_str(SERVER).unwrap();
    let manifest: Value = serde_json::from_str(MANIFEST).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(server["version"], version);
    assert_eq!(server["packages"][0]["version"], version);
    assert_eq!(manifest["version"], version);
    assert_eq!(broken_rules(&manifest), Vec::<String>::new());
    // The registry cuts nothing: a longer one is refused.
    assert!(server["description"].as_str().unwrap().len() <= 100);
    let named: Vec<_> = server["packages"][0]["environmentVariables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|variable| variable["name"].as_str().unwrap())
        .collect();
    let set = manifest["server"]["mcp_config"]["env"].as_object().unwrap();
    assert!(set.keys().all(|name| named.contains(&name.as_str())));
    let config = manifest["user_config"].as_object().unwrap();
    for value in set.values() {
        let key = value
            .as_str()
            .and_then(|text| text.strip_prefix("${user_config."))
            .and_then(|text| text.strip_suffix('}'))
            .unwrap();
        assert!(config.contains_key(key), "{key}");
    }
    // Whoever is logged in on this machine needs no key: the program then uses that account.
    let required = config.iter().filter(|(_, field)| field["required"] == true);
    let required: Vec<_> = required.map(|(name, _)| name).collect();
    assert!(required.is_empty(), "{required:?}");
}
