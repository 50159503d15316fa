//! Commands of the program behind the window.

use super::*;
use serde_json::json;

#[test]
fn a_failure_keeps_the_program_s_message() {
    let document = json!({"error": {"code": 3, "message": "not logged in"}});
    assert_eq!(
        fault(Some(3), &document),
        ProgramError::new(ProgramErrorCode::NotLoggedIn, "not logged in")
    );
    assert_eq!(fault(None, &Value::Null).code, ProgramErrorCode::Failed);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let cairn = Cairn::find(Some("/nowhere/cairn".into()), None);
    let fault = cairn.run(Run::of(["whoami"])).await.unwrap_err();
    assert!(fault.message.contains("/nowhere/cairn"), "{fault}");
}

#[cfg(unix)]
fn script(dir: &Path, text: &str) -> Cairn {
    use std::os::unix::fs::PermissionsExt as _;
    let path = dir.join("cairn");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    Cairn::find(Some(path), Some("/h".into()))
}

#[cfg(unix)]
#[tokio::test]
async fn a_result_counts_though_something_was_left() {
    let dir = tempfile::tempdir().unwrap();
    let cairn = script(dir.path(), "#!/bin/sh\necho '{\"left\":[\"x\"]}'\nexit 5\n");
    let reply = cairn.run(Run::of(["undo"])).await.unwrap();
    assert_eq!(reply, json!({"left": ["x"]}));
}

#[cfg(unix)]
#[tokio::test]
async fn steps_arrive_while_the_program_runs_and_lines_go_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let text = "#!/bin/sh\necho 'no document' >&2\necho '{\"step\":\"one\"}' >&2\nread a\necho \"{\\\"step\\\":\\\"$a\\\"}\" >&2\nread b\necho \"{\\\"b\\\":\\\"$b\\\"}\"\n";
    let cairn = script(dir.path(), text);
    let (lines, input) = mpsc::channel(1);
    let (sender, mut steps) = mpsc::channel(1);
    let person = async {
        assert_eq!(steps.recv().await.unwrap(), json!({"step": "one"}));
        lines.send("two".to_owned()).await.unwrap();
        assert_eq!(steps.recv().await.unwrap(), json!({"step": "two"}));
        lines.send("three".to_owned()).await.unwrap();
    };
    let (document, ()) = tokio::join!(cairn.run_steps(Run::of(["login"]), input, sender), person);
    assert_eq!(document.unwrap(), json!({"b": "three"}));
}

#[cfg(unix)]
#[tokio::test]
async fn secrets_go_through_the_standard_input_and_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    let text = "#!/bin/sh\nread a\nread b\nprintf '{\"args\":\"%s\",\"a\":\"%s\",\"b\":\"%s\",\"key\":\"%s\"}' \"$*\" \"$a\" \"$b\" \"$CAIRN_API_KEY\"\n";
    let cairn = script(dir.path(), text);
    let mut run = Run::of(["login"]).with_secret("one").with_secret("two");
    run.api_key = Some("ck".into());
    assert_eq!(
        cairn.run(run).await.unwrap(),
        json!({"args": "--home /h --json login", "a": "one", "b": "two", "key": "ck"})
    );
}
