//! The catalogue, compared with the service's own reference (`catalogue.json`).

use crate::mcp::session::Session;
use crate::mcp::world::{Setup, World};
use cairn_mcp::ToolFilter;
use serde_json::{Value, json};

const REFERENCE: &str = include_str!("catalogue.json");

/// The parameters that take the path of a file or folder in place of its id.
pub(crate) const NODES: [&str; 4] = [
    "file_uuid",
    "folder_uuid",
    "parent_uuid",
    "target_folder_uuid",
];

/// Optional arguments beside those of the reference, with which a list goes on that is too long for one answer.
const GOING_ON: [(&str, &str); 4] = [
    ("get_file_versions", "skip"),
    ("list_comments", "skip"),
    ("list_teams", "skip"),
    ("list_webhooks", "skip"),
];

/// Returns the tools of the reference.
pub(crate) fn reference() -> Vec<Value> {
    serde_json::from_str(REFERENCE).expect("the reference is JSON")
}

/// An assistant's memory is small: all tools together.
const MOST_BYTES: usize = 44_000;

async fn listed_tools(session: &mut Session) -> Vec<Value> {
    let response = session.request("tools/list", json!({})).await;
    response["result"]["tools"]
        .as_array()
        .expect("a list of tools")
        .clone()
}

#[tokio::test]
async fn the_tools_are_those_of_the_reference_in_its_order() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let tools = listed_tools(&mut session).await;
    let reference = reference();
    let names = |list: &[Value]| -> Vec<String> {
        list.iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&tools), names(&reference));
    for (tool, wanted) in tools.iter().zip(&reference) {
        hints_agree(tool, wanted);
        assert!(tool["description"].as_str().unwrap().len() > 10);
        parameters_agree(tool, wanted);
    }
}

/// Compares what a client takes a tool for: a hint that is not sent has the protocol's default.
fn hints_agree(tool: &Value, wanted: &Value) {
    let reads = wanted["readOnlyHint"] == true;
    for (hint, default, of_reading) in [
        ("readOnlyHint", false, true),
        ("destructiveHint", true, false),
        ("idempotentHint", false, false),
        ("openWorldHint", true, true),
    ] {
        // Of a tool that only reads the other two say nothing.
        if reads && !of_reading {
            continue;
        }
        let sent = tool["annotations"][hint].as_bool();
        let name = &wanted["name"];
        assert_eq!(
            json!(sent.unwrap_or(default)),
            wanted[hint],
            "{hint} of {name}"
        );
    }
}

fn parameters_agree(tool: &Value, wanted: &Value) {
    let name = &wanted["name"];
    let schema = &tool["inputSchema"];
    assert_eq!(schema["type"], "object", "{name}");
    assert_eq!(schema["additionalProperties"], false, "{name}");
    let properties = schema["properties"].as_object().unwrap();
    let params = wanted["params"].as_array().unwrap();
    let none = Vec::new();
    let required = schema["required"].as_array().unwrap_or(&none);
    let own = GOING_ON.iter().filter(|(tool, _)| name == tool);
    let own: Vec<_> = own.map(|(_, argument)| json!(argument)).collect();
    assert_eq!(properties.len(), params.len() + own.len(), "{name}");
    for argument in &own {
        assert!(
            properties.contains_key(argument.as_str().unwrap()),
            "{name}"
        );
        assert!(!required.contains(argument), "{name}");
    }
    for param in params {
        let own = param["name"].as_str().unwrap();
        let property = &properties[own];
        let what = format!("{own} of {name}");
        assert!(property["description"].is_string(), "{what}");
        assert_eq!(
            required.contains(&json!(own)),
            param["required"] == true,
            "{what}"
        );
        match (param["type"].as_str().unwrap(), property["type"].as_str()) {
            ("any", None) => {}
            // Whole numbers are numbers.
            ("number", Some("integer" | "number")) => {}
            (wanted, Some(is)) => assert_eq!(is, wanted, "{what}"),
            (wanted, None) => panic!("{what} is no {wanted}"),
        }
        for key in [
            "enum",
            "default",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
            "const",
            "minLength",
            "maxLength",
        ] {
            if let Some(limit) = param.get(key) {
                let is = &property[key];
                // 1 and 1.0 are one number.
                let number = |value: &Value| value.as_f64().map(f64::to_bits);
                let is_same_number = number(is).is_some() && number(is) == number(limit);
                assert!(is == limit || is_same_number, "{key} of {what}: {is}");
            }
        }
        if let Some(format) = param.get("format") {
            // A path stands for a file or folder, too, which the format of an id would forbid.
            let takes_path = NODES.contains(&own) && property.get("format").is_none();
            assert!(takes_path || property["format"] == *format, "{what}");
        }
        if param.get("exclusiveMinimum") == Some(&json!(0)) {
            let positive = property["minimum"] == 1 || property["exclusiveMinimum"] == json!(0.0);
            assert!(positive, "{what}: {property}");
        }
        if let Some(kind) = param.pointer("/items/type") {
            assert_eq!(property["items"]["type"], *kind, "{what}");
        }
    }
}

#[tokio::test]
async fn schemas_are_flat_and_the_list_is_small() {
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let response = session.request("tools/list", json!({})).await;
    let text = response["result"].to_string();
    assert!(text.len() <= MOST_BYTES, "{} bytes", text.len());
    for word in ["$ref", "$defs", "anyOf", "oneOf", "\"null\""] {
        assert!(!text.contains(word), "{word}");
    }
    let tools = response["result"]["tools"].as_array().unwrap();
    for tool in tools {
        for property in tool["inputSchema"]["properties"]
            .as_object()
            .unwrap()
            .values()
        {
            assert!(property["type"].is_string() || property.get("type").is_none());
            assert!(property.get("properties").is_none());
        }
    }
}

#[tokio::test]
async fn a_choice_leaves_only_what_was_chosen() {
    let world = World::start().await;
    let filter = ToolFilter {
        toolsets: vec!["files".to_owned(), "local".to_owned()],
        read_only: true,
        ..ToolFilter::default()
    };
    let mut session = world
        .session(Setup {
            filter,
            ..Setup::default()
        })
        .await;
    let names: Vec<_> = listed_tools(&mut session)
        .await
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        names,
        [
            "search_files",
            "list_files",
            "get_file_info",
            "compute",
            "generate_cli_command"
        ]
    );
    let params = json!({ "name": "delete_file", "arguments": {} });
    let response = session.request("tools/call", params).await;
    assert_eq!(response["error"]["code"], -32602, "{response}");
}

/// With CAIRN_UPDATE_GENERATED set, the page is written anew.
#[test]
fn the_documentation_is_made_of_the_catalogue() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools.md");
    if std::env::var_os("CAIRN_UPDATE_GENERATED").is_some() {
        std::fs::write(path, cairn_mcp::reference()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == cairn_mcp::reference(),
        "docs/tools.md is not up to date: run this test with CAIRN_UPDATE_GENERATED=1"
    );
}
