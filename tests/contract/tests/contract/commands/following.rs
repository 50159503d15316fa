//! Commands that follow something end when nobody reads them any more.

use crate::commands::past::settle;
use crate::commands::world::{Stopping, World, program};
use serde_json::json;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};

/// Starts a command, of which nobody reads more than nothing.
fn without_reader(world: &World, args: &[&str]) -> Child {
    let mut child = Command::new(program())
        .arg("--home")
        .arg(world.path("a"))
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    child
}

/// Does something again and again until a command has ended; returns its exit code.
fn ended_by(mut child: Child, mut something: impl FnMut(u32)) -> Option<i32> {
    for round in 0..40 {
        something(round);
        if let Some(status) = child.try_wait().expect("it can be asked") {
            return status.code();
        }
    }
    child.kill().expect("it can be ended");
    child.wait().expect("it ends");
    None
}

#[test]
fn following_ends_when_nobody_reads() {
    let world = World::new();
    world.login("a");
    let _stopping = Stopping(&world, "a");
    world.json("a", &["add", "f", "--remote", "/f"]);
    settle(&world, "a");
    for args in [
        &["activity", "--follow"][..],
        &["activity", "--follow", "--json"],
        &["status", "--watch"],
    ] {
        let child = without_reader(&world, args);
        let code = ended_by(child, |round| {
            world.write("f/file", format!("{args:?} {round}"));
            settle(&world, "a");
        });
        assert_eq!(code, Some(0), "{args:?}");
    }
    let log = world.json("a", &["logs"])["file"].clone();
    assert_ne!(log, json!(null));
    let log = log.as_str().expect("a path");
    let code = ended_by(without_reader(&world, &["logs", "--follow"]), |_| {
        let file = std::fs::OpenOptions::new().append(true).open(log);
        writeln!(file.expect("the log is there"), "one more line").expect("it can be written");
        settle(&world, "a");
    });
    assert_eq!(code, Some(0), "logs");
}
