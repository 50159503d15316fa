//! One tool with every shape: the values that it accepts and refuses.

use super::*;
use crate::param::{
    amount, any_value, callback, choice, choices, colour, date_time, duration, email, emails, flag,
    flag_on, handle, hex, https, integer, integer_in, labels, list, money, must_accept, non_empty,
    number_above, number_from, object, text, uuid, uuids,
};
use crate::tool::{Effect, Requirement, Run, Tool, get};

const TOOL: Tool = Tool::new(
    "all",
    "All",
    Effect::ReadOnly,
    "Takes everything.",
    &[
        text("text", "t").length(0, 3),
        non_empty("non_empty", "t"),
        uuid("uuid", "t"),
        email("email", "t"),
        date_time("date_time", "t"),
        handle("handle", 3, 5, "t"),
        https("https", "t"),
        callback("callback", "t"),
        colour("colour", "t"),
        hex("hex", "t"),
        duration("duration", "t"),
        choice("choice", &["a", "b"], "t").or("a"),
        integer_in("page_size", 1, 100, "t").or_number(20),
        integer("days", 1, "t"),
        number_above("budget", 0.0, "t"),
        amount("paid", "t"),
        number_from("share", 0.0, "t"),
        flag("flag", "t"),
        flag_on("flag_on", "t"),
        must_accept("must_accept", "t"),
        money("money", 1, 1_000_000, "t"),
        uuids("uuids", 2, "t"),
        emails("emails", 2, "t"),
        choices("choices", &["x", "y"], "t"),
        labels("labels", "t"),
        object("object", "t"),
        list("list", "t"),
        any_value("any_value", "t"),
    ],
    Run::Rest(get("/x")),
)
.requirements(&[Requirement {
    when: ("choice", "b"),
    argument: "days",
}]);

const UUID: &str = "123E4567-e89b-12d3-a456-426614174000";

fn check_arguments(given: Value) -> ToolResult<Arguments> {
    let Value::Object(given) = given else {
        panic!("tests give objects")
    };
    Arguments::check(&TOOL, given)
}

#[test]
fn defaults_are_filled_in_and_nulls_left_out() {
    let slot_text = check_arguments(json!({ "days": null })).unwrap();
    assert_eq!(
        Value::Object(slot_text.fields().clone()),
        json!({ "choice": "a", "page_size": 20, "flag_on": true })
    );
}

#[test]
fn good_values_arrive_in_one_form() {
    for (name, given, arrives) in [
        ("text", json!("äöü"), json!("äöü")),
        ("uuid", json!(UUID), json!(UUID.to_lowercase())),
        (
            "email",
            json!("a.b+c@example.co.uk"),
            json!("a.b+c@example.co.uk"),
        ),
        (
            "date_time",
            json!("2026-01-31"),
            json!("2026-01-31T00:00:00.000Z"),
        ),
        (
            "date_time",
            json!("2026-01-31T12:00:00+02:00"),
            json!("2026-01-31T10:00:00.000Z"),
        ),
        (
            "date_time",
            json!("2026-01-31T12:00:00"),
            json!("2026-01-31T12:00:00.000Z"),
        ),
        ("handle", json!("a-_1"), json!("a-_1")),
        (
            "https",
            json!("https://example.com/x"),
            json!("https://example.com/x"),
        ),
        (
            "callback",
            json!("https://172.32.0.1/"),
            json!("https://172.32.0.1/"),
        ),
        ("colour", json!("#0aF9bC"), json!("#0aF9bC")),
        ("page_size", json!(100.0), json!(100)),
        ("page_size", json!(1), json!(1)),
        ("budget", json!(0.5), json!(0.5)),
        ("budget", json!(80.0), json!(80)),
        ("share", json!(0), json!(0)),
        ("share", json!(0.5), json!(0.5)),
        ("duration", json!("30d"), json!("30d")),
        ("duration", json!("36500d"), json!("36500d")),
        ("money", json!("4.5"), json!("4.50")),
        ("uuids", json!([UUID]), json!([UUID.to_lowercase()])),
        ("emails", json!([]), json!([])),
        ("choices", json!(["x", "y"]), json!(["x", "y"])),
        (
            "labels",
            json!({ "a": 1, "b": true }),
            json!({ "a": "1", "b": "true" }),
        ),
        ("any_value", json!([1]), json!([1])),
    ] {
        let got = check_arguments(json!({ name: given })).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(got.get(name), Some(&arrives), "{name}");
    }
}

#[test]
fn a_period_ends_after_it_begins() {
    const PERIOD: Tool = Tool::new(
        "period",
        "Period",
        Effect::ReadOnly,
        "Takes a period.",
        &[date_time("date_from", "t"), date_time("date_to", "t")],
        Run::Rest(get("x")),
    );
    let check = |from: &str, to: &str| {
        let given = json!({ "date_from": from, "date_to": to });
        Arguments::check(&PERIOD, given.as_object().unwrap().clone())
    };
    check("2026-01-31", "2026-01-31").unwrap();
    check("2026-01-31T23:00:00-02:00", "2026-02-01T02:00:00Z").unwrap();
    let error = check("2026-02-01", "2026-01-31").unwrap_err().to_string();
    assert!(error.contains("swap them"), "{error}");
}

