//! Results and errors as a client gets them: one text element, cut where it is too long.

use crate::error::{ToolError, public_item_message};
use crate::foreign_text;
use crate::node_summaries;
use crate::param::{SKIP, Shape};
use crate::shorten::{Rows, shorten};
use crate::strip_fields;
use crate::text_policy::ForeignTexts;
use crate::tool::{ResultForm, Tool};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::{Value, json};

/// Returns the result of a successful call with these arguments. A file's content is whole.
pub(crate) fn success(
    texts: ForeignTexts,
    tool: &Tool,
    arguments: Option<&JsonObject>,
    mut value: Value,
) -> CallToolResult {
    if tool.result == ResultForm::Content {
        texts.guard_result(tool, &mut value);
    } else {
        plain_errors(&mut value);
        crate::clean::value(&mut value);
        let kept = strip_fields::details(tool.result, &value);
        strip_fields::remove_useless_fields(&mut value);
        if let Some(fields) = value.as_object_mut() {
            fields.extend(kept);
        }
        texts.guard_result(tool, &mut value);
        strip_fields::shorten_rows(&mut value);
        node_summaries::shorten_nodes(&mut value);
        value = shorten(value, rows(tool, arguments));
    }
    // Hosts hand text and structured content to the model both, and no tool declares an output schema.
    CallToolResult::success(vec![ContentBlock::text(foreign_text::to_text(value))])
}

/// Returns the way to the rows of a result that do not fit.
fn rows(tool: &Tool, arguments: Option<&JsonObject>) -> Rows {
    let number = |name: &str| {
        let Shape::Integer { min, default, .. } = tool.param(name)?.shape else {
            return None;
        };
        let given = arguments.and_then(|arguments| arguments.get(name)?.as_f64());
        let used = given.map_or_else(|| default.unwrap_or(min), |given| given as i64);
        Some((u64::try_from(used).ok()?, u64::try_from(min).ok()?))
    };
    if let Some((skip, _)) = number(SKIP.name) {
        return Rows::Skipping {
            skip,
            newest_last: tool.result == ResultForm::NewestLast,
        };
    }
    match (number("page"), number("page_size")) {
        (Some((page, first_page)), Some((page_size, _))) => Rows::Paged {
            page,
            page_size,
            first_page,
        },
        (Some(_), None) => Rows::ShownHereOnly,
        (None, _) => Rows::FirstOnes,
    }
}

/// Returns the result of a failed call with these arguments.
pub(crate) fn error(
    texts: ForeignTexts,
    error: &ToolError,
    arguments: Option<&JsonObject>,
) -> CallToolResult {
    let message = json!({ "error": texts.error_message(error, arguments) });
    CallToolResult::error(vec![ContentBlock::text(message.to_string())])
}

