//! Rewinds to random times of random histories, in random order, on two devices and from a third one that saw nothing
//! of them.
//!
//! `CAIRN_REWINDS` sets how many (200 is the acceptance), `CAIRN_REWIND_SEED` repeats a run.

use crate::commands::past::{now, settle};
use crate::commands::world::{Stopping, World};
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// States of one history.
const STATES: usize = 6;
/// Changes between two states.
const CHANGES: usize = 4;
/// Rewinds where the environment doesn't say.
const REWINDS: usize = 4;

/// The files and folders below a directory; folders have no content.
type Tree = BTreeMap<String, Option<String>>;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn read_tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("it is a folder") {
            let entry = entry.expect("it can be listed");
            if entry.file_name().to_string_lossy().starts_with(".cairn-") {
                continue;
            }
            let path = entry.path();
            let below = path.strip_prefix(root).expect("it is below").display();
            if entry.file_type().expect("it has a type").is_dir() {
                tree.insert(below.to_string(), None);
                open.push(path);
            } else {
                let content = fs::read_to_string(&path).expect("it can be read");
                tree.insert(below.to_string(), Some(content));
            }
        }
    }
    tree
}

/// Changes something in a folder: files and folders are made, edited, renamed, moved and deleted.
fn change(root: &Path, random: &mut ChaCha8Rng, serial: &mut u32) {
    let tree = read_tree(root);
    let of = |is_folder: bool| -> Vec<PathBuf> {
        let fitting = tree
            .iter()
            .filter(|(_, content)| content.is_none() == is_folder);
        fitting.map(|(path, _)| root.join(path)).collect()
    };
    let (files, folders) = (of(false), of(true));
    *serial += 1;
    let into = folders.choose(random).map_or(root, PathBuf::as_path);
    let new = into.join(format!("n{serial}"));
    let text = format!(
        "content {serial} {}",
        "x".repeat(random.random_range(0..400))
    );
    match (
        random.random_range(0..9_u8),
        files.choose(random),
        folders.choose(random),
    ) {
        (0 | 1, ..) | (_, None, _) | (6.., _, None) => fs::write(new, text),
        (2, Some(file), _) => fs::write(file, text),
        (3 | 4, Some(file), _) => fs::rename(file, new),
        (5, Some(file), _) => fs::remove_file(file),
        (6, ..) => fs::create_dir(&new).and_then(|()| fs::write(new.join("inside"), text)),
        (7, _, Some(folder)) => fs::rename(folder, root.join(format!("d{serial}"))),
        (_, _, Some(folder)) => fs::remove_dir_all(folder),
    }
    .expect("a file can be changed");
}

#[test]
fn random_times_of_random_histories_are_restored_exactly_on_both_devices() {
    let rewinds = number("CAIRN_REWINDS").map_or(REWINDS, |n| usize::try_from(n).unwrap());
    let seed = number("CAIRN_REWIND_SEED").unwrap_or_else(rand::random);
    println!("CAIRN_REWIND_SEED={seed} CAIRN_REWINDS={rewinds}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut done = 0;
    while done < rewinds {
        done += rewind_one_history(&mut random, rewinds - done);
    }
}

/// Makes a history and goes to its states, in any order. Returns how many rewinds there were.
fn rewind_one_history(random: &mut ChaCha8Rng, most: usize) -> usize {
    let world = World::new();
    let homes = ["a", "b"];
    let folder = |home: &str| format!("f-{home}");
    for home in homes {
        world.login(home);
        let folder = folder(home);
        let add = ["add", &folder, "--remote", "/f", "--deletion-gate", "off"];
        world.json(home, &add);
    }
    world.login("c");
    let _stopping = (Stopping(&world, "a"), Stopping(&world, "b"));
    let (mut states, mut serial) = (Vec::new(), 0);
    for _ in 0..=STATES {
        let home = *homes.choose(random).expect("there are two");
        for _ in 0..CHANGES {
            change(&world.path(&folder(home)), random, &mut serial);
        }
        settle(&world, home);
        settle(&world, if home == "a" { "b" } else { "a" });
        let tree = read_tree(&world.path("f-a"));
        assert_eq!(tree, read_tree(&world.path("f-b")));
        states.push((now(&world), tree));
    }
    states.shuffle(random);
    let mut count = 0;
    for (then, tree) in &states {
        // Not each of them: a rewind may jump over several.
        if count == most || random.random_ratio(1, 4) {
            continue;
        }
        let from = ["a", "b", "c", "c"];
        let home = *from.choose(random).expect("there are some");
        let path = match home {
            "c" => "/f".to_owned(),
            _ => folder(home),
        };
        let done = world.json(home, &["rewind", &path, "--to", then, "--yes"]);
        assert_eq!(done["plan"]["incomplete"], json!([]), "{done}");
        let failed = &done["done"]["failed"];
        assert!(failed.is_null() || *failed == json!([]), "{done}");
        for home in homes {
            settle(&world, home);
            assert_eq!(
                &read_tree(&world.path(&folder(home))),
                tree,
                "{home}, {then}: {done}"
            );
        }
        count += 1;
    }
    count
}
