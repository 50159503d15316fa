//! Commands that run at the same time.

use crate::commands::world::{World, program};
use std::process::{Command, Stdio};

#[test]
fn two_that_make_the_same_folders_both_succeed() {
    let world = World::new();
    world.login("a");
    for round in 0..4 {
        let path = format!("/r{round}/a/b");
        let make = || {
            Command::new(program())
                .arg("--home")
                .arg(world.path("a"))
                .args(["mkdir", "-p", &path])
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the program starts")
        };
        for child in [(); 4].map(|()| make()) {
            let output = child.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{output:?}");
        }
    }
}
