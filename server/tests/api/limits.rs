//! The document says everything that is demanded of a request, and nothing else is: each rule is broken
//! once, and once kept as narrowly as it can be.

use super::openapi::fill_path;
use super::world::{Caller, TestResponse};
use axum::http::Method;
use cairn_server::openapi;
use regex::Regex;
use serde_json::{Map, Value, json};

/// Texts that one pattern or another refuses.
const STRANGE: [&str; 10] = [
    "",
    " ",
    "/",
    "..",
    "no/such thing",
    "#12",
    "0.00",
    "0d",
    "a bell \u{7}",
    "a\0b",
];

/// A rule of a field: values that break it, and values that just keep it.
#[derive(Default)]
struct Cases {
    broken: Vec<Value>,
    kept: Vec<Value>,
}

/// A text of so many characters that fits a pattern.
fn of_length(length: usize, rules: &Map<String, Value>) -> Option<String> {
    let pattern = rules.get("pattern").and_then(Value::as_str).unwrap_or("");
    let fits = Regex::new(pattern).unwrap();
    let is_address = rules.get("format") == Some(&json!("uri"));
    let forms: &[(&str, &str)] = if is_address {
        &[("https://example.com/", "")]
    } else {
        &[("", ""), ("", "@b.c"), ("https://", "")]
    };
    forms
        .iter()
        .filter_map(|(before, after)| {
            let room = length.checked_sub(before.len() + after.len())?;
            Some(format!("{before}{}{after}", "A".repeat(room)))
        })
        .find(|text| fits.is_match(text))
}

fn of_text(rules: &Map<String, Value>, example: &Value, cases: &mut Cases) {
    let bound = |key: &str| {
        rules
            .get(key)
            .and_then(Value::as_u64)
            .map(|n| usize::try_from(n).unwrap())
    };
    // Base64 has lengths of four.
    let step = if rules.get("format") == Some(&json!("byte")) {
        4
    } else {
        1
    };
    if let Some(most) = bound("maxLength") {
        cases.kept.extend(of_length(most, rules).map(Value::from));
        cases.broken.push(json!("A".repeat(most + step)));
    }
    if let Some(least) = bound("minLength") {
        cases.kept.extend(of_length(least, rules).map(Value::from));
        if least > 0 {
            let less = "A".repeat(least.saturating_sub(step));
            cases.broken.push(json!(less));
        }
    }
    if let Some(pattern) = rules.get("pattern").and_then(Value::as_str) {
        let fits = Regex::new(pattern).unwrap();
        let strange = STRANGE.iter().find(|text| !fits.is_match(text));
        cases
            .broken
            .push(json!(strange.expect("a text that breaks the pattern")));
        cases.kept.push(example.clone());
    }
}

fn of_number(rules: &Map<String, Value>, cases: &mut Cases) {
    if let Some(least) = rules.get("minimum").and_then(Value::as_i64) {
        cases.kept.push(json!(least));
        cases.broken.push(json!(least - 1));
    }
    if let Some(least) = rules.get("exclusiveMinimum").and_then(Value::as_i64) {
        cases
            .kept
            .push(json!(f64::from(i32::try_from(least).unwrap()) + 0.01));
        cases.broken.push(json!(least));
    }
    if let Some(most) = rules.get("maximum").and_then(Value::as_u64) {
        cases.kept.push(json!(most));
        cases.broken.push(json!(most + 1));
    }
}

fn of_list(rules: &Map<String, Value>, example: &Value, cases: &mut Cases) {
    let many = |count: u64| json!(vec![example[0].clone(); usize::try_from(count).unwrap()]);
    if let Some(least) = rules.get("minItems").and_then(Value::as_u64) {
        cases.kept.push(many(least));
        if least > 0 {
            cases.broken.push(many(least - 1));
        }
    }
    if let Some(most) = rules.get("maxItems").and_then(Value::as_u64) {
        cases.kept.push(many(most));
        cases.broken.push(many(most + 1));
    }
}

fn of_choice(rules: &Map<String, Value>, cases: &mut Cases) {
    if let Some(only) = rules.get("const") {
        cases.kept.push(only.clone());
        let other = only.as_bool().map(|only| json!(!only));
        cases
            .broken
            .push(other.unwrap_or_else(|| json!("nonsense")));
    } else if let Some(choices) = rules.get("enum").and_then(Value::as_array) {
        cases.kept.extend(choices.iter().cloned());
        cases.broken.push(json!("nonsense"));
    }
}

fn of_map(rules: &Map<String, Value>, cases: &mut Cases) {
    let many = |count: u64| -> Value { (0..count).map(|n| (n.to_string(), json!("x"))).collect() };
    if let Some(most) = rules.get("maxProperties").and_then(Value::as_u64) {
        cases.kept.push(many(most));
        cases.broken.push(many(most + 1));
    }
}

/// The rules of a field itself; those behind a reference are added.
fn rules_of(document: &Value, schema: &Value) -> Map<String, Value> {
    let mut rules = Map::new();
    // One of nothing and something; of several kinds each has rules of its own.
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    let mut choices = choices.filter(|one| one["type"] != "null");
    if let (Some(only), None) = (choices.next(), choices.next()) {
        rules.extend(rules_of(document, only));
    }
    if let Some(target) = schema["$ref"].as_str() {
        rules.extend(rules_of(document, document.pointer(&target[1..]).unwrap()));
    }
    rules.extend(schema.as_object().cloned().unwrap_or_default());
    rules
}

