//! Changes that people and their programs make to whole trees, and that must not be taken for encryption.

use super::tests::{Scene, text};
use crate::gate::testing::ciphertext;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn run(dir: &Path, program: &Path, arguments: &[&str]) {
    let output = Command::new(program)
        .current_dir(dir)
        .args(arguments)
        // The settings of whoever runs the tests don't count.
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", dir.join("no such file"))
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {message}");
}

fn git(dir: &Path, arguments: &[&str]) {
    let own = [
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "core.autocrlf=false",
    ];
    run(dir, Path::new("git"), &[&own, arguments].concat());
}

/// Writes sources that differ between versions, with pictures among them.
fn write_sources(dir: &Path, version: u32) {
    fs::create_dir_all(dir.join("src")).unwrap();
    for number in 0..40 {
        let bytes = text(number * 1000 + version);
        fs::write(dir.join(format!("src/{number}.rs")), bytes).unwrap();
        fs::write(dir.join(format!("{number}.jpg")), picture(number, version)).unwrap();
    }
}

fn picture(number: u32, version: u32) -> Vec<u8> {
    let mut bytes = b"\xff\xd8\xff\xe0\0\x10JFIF\0".to_vec();
    bytes.extend(ciphertext(u64::from(number * 1000 + version), 6000));
    bytes
}

/// A repository with two branches, the second one checked out, in sync.
async fn repository() -> Scene {
    let mut scene = Scene::new();
    let root = scene.root().to_owned();
    git(&root, &["init", "-q", "-b", "one"]);
    write_sources(&root, 1);
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "one"]);
    git(&root, &["checkout", "-q", "-b", "two"]);
    write_sources(&root, 2);
    git(&root, &["commit", "-q", "-a", "-m", "two"]);
    scene.sync().await;
    scene
}

#[tokio::test]
async fn another_branch_and_a_collected_repository_raise_nothing() {
    let mut scene = repository().await;
    let root = scene.root().to_owned();
    git(&root, &["checkout", "-q", "one"]);
    let plan = scene.observe();
    assert!(plan.steps.len() >= 80, "{} files changed", plan.steps.len());
    assert_eq!(scene.waiting_of(&plan).await, 0);
    scene.sync().await;
    git(&root, &["gc", "-q", "--prune=now"]);
    let plan = scene.observe();
    assert!(plan.remote_deletions.len() >= 80, "loose objects are gone");
    assert_eq!(scene.waiting_of(&plan).await, 0);
}

#[tokio::test]
async fn an_archive_unpacked_over_a_folder_raises_nothing() {
    let mut scene = repository().await;
    let root = scene.root().to_owned();
    let outside = tempfile::tempdir().unwrap();
    let archive = outside.path().join("one.tar");
    let archive = archive.to_str().unwrap();
    git(&root, &["archive", "-o", archive, "one"]);
    run(&root, Path::new("tar"), &["-xf", archive]);
    assert_eq!(fs::read(root.join("src/0.rs")).unwrap(), text(1));
    let plan = scene.observe();
    assert!(plan.steps.len() >= 80, "{} files changed", plan.steps.len());
    assert_eq!(scene.waiting_of(&plan).await, 0);
}

#[tokio::test]
async fn a_second_build_raises_nothing() {
    let mut scene = Scene::new();
    let root = scene.root().to_owned();
    let beside_cargo = std::env::var_os("CARGO").map(|c| PathBuf::from(c).with_file_name("rustc"));
    let rustc = beside_cargo
        .filter(|path| path.exists())
        .unwrap_or_else(|| "rustc".into());
    let build = |version: u32| {
        for number in 0..8 {
            let source = format!(
                "pub fn f(n: u64) -> String {{ format!(\"{{}} {version}\", n * {number} + {version}) }}"
            );
            fs::write(root.join(format!("lib{number}.rs")), source).unwrap();
            let source = format!("lib{number}.rs");
            let arguments = ["--crate-type=lib", "--emit=obj,asm,llvm-bc,metadata,link"];
            run(
                &root,
                &rustc,
                &[&arguments[..], &[source.as_str()]].concat(),
            );
        }
    };
    build(1);
    scene.sync().await;
    build(2);
    let plan = scene.observe();
    assert!(plan.steps.len() >= 32, "{} files changed", plan.steps.len());
    assert_eq!(scene.waiting_of(&plan).await, 0);
}

#[tokio::test]
async fn photos_that_come_and_photos_that_are_edited_raise_nothing() {
    let mut scene = Scene::new();
    let root = scene.root().to_owned();
    for number in 0..40 {
        fs::write(root.join(format!("{number}.jpg")), picture(number, 1)).unwrap();
        fs::write(root.join(format!("{number}.xmp")), text(number)).unwrap();
    }
    scene.sync().await;
    for number in 0..80 {
        fs::write(root.join(format!("{number}.jpg")), picture(number, 2)).unwrap();
        fs::write(root.join(format!("{number}.xmp")), text(number + 7)).unwrap();
    }
    let plan = scene.observe();
    assert_eq!(plan.steps.len(), 80);
    assert_eq!(scene.waiting_of(&plan).await, 0);
}

#[tokio::test]
async fn pictures_that_are_encrypted_wait_as_texts_do() {
    let mut scene = Scene::new();
    let root = scene.root().to_owned();
    for number in 0..40 {
        fs::write(root.join(format!("{number}.jpg")), picture(number, 1)).unwrap();
    }
    scene.sync().await;
    for number in 0..30_u32 {
        let bytes = ciphertext(u64::from(number), 6000);
        fs::write(root.join(format!("{number}.jpg")), bytes).unwrap();
    }
    assert_eq!(scene.waiting().await, 30);
}
