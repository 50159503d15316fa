//! Commands written, quoted and refused. Another test runs them with the real program.

use super::*;
use crate::toolset;

fn write(given: Value) -> ToolResult<Value> {
    let tool = toolset::ALL
        .iter()
        .flat_map(|set| set.tools)
        .find(|tool| tool.name == "generate_cli_command")
        .expect("it is in the catalogue");
    let Value::Object(given) = given else {
        panic!("tests give objects")
    };
    build_command(&Arguments::check(tool, given)?)
}

#[test]
fn each_operation_has_its_command() {
    let named: Vec<_> = ALL.iter().map(|operation| operation.name).collect();
    assert_eq!(named, OPERATIONS);
    for operation in ALL {
        let mut given = json!({ "operation": operation.name });
        for name in operation.slots.iter().flat_map(Slot::arguments) {
            match *name {
                "file_path" => given["file_path"] = json!("/a"),
                "query" => given["query"] = json!("/ab"),
                _ => {}
            }
        }
        let response = write(given).unwrap();
        let command = response["command"].as_str().unwrap();
        let begins = format!("cairn {}", operation.words.join(" "));
        assert!(command.starts_with(&begins), "{command}");
        assert!(!response["description"].as_str().unwrap().is_empty());
        assert!(!response["examples"].as_array().unwrap().is_empty());
        assert!(response["available_flags"].is_array());
    }
}

#[test]
fn one_word_stays_one_word() {
    for (text, word) in [
        ("a b", "'a b'"),
        ("$(rm -rf ~)", "'$(rm -rf ~)'"),
        ("it's", r"'it'\''s'"),
        ("a;b|c&d", "'a;b|c&d'"),
        ("plain-1.txt", "plain-1.txt"),
        ("~/my docs", "~/'my docs'"),
        ("~/$(id)", "~/'$(id)'"),
        ("~/~/a", "~/~/a"),
        ("~/", "~/"),
        ("~other/a", "'~other/a'"),
    ] {
        let response = write(json!({ "operation": "search", "query": text })).unwrap();
        assert_eq!(response["command"], format!("cairn search {word}"));
    }
    let dash = write(json!({ "operation": "delete", "file_path": "-rf" })).unwrap();
    assert_eq!(dash["command"], "cairn delete -- -rf");
    assert!(write(json!({ "operation": "search", "query": "a\nb" })).is_err());
}

#[test]
fn options_become_flags_that_exist() {
    let response = write(json!({
        "operation": "download", "file_path": "/a",
        "options": { "out": "x y", "--force": true, "json": false },
    }))
    .unwrap();
    assert_eq!(response["command"], "cairn download --force '--out=x y' /a");
    for bad in [
        json!({ "nope": true }),
        json!({ "force": "yes" }),
        json!({ "out": true }),
        json!({ "out": [] }),
    ] {
        let given = json!({ "operation": "download", "file_path": "/a", "options": bad });
        assert!(
            write(given)
                .unwrap_err()
                .to_string()
                .starts_with("options: ")
        );
    }
    let missing = write(json!({ "operation": "move", "file_path": "/a" })).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "move needs target_folder_uuid or query"
    );
}

#[test]
fn a_number_of_days_is_written_as_the_command_takes_it() {
    let share = |expires: Value| {
        let options = json!({ "expires": expires });
        write(json!({ "operation": "share", "file_path": "/a", "options": options }))
    };
    for (expires, span) in [
        (json!(7), "7d"),
        (json!("7"), "7d"),
        (json!("7d"), "7d"),
        (json!("12h"), "12h"),
    ] {
        let response = share(expires).unwrap();
        let command = format!("cairn share create --expires={span} /a");
        assert_eq!(response["command"], command);
    }
    for bad in [
        json!(0),
        json!(1.5),
        json!("soon"),
        json!("7 d"),
        json!("d"),
        json!(true),
    ] {
        let refused = share(bad.clone()).unwrap_err().to_string();
        assert!(refused.contains("such as 7d"), "{bad}: {refused}");
    }
}

#[test]
fn a_download_by_id_goes_to_the_given_path() {
    const ID: &str = "123e4567-e89b-42d3-a456-426614174000";
    for (given, command) in [
        (
            json!({ "operation": "download", "file_uuid": ID, "file_path": "~/my docs/a" }),
            format!("cairn download --out ~/'my docs/a' {ID}"),
        ),
        (
            json!({ "operation": "download", "file_path": "/a" }),
            "cairn download /a".to_owned(),
        ),
        (
            json!({ "operation": "download_folder", "target_folder_uuid": ID, "file_path": "-x" }),
            format!("cairn download-folder --out ./-x {ID}"),
        ),
    ] {
        let response = write(given.clone()).unwrap();
        assert_eq!(response["command"], command, "{given}");
    }
    let twice = json!({
        "operation": "download", "file_uuid": ID, "file_path": "a", "options": { "--out": "b" },
    });
    let refused = write(twice).unwrap_err().to_string();
    assert!(refused.contains("not both"), "{refused}");
}

#[test]
fn paths_on_the_service_are_whole() {
    const ID: &str = "123e4567-e89b-42d3-a456-426614174000";
    for (given, command) in [
        (
            json!({ "operation": "mkdir", "query": "sub" }),
            "cairn mkdir /sub",
        ),
        (
            json!({ "operation": "mkdir", "query": "/a/sub" }),
            "cairn mkdir /a/sub",
        ),
        (
            json!({ "operation": "mkdir", "file_path": "/docs/", "query": "sub" }),
            "cairn mkdir /docs/sub",
        ),
        (
            json!({ "operation": "move", "file_path": "/docs/a.txt", "query": "b.txt" }),
            "cairn move /docs/a.txt /docs/b.txt",
        ),
        (
            json!({ "operation": "move", "file_path": "/a.txt", "query": "b.txt" }),
            "cairn move /a.txt /b.txt",
        ),
        (
            json!({ "operation": "move", "file_uuid": ID, "query": "/b.txt" }),
            &format!("cairn move {ID} /b.txt"),
        ),
    ] {
        let response = write(given.clone()).unwrap();
        assert_eq!(response["command"], command, "{given}");
    }
    for (given, words) in [
        (
            json!({ "operation": "mkdir", "query": "sub", "target_folder_uuid": ID }),
            "no use for target_folder_uuid: it takes file_path, query",
        ),
        (
            json!({ "operation": "move", "file_uuid": ID, "query": "b.txt" }),
            "begins with /",
        ),
        (
            json!({ "operation": "move", "file_uuid": ID, "query": "/b", "target_folder_uuid": ID }),
            "not both",
        ),
        (
            json!({ "operation": "tokens", "query": "x" }),
            "it takes none",
        ),
    ] {
        let refused = write(given.clone()).unwrap_err().to_string();
        assert!(refused.contains(words), "{given}: {refused}");
    }
}
