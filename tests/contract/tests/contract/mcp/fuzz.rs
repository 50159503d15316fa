//! Seeded nonsense for every tool: whatever comes, the response is a result of the one shape or the other,
//! and the session goes on. A failing seed is printed and repeats with `CAIRN_MCP_SEED`.

use crate::mcp::catalogue::NODES;
use crate::mcp::session::{failure, text};
use crate::mcp::world::{Setup, World};
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

const ROUNDS: usize = 12;

fn seed() -> u64 {
    std::env::var("CAIRN_MCP_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(rand::random)
}

/// Any JSON at all.
fn nonsense(rng: &mut ChaCha8Rng, depth: u32) -> Value {
    const TEXTS: &[&str] = &[
        "",
        " ",
        "a",
        "../../etc/passwd",
        "\u{0}",
        "\u{202e}x",
        "00000000-0000-4000-8000-000000000000",
        "https://example.com/",
        "1.00",
        "2026-01-01",
        "%2e%2e%2f",
        "💥",
        "a/b/c",
        "' OR 1=1 --",
        "/nowhere/x",
    ];
    match rng.random_range(0..10) {
        0 => Value::Null,
        1 => json!(rng.random::<bool>()),
        2 => json!(rng.random::<i64>()),
        3 => json!(rng.random_range(-2..30)),
        4 => json!(rng.random::<f64>() * 1e20),
        5 if depth > 0 => {
            let items = rng.random_range(0..4);
            (0..items).map(|_| nonsense(rng, depth - 1)).collect()
        }
        6 if depth > 0 => {
            let fields = rng.random_range(0..4);
            let fields = (0..fields).map(|n| (format!("k{n}"), nonsense(rng, depth - 1)));
            Value::Object(fields.collect())
        }
        7 => json!("x".repeat(rng.random_range(0..6000))),
        _ => json!(TEXTS.choose(rng).unwrap()),
    }
}

fn random_id(rng: &mut ChaCha8Rng) -> Value {
    let mut bytes = [0; 16];
    rng.fill_bytes(&mut bytes);
    let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
    json!(id.to_string())
}

/// Something near what the schema wants, or not.
fn value(rng: &mut ChaCha8Rng, schema: &Value) -> Value {
    if rng.random_ratio(1, 4) {
        return nonsense(rng, 3);
    }
    if let Some(choices) = schema["enum"].as_array() {
        return choices.choose(rng).cloned().unwrap_or_default();
    }
    match schema["type"].as_str() {
        Some("string") if schema["format"] == "uuid" => random_id(rng),
        Some("string") if schema["format"] == "email" => json!("somebody@example.com"),
        Some("string") if schema["format"] == "uri" => json!("https://example.com/hook"),
        Some("string") => json!("abcdef"),
        Some("integer" | "number") => json!(rng.random_range(0..120)),
        Some("boolean") => json!(rng.random::<bool>()),
        Some("array") => {
            let items = rng.random_range(0..25);
            (0..items).map(|_| value(rng, &schema["items"])).collect()
        }
        Some("object") => json!({ "a": "b", "c": 1 }),
        _ => nonsense(rng, 3),
    }
}

fn arguments(rng: &mut ChaCha8Rng, schema: &Value) -> Value {
    if rng.random_ratio(1, 20) {
        return nonsense(rng, 3);
    }
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut arguments = Map::new();
    for (name, property) in properties {
        let likely = if required.contains(&json!(name)) {
            19
        } else {
            8
        };
        if rng.random_ratio(likely, 20) {
            let value = if NODES.contains(&name.as_str()) && rng.random() {
                random_id(rng)
            } else {
                value(rng, property)
            };
            arguments.insert(name.clone(), value);
        }
    }
    if rng.random_ratio(1, 15) {
        arguments.insert("unknown".to_owned(), nonsense(rng, 2));
    }
    Value::Object(arguments)
}

#[tokio::test]
async fn no_arguments_bring_a_tool_out_of_its_shape() {
    let seed = seed();
    println!("CAIRN_MCP_SEED={seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let world = World::start().await;
    let mut session = world.session(Setup::default()).await;
    let list = session.request("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap().clone();
    for _ in 0..ROUNDS {
        for tool in &tools {
            let name = tool["name"].as_str().unwrap();
            let arguments = arguments(&mut rng, &tool["inputSchema"]);
            let result = session.call(name, arguments.clone()).await;
            match failure(&result) {
                Some(message) => {
                    assert!(!message.is_empty(), "{name} with {arguments}");
                    assert!(
                        !message.contains("internal error"),
                        "{name} with {arguments}"
                    );
                }
                None => {
                    let reply = text(&result);
                    assert!(reply.is_object(), "{name} with {arguments}: {reply}");
                }
            }
        }
    }
    session.end().await;
}
