//! The examples in `docs/server.md` run as they stand there.

use super::server::Server;
use std::path::Path;
use std::process::Command;

/// The `sh` blocks of a Markdown text.
fn examples(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("```sh\n") {
        let (block, later) = after.split_once("```").unwrap();
        out.push(block.to_owned());
        rest = later;
    }
    out
}

#[test]
fn every_curl_example_works() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/server.md");
    let text = std::fs::read_to_string(page).unwrap();
    let server = Server::start(&["--ephemeral", "--dev", "--allow-private-webhooks"]);
    let dir = tempfile::tempdir().unwrap();
    let mut script = String::from("set -euo pipefail\n");
    let mut count = 0;
    for example in examples(&text)
        .iter()
        .filter(|example| example.contains("curl"))
    {
        // Whatever the server refuses fails the example.
        script.push_str(
            &example
                .replace("127.0.0.1:8787", &server.address)
                .replace("curl ", "curl --fail-with-body "),
        );
        count += 1;
    }
    assert!(count >= 4, "the page has lost its examples");
    let ran = Command::new("bash")
        .args(["-c", &script])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{script}\n{}\n{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
}
