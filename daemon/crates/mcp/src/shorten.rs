//! Shortens results that are too long: long texts and inner lists in them are cut first, then the list of rows;
//! the result names the call that continues where it was cut.

use crate::token_weight::{TOKEN, Weigher, weigh as length};
use serde_json::{Value, json};

/// The greatest weight of a result: hosts cut or refuse more than 25,000 tokens.
const MAX_TEXT: usize = 20_000 * TOKEN;
/// The room for the note about what was cut.
const NOTE: usize = 300 * TOKEN;
/// The longest row of a list that is cut: a few of them fit.
const MAX_ROW: usize = MAX_TEXT / 8;
/// The room that a value keeps however little there is: an id fits.
const MIN_VALUE: usize = 40 * TOKEN;
/// The weight of the comma after a row.
const COMMA: usize = TOKEN / 2;

const TEXTS_CUT: &str = "the result was too long: long texts and lists in it are cut";

/// The way to the rows that do not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rows {
    /// Another call, with another page of another size.
    Paged {
        /// The number of the page that was asked for.
        page: u64,
        page_size: u64,
        /// The number of the first page.
        first_page: u64,
    },
    /// Another call, which leaves out those that were shown.
    Skipping {
        /// The number of rows that this call has left out.
        skip: u64,
        /// True if the last rows matter most, and are shown first.
        newest_last: bool,
    },
    /// No other call shows them: the rows are made short before any is left out.
    ShownHereOnly,
    /// No way, and the first rows matter most.
    FirstOnes,
}

/// Returns a result that is not too long.
pub(crate) fn shorten(mut value: Value, rows: Rows) -> Value {
    if length(&value) <= MAX_TEXT {
        return value;
    }
    let bytes = value.to_string().len();
    if let Some(name) = longest_list(&value) {
        cut_list(&mut value, &name, rows);
    } else {
        cut_texts(&mut value, MAX_TEXT - NOTE, false);
        note(&mut value, json!({ "hint": TEXTS_CUT, "of_bytes": bytes }));
    }
    if length(&value) <= MAX_TEXT {
        return value;
    }
    let text = value.to_string();
    let begin = cut_text(&text, MAX_TEXT / 2);
    json!({ "truncated": { "hint": TEXTS_CUT, "of_bytes": bytes }, "begin": begin })
}

/// Returns the name of the longest list, if it is most of the value.
fn longest_list(value: &Value) -> Option<String> {
    let lists = value.as_object()?.iter().filter(|(_, list)| {
        let rows = list.as_array();
        rows.is_some_and(|rows| !rows.is_empty())
    });
    let (name, list) = lists.max_by_key(|(_, list)| length(list))?;
    (length(list) > MAX_TEXT / 2).then(|| name.clone())
}

/// Cuts the list with this name, and everything beside it, to fit.
fn cut_list(value: &mut Value, name: &str, rows: Rows) {
    let Some(Value::Array(mut items)) = value.get_mut(name).map(Value::take) else {
        return;
    };
    cut_texts(value, MAX_TEXT / 4, false);
    let room = (MAX_TEXT - NOTE).saturating_sub(length(value));
    let all = items.len();
    let limit = match rows {
        Rows::ShownHereOnly => (room / all).saturating_sub(COMMA),
        Rows::Paged { .. } | Rows::Skipping { .. } | Rows::FirstOnes => MAX_ROW,
    };
    let mut texts_cut = false;
    let newest_last = match rows {
        Rows::Skipping { newest_last, .. } => newest_last,
        Rows::Paged { .. } | Rows::ShownHereOnly | Rows::FirstOnes => false,
    };
    for item in &mut items {
        texts_cut |= cut_texts(item, limit, newest_last);
    }
    let shown = if newest_last {
        let fitting = count_fitting(items.iter().rev(), room);
        items.drain(..all - fitting);
        fitting
    } else {
        let fitting = count_fitting(items.iter(), room);
        items.truncate(fitting);
        fitting
    };
    value[name] = Value::Array(items);
    let mut cut = json!({ "field": name, "shown": shown, "of": all });
    if texts_cut {
        cut["texts"] = json!("long texts and lists in it are cut");
    }
    if shown < all {
        explain_left_out(value, &mut cut, rows, shown as u64);
    } else {
        cut["hint"] = json!(TEXTS_CUT);
    }
    note(value, cut);
}

