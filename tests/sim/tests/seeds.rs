//! Properties of the whole system (devices become equal, nothing is lost), over many seeds.
//!
//! `CAIRN_SIM_SEEDS=N` runs more, `CAIRN_SIM_SEEDS=A..B` others, and `CAIRN_SIM_SEED=S` one in each test with its events,
//! where `RUST_LOG=cairn_engine=trace` tells what the engines do meanwhile. The words of `CAIRN_SIM_WITH` are added to those of
//! each test, so that any mixture can be tried.

use cairn_sim::random_run::{Outcome, run_seed};
use cairn_sim::run_options::RunOptions;
use cairn_sim::seeds::{seeds, variable};
use cairn_sim::time::simulate;

fn options(words: &str) -> RunOptions {
    let added = variable("CAIRN_SIM_WITH").unwrap_or_default();
    let options = format!("{words} {added}").parse();
    options.unwrap_or_else(|error| panic!("{error}"))
}

/// Does the runs of the first seeds with what may happen in them, and returns them.
fn run(default: u64, words: &str) -> Vec<Outcome> {
    let is_alone = variable("CAIRN_SIM_SEED").is_some();
    if is_alone {
        let filter =
            tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into());
        drop(
            tracing_subscriber::fmt()
                .with_env_filter(filter)
                .with_test_writer()
                .without_time()
                .try_init(),
        );
    }
    let options = options(words);
    let (mut runs, mut broken) = (Vec::new(), Vec::new());
    for seed in seeds(default) {
        match one(seed, options) {
            Ok(run) => {
                if is_alone {
                    eprintln!("{}", run.events.join("\n"));
                }
                runs.push(run);
            }
            Err(failure) => {
                eprintln!("{failure}\n");
                broken.push(seed);
            }
        }
        if broken.len() >= 5 {
            break;
        }
    }
    assert!(
        broken.is_empty(),
        "broken with {options:?}, seeds {broken:?}"
    );
    runs
}

/// Does the same, and checks that people are asked about deletions in most of the runs.
fn run_with_gate(default: u64, words: &str) {
    let runs = run(default, words);
    let asked = runs.iter().filter(|run| run.decisions > 0).count();
    // A few seeds say nothing about the others.
    assert!(
        runs.len() < 20 || asked > runs.len() / 2,
        "somebody is asked in {asked} of {} runs",
        runs.len()
    );
}

fn one(seed: u64, options: RunOptions) -> Result<Outcome, String> {
    simulate(run_seed(seed, options))
}

#[test]
fn two_devices_on_good_lines_become_equal_and_lose_nothing() {
    run(300, "devices=2 steps=30");
}

#[test]
fn one_editor_alone_makes_no_conflict_copy() {
    run(300, "devices=2 steps=30 faults crashes one_editor");
}

#[test]
fn bad_lines_lose_nothing() {
    run(300, "devices=3 steps=30 faults");
}

#[test]
fn crashes_lose_nothing() {
    run(300, "devices=2 steps=40 faults crashes");
}

#[test]
fn what_somebody_does_on_the_service_without_keys_loses_nothing() {
    run(300, "devices=2 steps=40 faults crashes keyless");
}

#[test]
fn what_the_server_loses_comes_back_from_the_devices() {
    run(40, "devices=2 steps=40 faults crashes damaged_objects");
}

#[test]
fn devices_that_compare_what_they_see_agree() {
    run(60, "devices=3 steps=40 faults crashes keyless checkpoints");
}

#[test]
fn bad_disks_lose_nothing() {
    run(200, "devices=2 steps=40 crashes bad_disks");
}

#[test]
fn users_who_work_at_any_moment_lose_nothing() {
    run(200, "devices=2 steps=30 crashes interference");
}

#[test]
fn one_editor_alone_makes_no_conflict_copy_on_a_bad_disk() {
    run(200, "devices=2 steps=40 faults one_editor bad_disks");
}

#[test]
fn devices_become_equal_without_being_made_to_look() {
    run(200, "devices=3 steps=30 faults crashes unprompted");
}

#[test]
fn rules_that_change_at_any_time_lose_nothing() {
    run(200, "devices=2 steps=40 faults crashes rules");
}

#[test]
fn rules_of_folders_that_move_lose_nothing() {
    run(100, "devices=3 steps=40 faults crashes nested_rules");
}

#[test]
fn rules_of_folders_that_move_lose_nothing_beside_a_user_at_work() {
    run(
        40,
        "devices=3 steps=60 faults crashes nested_rules interference",
    );
}

#[test]
fn rules_of_folders_that_move_need_no_look() {
    run(
        100,
        "devices=3 steps=60 faults crashes nested_rules unprompted",
    );
}

#[test]
fn what_one_device_leaves_out_is_not_lost() {
    run(200, "devices=2 steps=40 faults crashes choice");
}

#[test]
fn a_disk_with_coarse_times_loses_nothing() {
    run(100, "devices=2 steps=40 faults crashes coarse_times");
}

#[test]
fn a_disk_with_coarse_times_loses_nothing_while_people_work_between_any_two_calls() {
    run(60, "devices=3 steps=60 interference coarse_times");
}

#[test]
fn a_disk_that_ignores_case_loses_nothing() {
    run(200, "devices=2 steps=40 faults crashes ignores_case");
}

#[test]
fn a_disk_that_ignores_case_loses_nothing_that_is_moved_on_the_service() {
    run(60, "devices=3 steps=60 faults crashes ignores_case keyless");
}

#[test]
fn a_disk_that_ignores_case_loses_nothing_in_a_private_space() {
    run(60, "devices=2 steps=40 faults crashes ignores_case private");
}

#[test]
fn people_who_decide_about_deletions_lose_nothing_else() {
    run_with_gate(100, "devices=2 steps=40 faults crashes gate");
}

#[test]
fn people_who_decide_about_deletions_lose_nothing_beside_others_at_work() {
    run_with_gate(
        60,
        "devices=2 steps=40 faults crashes gate keyless interference",
    );
}

#[test]
fn a_private_space_loses_nothing() {
    run(60, "devices=3 steps=40 faults crashes private");
}

#[test]
fn a_private_space_and_users_who_work_at_any_moment_lose_nothing() {
    run(
        40,
        "devices=3 steps=40 faults crashes private keyless interference",
    );
}

#[test]
fn a_device_that_only_sends_loses_nothing_and_stays_as_its_user_leaves_it() {
    run(200, "devices=2 steps=40 faults crashes upload");
}

#[test]
fn a_device_that_only_receives_loses_nothing_and_changes_nothing_elsewhere() {
    run(200, "devices=2 steps=40 faults crashes download");
}

#[test]
fn a_device_that_only_sends_loses_nothing_by_rules_and_users_at_work() {
    run(
        60,
        "devices=2 steps=40 faults crashes upload nested_rules interference",
    );
}

#[test]
fn a_device_that_only_receives_loses_nothing_by_rules_and_users_at_work() {
    run(
        60,
        "devices=2 steps=40 faults crashes download nested_rules interference",
    );
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let options = options("devices=3 steps=40 faults crashes keyless bad_disks interference");
    for seed in 0..5 {
        assert_eq!(one(seed, options), one(seed, options), "seed {seed}");
    }
}
