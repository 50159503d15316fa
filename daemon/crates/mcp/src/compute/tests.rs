//! Every operation on small values, and what each refuses.

use super::*;
use crate::toolset;

fn compute(given: Value) -> ToolResult<Value> {
    let tool = toolset::ALL
        .iter()
        .flat_map(|set| set.tools)
        .find(|tool| tool.name == "compute")
        .expect("it is in the catalogue");
    let Value::Object(given) = given else {
        panic!("tests give objects")
    };
    compute_value(&Arguments::check(tool, given)?)
}

fn result(given: Value) -> Value {
    compute(given).unwrap()["result"].clone()
}

fn refusal_of(given: Value) -> String {
    compute(given).unwrap_err().to_string()
}

#[test]
fn numbers_are_summed_exactly() {
    assert_eq!(
        result(json!({ "operation": "sum", "values": [1, 2, 3] })),
        json!(6)
    );
    assert_eq!(
        result(json!({ "operation": "sum", "values": [0.1, 0.2] })),
        json!(0.3)
    );
    assert_eq!(
        result(json!({ "operation": "sum", "values": [] })),
        json!(0)
    );
    let big = json!({ "operation": "sum", "values": [9_007_199_254_740_993_i64, 1] });
    assert_eq!(result(big), json!(9_007_199_254_740_994_i64));
    assert_eq!(
        result(json!({ "operation": "average", "values": [1, 2] })),
        json!(1.5)
    );
    assert_eq!(
        result(json!({ "operation": "min", "values": [2, -1.5, 3] })),
        json!(-1.5)
    );
    assert_eq!(
        result(json!({ "operation": "max", "values": [2, -1.5, 3] })),
        json!(3)
    );
    let sizes = json!([{ "size": 5 }, { "size": 7 }]);
    let sum = compute(json!({ "operation": "sum", "values": sizes, "field": "size" })).unwrap();
    assert_eq!(sum, json!({ "operation": "sum", "result": 12, "count": 2 }));
    assert_eq!(
        result(json!({ "operation": "count", "values": [1, "a", null] })),
        json!(3)
    );
}

#[test]
fn what_does_not_fit_is_named() {
    let mixed = refusal_of(json!({ "operation": "sum", "values": [1, "2"] }));
    assert_eq!(mixed, "values[1] is a string, not a number");
    let field =
        refusal_of(json!({ "operation": "max", "values": [{ "a": 1 }, { "b": 1 }], "field": "a" }));
    assert_eq!(field, "values[1] has no field `a`");
    let sorted = refusal_of(json!({ "operation": "sort", "values": [1, 2, "c"] }));
    assert!(sorted.starts_with("values[2] is a string"), "{sorted}");
    assert!(refusal_of(json!({ "operation": "average", "values": [] })).contains("empty"));
    assert!(refusal_of(json!({ "operation": "sum" })).contains("values is required"));
    assert!(refusal_of(json!({ "operation": "filter", "values": [] })).contains("filter_op"));
    let huge = json!({ "operation": "sum", "values": [1.7e308, 1.7e308] });
    assert!(refusal_of(huge).contains("too large"));
}

#[test]
fn filters_compare_within_a_type() {
    let files = json!([
        { "name": "A.txt", "size": 1, "tags": ["x"] },
        { "name": "b.md", "size": 20, "tags": [] },
        { "name": "c.txt" },
    ]);
    for (field, comparison, value, names) in [
        ("size", "gt", json!(1), vec!["b.md"]),
        ("size", "gte", json!(1.0), vec!["A.txt", "b.md"]),
        ("size", "lt", json!(20), vec!["A.txt"]),
        ("size", "lte", json!(20), vec!["A.txt", "b.md"]),
        ("size", "eq", json!(20), vec!["b.md"]),
        ("size", "neq", json!(20), vec!["A.txt", "c.txt"]),
        ("name", "contains", json!("TXT"), vec!["A.txt", "c.txt"]),
        ("name", "startsWith", json!("a"), vec!["A.txt"]),
        ("name", "endsWith", json!(".md"), vec!["b.md"]),
        ("tags", "contains", json!("x"), vec!["A.txt"]),
        ("size", "eq", json!(null), vec!["c.txt"]),
        ("size", "neq", json!(null), vec!["A.txt", "b.md"]),
    ] {
        let kept = result(json!({
            "operation": "filter", "values": files, "field": field,
            "filter_op": comparison, "filter_value": value,
        }));
        let kept: Vec<_> = kept
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["name"].as_str().unwrap())
            .collect();
        assert_eq!(kept, names, "{field} {comparison} {value}");
    }
    let mixed = json!({
        "operation": "filter", "values": files, "field": "size",
        "filter_op": "gt", "filter_value": "1",
    });
    assert!(refusal_of(mixed).contains("of one type"));
}

#[test]
fn sorting_is_stable_in_both_directions() {
    let rows = json!([{ "k": 2, "n": "a" }, { "k": 1, "n": "b" }, { "k": 2, "n": "c" }]);
    let names = |order: &str| -> Vec<String> {
        result(json!({ "operation": "sort", "values": rows, "field": "k", "sort_order": order }))
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["n"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names("asc"), ["b", "a", "c"]);
    assert_eq!(names("desc"), ["a", "c", "b"]);
}

#[test]
fn sizes_are_formatted_in_binary_units() {
    let of_field =
        json!({ "operation": "format_bytes", "values": [{ "size": 1536 }], "field": "size" });
    assert_eq!(result(of_field)[0]["bytes"], 1536);
    let sizes = result(json!({ "operation": "format_bytes", "values": [1536] }));
    assert_eq!(sizes, json!([{ "bytes": 1536, "formatted": "1.5 KiB" }]));
    assert!(
        refusal_of(json!({ "operation": "format_bytes", "values": [-1] })).contains("negative")
    );
}

#[test]
fn tables_have_a_frame() {
    let rows = json!([{ "name": "a\nb", "size": 1 }, { "name": "ü", "size": null }]);
    let table = result(json!({
        "operation": "format_table", "values": rows, "columns": ["size", "name"],
    }));
    assert_eq!(
        table.as_str().unwrap(),
        "+------+------+\n| size | name |\n+------+------+\n| 1    | a b  |\n|      | ü    |\n+------+------+"
    );
    assert!(refusal_of(json!({ "operation": "format_table", "values": [] })).contains("columns"));
}

#[test]
fn objects_need_the_name_of_a_field() {
    let rows = json!([{ "k": 2 }, { "k": 1 }]);
    for given in [
        json!({ "operation": "filter", "values": rows, "filter_op": "eq", "filter_value": 2 }),
        json!({ "operation": "sort", "values": rows }),
    ] {
        let refused = refusal_of(given.clone());
        assert!(refused.contains("`field`"), "{given}: {refused}");
    }
}

#[test]
fn what_lacks_the_field_is_sorted_last() {
    let rows =
        json!([{ "n": "a" }, { "k": 1, "n": "b" }, { "k": null, "n": "c" }, { "k": 2, "n": "d" }]);
    for (order, names) in [
        ("asc", ["b", "d", "a", "c"]),
        ("desc", ["d", "b", "a", "c"]),
    ] {
        let given =
            json!({ "operation": "sort", "values": rows, "field": "k", "sort_order": order });
        let sorted = result(given);
        let sorted = sorted.as_array().unwrap().iter();
        let sorted: Vec<_> = sorted.map(|row| row["n"].as_str().unwrap()).collect();
        assert_eq!(sorted, names, "{order}");
    }
}