/// Says in the note about the cut how to get the rows after those that are shown.
fn explain_left_out(value: &mut Value, cut: &mut Value, rows: Rows, shown: u64) {
    let hint = match rows {
        Rows::Paged {
            page,
            page_size,
            first_page,
        } => {
            let before = page.saturating_sub(first_page).saturating_mul(page_size);
            let (next, size) = next_page(before.saturating_add(shown), shown);
            let next = next.saturating_add(first_page);
            cut["next"] = json!({ "page": next, "page_size": size });
            // It counts pages of the size that did not fit.
            if let Some(fields) = value.as_object_mut() {
                fields.remove("totalPages");
            }
            format!(
                "the result was too long: only {shown} rows are shown; go on with page {next} and page_size {size}, then the pages after it"
            )
        }
        Rows::Skipping { skip, newest_last } => {
            let next = skip.saturating_add(shown);
            cut["next"] = json!({ "skip": next });
            // It leads to what comes after the rows that did not fit.
            if let Some(fields) = value.as_object_mut() {
                fields.remove("next");
            }
            let which = if newest_last { "newest" } else { "first" };
            format!(
                "the result was too long: only the {which} {shown} are shown; go on with skip {next}"
            )
        }
        Rows::FirstOnes | Rows::ShownHereOnly => {
            "the result was too long: only the first are shown".to_owned()
        }
    };
    cut["hint"] = json!(hint);
}

/// Returns the page, from 0, and its size that go on with the row of this number, from 0, after `shown` rows
/// did fit. The page may begin with rows that were shown, and never after the row; each time that it is too
/// long again, its size is less, so that all rows are reached.
fn next_page(row: u64, shown: u64) -> (u64, u64) {
    let sizes = (shown / 2 + 1)..=shown.max(1);
    let size = sizes.rev().min_by_key(|size| row % size).unwrap_or(1);
    (row / size, size)
}

/// Returns how many rows fit, at least one.
fn count_fitting<'a>(rows: impl Iterator<Item = &'a Value>, room: usize) -> usize {
    let mut used = 0;
    let fitting = rows.take_while(|row| {
        used += length(row) + COMMA;
        used <= room
    });
    fitting.count().max(1)
}

fn note(value: &mut Value, cut: Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.insert("truncated".to_owned(), cut);
    }
}

