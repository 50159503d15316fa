//! Results and errors as a client gets them: one text element, cut where it is too long.

use crate::error::ToolError;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// Longer texts would fill an assistant's memory with one answer; bytes.
const MAX_TEXT: usize = 100_000;

/// Fields that only clients with the keys can use.
const SEALED_FIELDS: [&str; 5] = ["content_key", "seal", "content_source", "key_blob", "kdf"];

/// Returns the result of a successful call. A file's content is whole and not repeated.
pub(crate) fn success(tool: &str, mut value: Value) -> CallToolResult {
    if tool == "read_file_content" {
        return CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
    }
    crate::clean::value(&mut value);
    remove_sealed_fields(&mut value);
    let mut text = value.to_string();
    if text.len() > MAX_TEXT {
        value = shortened(value, text.len());
        text = value.to_string();
    }
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(value);
    result
}

/// Returns the result of a failed call.
pub(crate) fn error(error: &ToolError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error.json().to_string())])
}

/// Removes fields that are of no use to an assistant.
pub(crate) fn remove_sealed_fields(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_sealed_fields),
        Value::Object(fields) => {
            fields.retain(|name, _| !SEALED_FIELDS.contains(&name.as_str()));
            fields.values_mut().for_each(remove_sealed_fields);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the value with its longest list cut to fit, and a hint how to get the rest.
fn shortened(mut value: Value, length: usize) -> Value {
    const HINT: &str = "the result was too long: use a smaller page_size, ask for the next page, or narrow the search";
    let longest = value.as_object().and_then(|fields| {
        fields
            .iter()
            .filter(|(_, value)| value.is_array())
            .max_by_key(|(_, value)| value.to_string().len())
            .map(|(name, _)| name.clone())
    });
    if let (Some(name), Some(fields)) = (longest, value.as_object_mut())
        && let Some(Value::Array(items)) = fields.get_mut(&name)
    {
        let all = items.len();
        let mut room = MAX_TEXT.saturating_sub(length.saturating_sub(size_of_list(items)) + 400);
        let fitting = items
            .iter()
            .take_while(|item| {
                let size = item.to_string().len() + 1;
                let fits = size <= room;
                room = room.saturating_sub(size);
                fits
            })
            .count();
        items.truncate(fitting);
        let cut = json!({ "field": name, "shown": fitting, "of": all, "hint": HINT });
        fields.insert("truncated".to_owned(), cut);
        if value.to_string().len() <= MAX_TEXT {
            return value;
        }
    }
    let text = value.to_string();
    let mut end = MAX_TEXT / 2;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    json!({ "truncated": { "hint": HINT, "of_bytes": length }, "begin": &text[..end] })
}

fn size_of_list(items: &[Value]) -> usize {
    items.iter().map(|item| item.to_string().len() + 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(result: &CallToolResult) -> String {
        serde_json::to_value(result).unwrap()["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn long_lists_are_cut_and_say_so() {
        let items: Vec<_> = (0..5000)
            .map(|n| json!({ "id": n, "name": "x".repeat(90) }))
            .collect();
        let result = success("list_files", json!({ "content": items, "page": 1 }));
        let text = text(&result);
        assert!(
            text.len() <= MAX_TEXT && text.len() > MAX_TEXT / 2,
            "{}",
            text.len()
        );
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["truncated"]["of"], 5000);
        assert!(
            value["truncated"]["hint"]
                .as_str()
                .unwrap()
                .contains("page_size")
        );
        let one = success("get_file_info", json!({ "a": "\"".repeat(300_000) }));
        assert!(self::text(&one).len() <= 2 * MAX_TEXT);
    }

    #[test]
    fn sealed_fields_are_left_out_everywhere() {
        let node = json!({ "id": 1, "seal": "x", "content_key": "y" });
        let result = success("list_files", json!({ "content": [node] }));
        assert_eq!(
            text(&result),
            json!({ "content": [{ "id": 1 }] }).to_string()
        );
    }

    #[test]
    fn a_failure_is_one_text_with_one_field() {
        let result = serde_json::to_value(error(&ToolError::NoPassphrase)).unwrap();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"].as_array().unwrap().len(), 1);
        let text = result["content"][0]["text"].as_str().unwrap();
        let error: Value = serde_json::from_str(text).unwrap();
        assert_eq!(error.as_object().unwrap().len(), 1);
        assert!(
            error["error"]
                .as_str()
                .unwrap()
                .contains("SERVICE_PASSPHRASE is not set")
        );
    }
}