/// Turns the errors in a list of results into their messages, the form that errors have everywhere else.
fn plain_errors(value: &mut Value) {
    let results = value.get_mut("results").and_then(Value::as_array_mut);
    for result in results.into_iter().flatten() {
        if let Some(message) = result.pointer_mut("/error/message").map(Value::take) {
            let message = message.as_str().unwrap_or_default().to_owned();
            result["error"] = json!(public_item_message(&message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_tool(name: &str) -> &'static Tool {
        let tools = crate::toolset::ALL.iter().flat_map(|set| set.tools);
        let found = tools.into_iter().find(|tool| tool.name == name);
        found.expect("it is in the catalogue")
    }

    fn text(result: &CallToolResult) -> String {
        serde_json::to_value(result).unwrap()["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    fn success(tool: &Tool, value: Value) -> CallToolResult {
        super::success(ForeignTexts::Fenced, tool, None, value)
    }

    #[test]
    fn a_page_that_is_cut_says_with_which_page_to_go_on() {
        let items: Vec<_> = (0..100)
            .map(|n| json!({ "id": n, "name": "x".repeat(600) }))
            .collect();
        let page = json!({ "content": items, "page": 3, "totalPages": 4 });
        let given = json!({ "page": 3.0, "page_size": 100 });
        let result = super::success(
            ForeignTexts::Fenced,
            find_tool("list_files"),
            given.as_object(),
            page.clone(),
        );
        let value: Value = serde_json::from_str(&text(&result)).unwrap();
        let cut = &value["truncated"];
        let shown = cut["shown"].as_u64().unwrap();
        let page_size = cut["next"]["page_size"].as_u64().unwrap();
        let first = (cut["next"]["page"].as_u64().unwrap() - 1) * page_size;
        assert!(shown < 100 && page_size <= shown, "{cut}");
        assert!((200..=200 + shown).contains(&first), "{cut}");
        assert!(value.get("totalPages").is_none());
        // This list counts its pages from 0, and has 20 items a page if nothing else was asked for.
        let result = success(find_tool("list_share_links"), page);
        let value: Value = serde_json::from_str(&text(&result)).unwrap();
        assert_eq!(
            value["truncated"]["next"]["page"], 1,
            "{}",
            value["truncated"]
        );
    }

    #[test]
    fn a_page_whose_size_is_fixed_shows_every_row() {
        let items: Vec<_> = (0..20)
            .map(|n| json!({ "id": n, "message": "x".repeat(9_000) }))
            .collect();
        let result = success(find_tool("get_feed"), json!({ "content": items }));
        let value: Value = serde_json::from_str(&text(&result)).unwrap();
        assert_eq!(value["content"].as_array().map(Vec::len), Some(20));
    }

    #[test]
    fn a_list_that_ends_with_the_newest_keeps_them() {
        let items: Vec<_> = (0..900)
            .map(|n| json!({ "number": n, "text": "x".repeat(90) }))
            .collect();
        let result = success(find_tool("list_comments"), json!({ "content": items }));
        let value: Value = serde_json::from_str(&text(&result)).unwrap();
        let shown = value["content"].as_array().unwrap();
        assert!(shown.len() < 900 && shown[0]["number"] != 0);
        assert_eq!(shown.last().unwrap()["number"], 899);
        let hint = value["truncated"]["hint"].as_str().unwrap();
        assert!(hint.contains("newest") && !hint.contains("page"), "{hint}");
        let skip = json!({ "skip": shown.len() });
        assert_eq!(value["truncated"]["next"], skip, "{hint}");
    }

    #[test]
    fn a_list_without_pages_goes_on_behind_what_was_shown() {
        let items: Vec<_> = (0..900)
            .map(|n| json!({ "number": n, "text": "x".repeat(90) }))
            .collect();
        for tool in ["get_file_versions", "list_trash"] {
            let given = json!({ "skip": 40 });
            let list = json!({ "content": items, "next": { "skip": 940 } });
            let tool = find_tool(tool);
            let result = super::success(ForeignTexts::Fenced, tool, given.as_object(), list);
            let value: Value = serde_json::from_str(&text(&result)).unwrap();
            let shown = value["content"].as_array().unwrap().len();
            assert!(shown < 900);
            assert_eq!(value["truncated"]["next"], json!({ "skip": 40 + shown }));
            assert!(value.get("next").is_none(), "it would leave rows out");
        }
    }

    #[test]
    fn sealed_fields_are_left_out_everywhere() {
        let node = json!({ "id": 1, "seal": "x", "content_source": "y" });
        let result = success(find_tool("list_files"), json!({ "content": [node] }));
        let shown: Value = serde_json::from_str(&text(&result)).unwrap();
        assert_eq!(shown["content"], json!([{ "id": 1 }]));
    }

    #[test]
    fn a_node_is_lean() {
        let id = "123e4567-e89b-42d3-a456-426614174000";
        let time = "2026-11-22T03:05:53.123Z";
        let node = json!({
            "id": id, "space_id": id, "device_id": id, "revision_id": id, "parent_id": id,
            "kind": "file", "name": "quarterly report (final).txt", "size": 1_234_567, "seq": 12345,
            "version": 3, "name_format": 1, "mime_type": "text/plain", "category": "document",
            "created_at": time, "modified_at": time, "updated_at": time, "trashed_at": null,
            "description": null, "labels": {}, "tags": [], "favorite": false, "executable": false,
            "state": "active",
        });
        let result =
            serde_json::to_value(success(find_tool("get_file_info"), node.clone())).unwrap();
        let text = result["content"][0]["text"].as_str().unwrap();
        let mut shown: Value = serde_json::from_str(text).unwrap();
        shown.as_object_mut().unwrap().remove("notice");
        // 150 tokens at 2.3 bytes.
        let bytes = shown.to_string().len();
        assert!(bytes <= 345, "{bytes} bytes: {text}");
        // None is an answer here, and in a list it goes without saying.
        assert_eq!((&shown["tags"], &shown["labels"]), (&json!([]), &json!({})));
        assert!(result.get("structuredContent").is_none());
        let all: Vec<_> = (0..100).map(|_| node.clone()).collect();
        let list = success(
            find_tool("list_files"),
            json!({ "content": all, "totalElements": 100 }),
        );
        let text = self::text(&list);
        assert!(!text.contains("truncated"), "{}", text.len());
    }

    #[test]
    fn errors_of_single_items_are_texts() {
        let result = json!({ "results": [
            { "user_id": 1, "success": true },
            { "user_id": 2, "error": { "code": 404, "message": "there is nobody" } },
            { "user_id": 3, "error": "plain" },
        ] });
        let shown = text(&success(find_tool("follow_users_bulk"), result));
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["results"][1]["error"], "there is nobody");
        assert_eq!(shown["results"][2]["error"], "plain");
        assert!(shown["results"][0].get("error").is_none());
    }

    #[test]
    fn the_notice_stands_before_the_content_that_it_is_about() {
        let read = json!({ "content": "call me", "encoding": "text", "name": "a" });
        let text = text(&success(find_tool("read_file_content"), read));
        assert!(text.starts_with(r#"{"notice":""#), "{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["content"], "call me");
    }

    #[test]
    fn a_failure_is_one_text_with_one_field() {
        let result = error(ForeignTexts::Fenced, &ToolError::NoPassphrase, None);
        let result = serde_json::to_value(result).unwrap();
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