/// Cuts the longest texts and lists in a value until its JSON has this length, as far as that is possible.
/// True if anything was cut.
fn cut_texts(value: &mut Value, room: usize, newest_last: bool) -> bool {
    let length = length(value);
    if length <= room {
        return false;
    }
    match value {
        Value::String(text) if length > MIN_VALUE => {
            let kept = cut_text(text, room);
            *text = format!("{kept}… (cut: {} characters in all)", text.chars().count());
            true
        }
        Value::Array(items) => {
            for item in items.iter_mut() {
                cut_texts(item, room / 2, newest_last);
            }
            let all = items.len();
            if newest_last {
                let fitting = count_fitting(items.iter().rev(), room).min(all);
                items.drain(..all - fitting);
            } else {
                items.truncate(count_fitting(items.iter(), room));
            }
            true
        }
        Value::Object(fields) => {
            let sizes: Vec<_> = fields.values().map(self::length).collect();
            let names = length - sizes.iter().sum::<usize>();
            let limit = fair_share(sizes, room.saturating_sub(names)).max(MIN_VALUE);
            let mut omitted = Vec::new();
            let mut was_cut = false;
            for (name, field) in fields.iter_mut() {
                let before = field.as_array().map(Vec::len);
                was_cut |= cut_texts(field, limit, newest_last);
                let left_out = before.zip(field.as_array().map(Vec::len));
                if let Some((before, after)) = left_out.filter(|(before, after)| after < before) {
                    omitted.push((format!("{name}_left_out"), json!(before - after)));
                }
            }
            fields.extend(omitted);
            was_cut
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns the limit under which values of these lengths fit into the room together.
fn fair_share(mut lengths: Vec<usize>, room: usize) -> usize {
    lengths.sort_unstable();
    let (mut room, mut left) = (room, lengths.len());
    for length in lengths {
        if length > room / left {
            return room / left;
        }
        room -= length;
        left -= 1;
    }
    usize::MAX
}

/// Returns the begin of a text that, with the remark about the cut, has at most this length in JSON.
fn cut_text(text: &str, room: usize) -> &str {
    /// The remark with a large number.
    const REMARK: usize = 30 * TOKEN;
    let mut used = REMARK;
    let mut weigher = Weigher::default();
    for (at, c) in text.char_indices() {
        used += weigher.next(c);
        if used > room {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Rows = Rows::Paged {
        page: 1,
        page_size: 100,
        first_page: 1,
    };

    const NEWEST: Rows = Rows::Skipping {
        skip: 0,
        newest_last: true,
    };

    fn shown(value: &Value) -> Vec<u64> {
        let rows = value["content"].as_array().unwrap();
        rows.iter().map(|row| row["n"].as_u64().unwrap()).collect()
    }

    /// Reads all pages of rows as the notes say, and returns the numbers of those that were shown.
    fn read_all(rows: &[Value], first_page: u64) -> Vec<u64> {
        let (mut page, mut page_size) = (first_page, 100);
        let mut seen = Vec::new();
        loop {
            let from = ((page - first_page) * page_size) as usize;
            if from >= rows.len() {
                break;
            }
            let to = rows.len().min(from + page_size as usize);
            let whole = json!({ "content": rows[from..to], "totalPages": 9 });
            let way = Rows::Paged {
                page,
                page_size,
                first_page,
            };
            let result = shorten(whole, way);
            assert!(length(&result) <= MAX_TEXT);
            seen.extend(shown(&result));
            match result["truncated"].get("next") {
                Some(next) => {
                    assert!(result.get("totalPages").is_none());
                    page = next["page"].as_u64().unwrap();
                    page_size = next["page_size"].as_u64().unwrap();
                }
                None => page += 1,
            }
            assert!(seen.len() < 10 * rows.len(), "it goes on and on");
        }
        seen.sort_unstable();
        seen.dedup();
        seen
    }

    #[test]
    fn the_advice_leads_to_every_row() {
        let even = |n: u64| if n == 77 { 30_000 } else { 500 };
        let growing = |n: u64| (n * 37 % 130 * 60) as usize;
        let rows = |size: &dyn Fn(u64) -> usize| -> Vec<Value> {
            let row = |n| json!({ "n": n, "name": "x".repeat(size(n)) });
            (0..130).map(row).collect()
        };
        for rows in [rows(&even), rows(&growing), rows(&|_| 5_000)] {
            for first_page in [0, 1] {
                let all: Vec<u64> = (0..130).collect();
                assert_eq!(read_all(&rows, first_page), all);
            }
        }
    }

    #[test]
    fn the_next_page_never_begins_after_the_row() {
        for shown in 1..60 {
            for before in [0, 1, 59, 100, 173] {
                let row = before + shown;
                let (page, size) = next_page(row, shown);
                assert!(size <= shown && page * size <= row && row < (page + 1) * size);
            }
        }
        assert_eq!(next_page(73, 73), (1, 73));
        assert_eq!(next_page(120, 20), (6, 20));
    }

    #[test]
    fn one_row_that_is_too_long_hides_no_other() {
        let reply = |n| json!({ "text": "r".repeat(500), "n": n });
        let replies: Vec<_> = (0..150).map(reply).collect();
        let mut rows: Vec<_> = (0..60).map(|n| json!({ "n": n, "replies": [] })).collect();
        rows[59]["replies"] = json!(replies);
        let result = shorten(json!({ "content": rows }), NEWEST);
        assert_eq!(shown(&result), (0..60).collect::<Vec<_>>());
        let newest = &result["content"][59];
        let last = newest["replies"].as_array().unwrap().last().unwrap();
        assert_eq!(last["n"], 149);
        let left_out = newest["replies_left_out"].as_u64().unwrap();
        assert!((100..150).contains(&left_out), "{left_out}");
    }

    #[test]
    fn where_nothing_else_shows_the_rows_all_of_them_are_shown() {
        let row = |n| json!({ "n": n, "description": "d".repeat(9_000) });
        let rows: Vec<_> = (0..50).map(row).collect();
        let result = shorten(json!({ "content": rows }), Rows::ShownHereOnly);
        assert_eq!(shown(&result).len(), 50);
        let description = result["content"][0]["description"].as_str().unwrap();
        assert!(description.contains("9000 characters"), "{description}");
        assert!(length(&result) <= MAX_TEXT);
    }

    /// The bytes are those of 20,000 tokens (o200k) of such names.
    #[test]
    fn names_in_other_scripts_leave_room_for_their_tokens() {
        for (name, bytes) in [
            ("\u{9f98}\u{9750}\u{9f49}", 24_000),
            ("7d03b6e1f9482a5c", 32_100),
            ("\u{1230}\u{120b}\u{121d}", 33_200),
            ("\u{1f9ff}\u{1faa4}", 38_600),
        ] {
            let row = |n| json!({ "n": n, "name": name.repeat(20) });
            let rows: Vec<_> = (0..1000).map(row).collect();
            let result = shorten(json!({ "content": rows }), FIRST);
            let length = result.to_string().len();
            assert!(length <= bytes, "{name}: {length}");
            assert!(length * 2 > bytes, "{name}: {length}");
        }
    }

    #[test]
    fn a_single_record_keeps_its_fields() {
        let record = json!({ "id": 1, "a": "\"".repeat(300_000), "b": "ü\u{1}".repeat(90_000) });
        let result = shorten(record, Rows::FirstOnes);
        assert!(length(&result) <= MAX_TEXT);
        assert_eq!(result["id"], 1);
        assert!(result["a"].is_string() && result["b"].is_string());
        assert!(result["truncated"]["hint"].is_string());
        let short = json!({ "id": 1 });
        assert_eq!(shorten(short.clone(), FIRST), short);
    }
}