fn cases(rules: &Map<String, Value>, example: &Value) -> Cases {
    let mut cases = Cases::default();
    of_choice(rules, &mut cases);
    if !cases.kept.is_empty() {
        return cases;
    }
    let of = &rules.get("type").cloned().unwrap_or_default();
    let is = |kind: &str| of == kind || of.as_array().is_some_and(|all| all.contains(&json!(kind)));
    if is("string") {
        of_text(rules, example, &mut cases);
    }
    if is("integer") || is("number") {
        of_number(rules, &mut cases);
    }
    if is("object") {
        of_map(rules, &mut cases);
    }
    if is("array") {
        of_list(rules, example, &mut cases);
    }
    cases
}

/// Every field of a body that has a rule, as a pointer into the example, with values for it.
fn fields(
    document: &Value,
    schema: &Value,
    example: &Value,
    at: &str,
    out: &mut Vec<(String, Cases)>,
) {
    let rules = rules_of(document, schema);
    let its = cases(&rules, example);
    if !its.broken.is_empty() {
        out.push((at.to_owned(), its));
    }
    let properties = rules.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        if let Some(example) = example.get(name) {
            fields(document, schema, example, &format!("{at}/{name}"), out);
        }
    }
    if let (Some(items), Some(example)) = (rules.get("items"), example.get(0)) {
        fields(document, items, example, &format!("{at}/0"), out);
    }
}

/// The name of the field that a pointer leads to.
fn field(pointer: &str) -> &str {
    let mut parts = pointer
        .rsplit('/')
        .filter(|part| part.parse::<u32>().is_err());
    parts.next().unwrap_or_default()
}

fn message(response: &TestResponse) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

/// Returns true if a response refuses this very field.
fn refuses(response: &TestResponse, name: &str) -> bool {
    let text = message(response);
    response.status == 400
        && (text.contains(&format!("`{name}")) || text.contains(&format!(".{name}`")))
}

/// Tries every rule of a body; returns how many fields have one, and where document and server differ.
async fn check_body(
    owner: &Caller,
    document: &Value,
    method: &Method,
    path: &str,
    content: &Value,
) -> (usize, Vec<String>) {
    let mut differences = Vec::new();
    let example = &content["example"];
    let mut found = Vec::new();
    fields(document, &content["schema"], example, "", &mut found);
    let send = async |pointer: &str, value: &Value| {
        let mut body = example.clone();
        *body.pointer_mut(pointer).unwrap() = value.clone();
        let headers = [("content-type", "application/json")];
        owner
            .send(method.clone(), path, &headers, body.to_string())
            .await
    };
    for (pointer, cases) in &found {
        let name = field(pointer);
        for value in &cases.broken {
            let response = send(pointer, value).await;
            if !refuses(&response, name) {
                let text = shorten(value);
                let reply = message(&response);
                differences.push(format!("{method} {path} takes {pointer} = {text}: {reply}"));
            }
        }
        for value in &cases.kept {
            let response = send(pointer, value).await;
            if refuses(&response, name) {
                let text = shorten(value);
                let reply = message(&response);
                differences.push(format!(
                    "{method} {path} refuses {pointer} = {text}: {reply}"
                ));
            }
        }
    }
    (found.len(), differences)
}

fn shorten(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}

#[tokio::test]
async fn each_rule_of_a_body_is_the_one_in_the_document() {
    let world = super::admin::world();
    let owner = world.owner();
    let document = openapi::document();
    let mut count = 0;
    let mut differences = Vec::new();
    for (template, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let content = &operation["requestBody"]["content"]["application/json"];
            if content.is_object() && template.starts_with("/api/") {
                let method = method.to_uppercase().parse().unwrap();
                let path = fill_path(template);
                let (fields, found) = check_body(&owner, document, &method, &path, content).await;
                count += fields;
                differences.extend(found);
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(count > 70, "{count} fields have rules");
}

#[tokio::test]
async fn each_rule_of_a_query_is_the_one_in_the_document() {
    let world = super::admin::world();
    let owner = world.owner();
    let document = openapi::document();
    let mut count = 0;
    for (template, item) in document["paths"].as_object().unwrap() {
        let parameters = item["get"]["parameters"].as_array();
        for parameter in parameters.into_iter().flatten() {
            // Headers are described in one place, and named here.
            if parameter.get("$ref").is_some() {
                continue;
            }
            let name = parameter["name"].as_str().unwrap();
            let its = cases(&rules_of(document, &parameter["schema"]), &json!("text"));
            // A search wants its text, whatever else is asked.
            let more = match name {
                "query" => "",
                // A position is the server's own: any other text is refused, however long it is.
                "after" | "cursor" => continue,
                "mode" if template.contains("search") => "&query=text",
                _ if template.contains("search") => "&query=text&mode=filtered",
                _ => "",
            };
            let ask = async |value: &Value| {
                let text = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                owner
                    .get(&format!("{}?{name}={text}{more}", fill_path(template)))
                    .await
            };
            count += usize::from(!its.broken.is_empty());
            for value in its.broken.iter().filter(|_| parameter["in"] == "query") {
                let response = ask(value).await;
                assert!(
                    refuses(&response, name),
                    "{template}?{name}={value}: {}",
                    message(&response)
                );
            }
            for value in its.kept.iter().filter(|_| parameter["in"] == "query") {
                let response = ask(value).await;
                assert!(
                    !refuses(&response, name),
                    "{template}?{name}={value}: {}",
                    message(&response)
                );
            }
        }
    }
    assert!(count > 30, "{count} parameters have rules");
}
