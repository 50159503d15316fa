//! Properties of the whole system (devices become equal, nothing is lost), over many seeds. `CAIRN_SIM_SEEDS=N` runs
//! more; `CAIRN_SIM_SEED=S` runs one in each test, and `RUST_LOG=cairn_engine=trace` tells what the engines do
//! meanwhile.

use cairn_model::SyncMode;
use cairn_sim::random_run::{Outcome, RunOptions, run_seed};
use cairn_sim::time::simulate;

fn seeds(default: u64) -> Vec<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    match (number("CAIRN_SIM_SEED"), number("CAIRN_SIM_SEEDS")) {
        (Some(one), _) => vec![one],
        (None, Some(many)) => (0..many).collect(),
        (None, None) => (0..default).collect(),
    }
}

fn run(options: RunOptions, default: u64) {
    if std::env::var_os("CAIRN_SIM_SEED").is_some() {
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
    let mut broken = Vec::new();
    for seed in seeds(default) {
        if let Err(failure) = one(seed, options) {
            eprintln!("{failure}\n");
            broken.push(seed);
            if broken.len() >= 5 {
                break;
            }
        }
    }
    assert!(
        broken.is_empty(),
        "broken with {options:?}, seeds {broken:?}"
    );
}

fn one(seed: u64, options: RunOptions) -> Result<Outcome, String> {
    simulate(run_seed(seed, options))
}

#[test]
fn two_devices_on_good_lines_become_equal_and_lose_nothing() {
    run(
        RunOptions {
            devices: 2,
            steps: 30,
            ..RunOptions::default()
        },
        300,
    );
}

#[test]
fn one_editor_alone_makes_no_conflict_copy() {
    run(
        RunOptions {
            devices: 2,
            steps: 30,
            faults: true,
            crashes: true,
            one_editor: true,
            ..RunOptions::default()
        },
        300,
    );
}

#[test]
fn bad_lines_lose_nothing() {
    run(
        RunOptions {
            devices: 3,
            steps: 30,
            faults: true,
            ..RunOptions::default()
        },
        300,
    );
}

#[test]
fn crashes_lose_nothing() {
    run(
        RunOptions {
            devices: 2,
            steps: 40,
            faults: true,
            crashes: true,
            ..RunOptions::default()
        },
        300,
    );
}

#[test]
fn what_somebody_does_on_the_service_without_keys_loses_nothing() {
    run(
        RunOptions {
            devices: 2,
            steps: 40,
            faults: true,
            crashes: true,
            keyless: true,
            ..RunOptions::default()
        },
        300,
    );
}

#[test]
fn what_the_server_loses_comes_back_from_the_devices() {
    run(
        RunOptions {
            devices: 2,
            steps: 40,
            faults: true,
            crashes: true,
            damaged_objects: true,
            ..RunOptions::default()
        },
        40,
    );
}

#[test]
fn bad_disks_lose_nothing() {
    run(
        RunOptions {
            devices: 2,
            steps: 40,
            crashes: true,
            bad_disks: true,
            ..RunOptions::default()
        },
        200,
    );
}

#[test]
fn users_who_work_at_any_moment_lose_nothing() {
    run(
        RunOptions {
            devices: 2,
            steps: 30,
            crashes: true,
            interference: true,
            ..RunOptions::default()
        },
        200,
    );
}

#[test]
fn one_editor_alone_makes_no_conflict_copy_on_a_bad_disk() {
    run(
        RunOptions {
            devices: 2,
            steps: 40,
            faults: true,
            one_editor: true,
            bad_disks: true,
            ..RunOptions::default()
        },
        200,
    );
}

#[test]
fn devices_become_equal_without_being_made_to_look() {
    run(
        RunOptions {
            devices: 3,
            steps: 30,
            faults: true,
            crashes: true,
            unprompted: true,
            ..RunOptions::default()
        },
        200,
    );
}

#[test]
fn rules_that_change_at_any_time_lose_nothing() {
    run(
        RunOptions {
            devices: 2,
            steps: 40,
            faults: true,
            crashes: true,
            rules: true,
            ..RunOptions::default()
        },
        200,
    );
}

#[test]
fn rules_of_folders_that_move_lose_nothing() {
    run(
        RunOptions {
            devices: 3,
            steps: 40,
            faults: true,
            crashes: true,
            nested_rules: true,
            ..RunOptions::default()
        },
        100,
    );
}

#[test]
fn rules_of_folders_that_move_lose_nothing_beside_a_user_at_work() {
    run(
        RunOptions {
            devices: 3,
            steps: 60,
            faults: true,
            crashes: true,
            nested_rules: true,
            interference: true,
            ..RunOptions::default()
        },
        40,
    );
}

#[test]
fn rules_of_folders_that_move_need_no_look() {
    run(
        RunOptions {
            devices: 3,
            steps: 60,
            faults: true,
            crashes: true,
            nested_rules: true,
            unprompted: true,
            ..RunOptions::default()
        },
        100,
    );
}

#[test]
fn what_one_device_leaves_out_is_not_lost() {
    run(
        RunOptions {
            devices: 2,
            steps: 40,
            faults: true,
            crashes: true,
            choice: true,
            ..RunOptions::default()
        },
        200,
    );
}

#[test]
fn a_disk_that_ignores_case_loses_nothing() {
    run(
        RunOptions {
            devices: 2,
            steps: 40,
            faults: true,
            crashes: true,
            ignores_case: true,
            ..RunOptions::default()
        },
        200,
    );
}

#[test]
fn a_private_space_loses_nothing() {
    run(
        RunOptions {
            devices: 3,
            steps: 40,
            faults: true,
            crashes: true,
            private: true,
            ..RunOptions::default()
        },
        60,
    );
}

#[test]
fn a_private_space_and_users_who_work_at_any_moment_lose_nothing() {
    run(
        RunOptions {
            devices: 3,
            steps: 40,
            faults: true,
            crashes: true,
            private: true,
            keyless: true,
            interference: true,
            ..RunOptions::default()
        },
        40,
    );
}

#[test]
fn a_device_that_only_sends_loses_nothing_and_stays_as_its_user_leaves_it() {
    run(one_way(SyncMode::Upload), 200);
}

#[test]
fn a_device_that_only_receives_loses_nothing_and_changes_nothing_elsewhere() {
    run(one_way(SyncMode::Download), 200);
}

fn one_way(mode: SyncMode) -> RunOptions {
    RunOptions {
        devices: 2,
        steps: 40,
        faults: true,
        crashes: true,
        mode,
        ..RunOptions::default()
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let options = RunOptions {
        devices: 3,
        steps: 40,
        faults: true,
        crashes: true,
        keyless: true,
        bad_disks: true,
        interference: true,
        ..RunOptions::default()
    };
    for seed in 0..5 {
        assert_eq!(one(seed, options), one(seed, options), "seed {seed}");
    }
}