#[test]
fn bad_values_are_refused_by_name() {
    let long = "x".repeat(300);
    for (name, bad) in [
        ("text", json!("four")),
        ("text", json!(1)),
        ("non_empty", json!("")),
        ("non_empty", json!(" \n")),
        ("uuid", json!("123e4567e89b12d3a456426614174000")),
        ("uuid", json!(format!("{UUID}0"))),
        ("uuid", json!("123e4567-e89b-12d3-a456-42661417400g")),
        ("email", json!("nobody")),
        ("email", json!("a b@example.com")),
        ("email", json!(format!("{long}@example.com"))),
        ("date_time", json!("yesterday")),
        ("date_time", json!("2026-02-30")),
        ("handle", json!("ab")),
        ("handle", json!("abcdef")),
        ("handle", json!("a.b")),
        ("https", json!("http://example.com")),
        ("https", json!("https://")),
        ("colour", json!("red")),
        ("colour", json!("#12345")),
        ("hex", json!("xyz")),
        ("hex", json!("ab".repeat(100_000))),
        ("hex", json!("zz".repeat(32))),
        ("paid", json!(10.005)),
        ("paid", json!(1e-7)),
        ("paid", json!(0)),
        ("duration", json!("36501d")),
        ("duration", json!("30")),
        ("duration", json!("0d")),
        ("duration", json!("d")),
        ("duration", json!("1y")),
        ("choice", json!("c")),
        ("choice", json!("A")),
        ("page_size", json!(0)),
        ("page_size", json!(101)),
        ("page_size", json!(1.5)),
        ("page_size", json!("20")),
        ("page_size", json!(1e300)),
        ("days", json!(u64::MAX)),
        ("days", json!(-1)),
        ("budget", json!(0)),
        ("budget", json!(1e300)),
        ("share", json!(-0.5)),
        ("budget", json!("5")),
        ("flag", json!("true")),
        ("must_accept", json!(false)),
        ("money", json!(5)),
        ("money", json!("10000.01")),
        ("uuids", json!([])),
        ("uuids", json!([UUID, UUID, UUID])),
        ("uuids", json!([UUID, "x"])),
        (
            "emails",
            json!(["a@example.com", "b@example.com", "c@example.com"]),
        ),
        ("choices", json!([])),
        ("choices", json!(["z"])),
        ("labels", json!({ "a": {} })),
        ("labels", json!(["a"])),
        ("object", json!([])),
        ("list", json!({})),
    ] {
        let error = check_arguments(json!({ name: bad }))
            .expect_err(name)
            .to_string();
        assert!(error.starts_with(name), "{name} with {bad}: {error}");
    }
}

#[test]
fn callbacks_to_private_places_are_refused() {
    for bad in [
        "http://example.com/",
        "https://127.0.0.1/",
        "https://127.9.9.9:8443/hook",
        "https://10.1.2.3/",
        "https://172.16.0.1/",
        "https://172.31.255.255/",
        "https://192.168.0.1/",
        "https://169.254.169.254/latest",
        "https://0.0.0.0/",
        "https://[::1]/",
        "https://[fd00::1]/",
        "https://[fc00::1]/",
        "https://[fe80::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://metadata.google.internal/",
        "https://internal.example.com/",
        "https://LOCALHOST/",
        "https://user@127.0.0.1/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://example.com\\@127.0.0.1 /",
    ] {
        assert!(
            check_arguments(json!({ "callback": bad })).is_err(),
            "{bad}"
        );
    }
    for good in [
        "https://example.com/hook?x=1",
        "https://8.8.8.8/",
        "https://metadatastore.example/",
        "https://internal-api.example.com/",
        "https://internalaudit.com/hook",
    ] {
        assert!(
            check_arguments(json!({ "callback": good })).is_ok(),
            "{good}"
        );
    }
}

#[test]
fn what_is_not_declared_is_refused() {
    let error = check_arguments(json!({ "folder": 1 }))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`folder`") && error.contains("page_size"),
        "{error}"
    );
    let error = check_arguments(json!({ NOT_AN_OBJECT: [] }))
        .unwrap_err()
        .to_string();
    assert!(error.contains("JSON object"), "{error}");
    let error = check_arguments(json!({ "choice": "b" }))
        .unwrap_err()
        .to_string();
    assert_eq!(error, "days is required when choice is b");
    assert!(check_arguments(json!({ "choice": "b", "days": 1 })).is_ok());
}

#[test]
fn what_the_service_chooses_is_not_filled_in() {
    const LEFT: Tool = Tool::new(
        "left",
        "Left",
        Effect::ReadOnly,
        "Leaves the choice.",
        &[choice("mode", &["a", "b"], "t").or("a").server_default()],
        Run::Rest(get("x")),
    );
    let none = Arguments::check(&LEFT, Map::new()).unwrap();
    assert!(!none.has("mode"));
}

#[test]
fn what_is_missing_is_named_also_where_it_is_about_cryptography() {
    const KEYS: Tool = Tool::new(
        "keys",
        "Keys",
        Effect::ReadOnly,
        "Takes a hash.",
        &[hex("hash", "Hex PBKDF2 hash").required()],
        Run::Rest(get("x")),
    );
    let error = Arguments::check(&KEYS, Map::new()).unwrap_err();
    assert_eq!(error.public_message(), "hash is required");
}
