//! Bad input, and failures of disk, network and server: each refusal says what happened, to what, and what to do;
//! nothing is lost, and everything else goes on.

use anyhow::{Context, Result, ensure};
use cairn_e2e::dev::Fault;
use cairn_e2e::device::{Device, Options};
use cairn_e2e::mount::SmallDisk;
use cairn_e2e::server::OWNER_KEY;
use cairn_e2e::status::{Problem, Status};
use cairn_e2e::world::Setup;
use cairn_e2e::{Tree, World};
use std::fs;
use std::io::Write;

const MIB: u64 = 1 << 20;

fn two_strangers() -> Result<World> {
    World::with(Setup {
        unlinked: true,
        ..Setup::default()
    })
}

fn stranger(world: &World, name: &str) -> Result<Device> {
    Device::new(world.dir(), name, Options::default())
}

fn login(device: &Device, args: &[String]) -> Result<cairn_e2e::cli::Output> {
    device.cli(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A problem that a person can act on.
fn clear(problem: Option<&Problem>) -> Result<()> {
    let problem = problem.context("no problem is reported")?;
    let complete = [&problem.code, &problem.message, &problem.hint]
        .iter()
        .all(|text| !text.is_empty());
    ensure!(complete, "{problem:?}");
    Ok(())
}

#[test]
fn a_wrong_passphrase_is_refused() -> Result<()> {
    let world = two_strangers()?;
    let c = stranger(&world, "c")?;
    let wrong = world.path("wrong");
    fs::write(&wrong, "battery horse staple correct")?;
    let mut args = c.login_args(&world.server.url(), OWNER_KEY);
    if let Some(at) = args.iter().position(|arg| arg == "--passphrase-file") {
        args[at + 1] = wrong.display().to_string();
    }
    login(&c, &args)?.refuses(1, &["passphrase"])?;
    ensure!(
        c.cli(&["whoami"])?.code == 3,
        "the refused login left something behind"
    );
    world.finish()
}

#[test]
fn a_wrong_api_key_is_refused() -> Result<()> {
    let world = two_strangers()?;
    let c = stranger(&world, "c")?;
    let args = c.login_args(&world.server.url(), "ck_dev_nobody");
    let output = login(&c, &args)?;
    ensure!(
        output.code == 1 || output.code == 3,
        "exit code {}",
        output.code
    );
    output.refuses(output.code, &["key"])?;
    world.finish()
}

#[test]
fn a_login_at_a_dead_address_names_it() -> Result<()> {
    let mut world = two_strangers()?;
    let c = stranger(&world, "c")?;
    let url = world.server.url();
    world.server.kill()?;
    let args = c.login_args(&url, OWNER_KEY);
    let address = url.trim_start_matches("http://");
    login(&c, &args)?.refuses(4, &[address])?;
    world.finish()
}

#[test]
fn commands_without_a_login_say_so() -> Result<()> {
    let world = two_strangers()?;
    let c = stranger(&world, "c")?;
    for command in [
        &["whoami"][..],
        &["list", "/"],
        &["add", "/tmp", "--remote", "/x"],
    ] {
        c.cli(command)?.refuses(3, &["login"])?;
    }
    world.finish()
}

#[test]
fn wrong_usage_differs_from_failure() -> Result<()> {
    let world = two_strangers()?;
    for wrong in [
        &["dance"][..],
        &["status", "--timeout", "soon"],
        &["confirm", "x", "maybe"],
    ] {
        let output = world.a.cli(wrong)?;
        ensure!(
            output.code == 2,
            "{wrong:?} ended with {}: {}",
            output.code,
            output.printed_text()
        );
    }
    world.finish()
}

#[test]
fn a_folder_that_can_not_be_made_is_named() -> Result<()> {
    let world = two_strangers()?;
    let path = world.path("missing/deeper").display().to_string();
    world
        .a
        .cli(&["add", &path, "--remote", "/x"])?
        .refuses(2, &[&path])?;
    let file = world.path("passphrase").display().to_string();
    let output = world.a.cli(&["add", &file, "--remote", "/x"])?;
    ensure!(
        output.code == 1 || output.code == 2,
        "exit code {}",
        output.code
    );
    output.refuses(output.code, &[&file, "folder"])?;
    world.finish()
}

#[test]
fn a_folder_inside_a_synced_one_can_not_be_added() -> Result<()> {
    let world = World::with_base("d/a=1")?;
    let inner = world.a.files().path("d").display().to_string();
    let output = world.a.cli(&["add", &inner, "--remote", "/other"])?;
    ensure!(
        output.code == 1 || output.code == 2,
        "exit code {}: {}",
        output.code,
        output.printed_text()
    );
    output.refuses(output.code, &[&inner])?;
    world.finish()
}

#[test]
fn a_second_daemon_on_one_home_is_refused() -> Result<()> {
    let world = World::with_base("a=1")?;
    world.a.cli(&["daemon"])?.refuses(1, &["already", "stop"])?;
    world.a.files().run("b=2")?;
    world.settle()?;
    world.expect(&Tree::literal("a=1; b=2"))?;
    world.finish()
}

#[test]
fn a_misspelt_setting_is_named_with_its_line() -> Result<()> {
    let world = two_strangers()?;
    let config = world.a.home().join("config.toml");
    let before = fs::read_to_string(&config).unwrap_or_default();
    let line = before.lines().count() + 2;
    fs::write(&config, format!("{before}\nfrobnicate_everything = true\n"))?;
    for command in [&["daemon"][..], &["config", "get"], &["limits"]] {
        let output = world.a.cli(command)?;
        ensure!(
            output.code == 1 || output.code == 2,
            "{command:?} ended with {}",
            output.code
        );
        output.refuses(
            output.code,
            &[
                "frobnicate_everything",
                "config.toml",
                &format!("line {line}"),
            ],
        )?;
    }
    world.finish()
}

#[test]
fn an_index_of_garbage_loses_no_file() -> Result<()> {
    let mut world = World::with_base("a=1; d/b=2")?;
    world.a.stop()?;
    for entry in fs::read_dir(world.a.home())? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("index.db") {
            fs::write(
                entry.path(),
                b"this is no database at all, it is garbage".repeat(200),
            )?;
        }
    }
    world.a.start()?;
    ensure!(
        world.a.status()?.folders.len() == 1,
        "the folder pair went with the index"
    );
    world.a.files().run("c=3")?;
    world.settle()?;
    world.expect(&Tree::literal("a=1; d/b=2; c=3"))?;
    world.finish()
}

#[test]
fn an_unreadable_file_is_reported_and_the_others_sync() -> Result<()> {
    let world = World::with(Setup {
        a: Options::without_root_powers(),
        ..Setup::default()
    })?;
    world.base("a=1; locked=old")?;
    let files = world.a.files();
    files.run("locked=a new content; b=2")?;
    files.chmod("locked", 0)?;
    let status = world.a.wait_status("it is reported", |status| {
        status.problem_at("locked").is_some()
    })?;
    clear(status.problem_at("locked"))?;
    world
        .b
        .wait_status("the other file arrives", |_| world.b.files().exists("b"))?;
    ensure!(
        world.b.files().exists("locked"),
        "an unreadable file was taken for a deleted one"
    );
    files.chmod("locked", 0o644)?;
    world.a.must(&["sync"])?;
    world.a.wait_status("the report ends", |status| {
        status.problem_at("locked").is_none()
    })?;
    world.settle()?;
    world.expect(&Tree::literal("a=1; locked=a new content; b=2"))?;
    world.finish()
}

#[test]
fn s198_an_unreadable_folder_deletes_nothing_under_it() -> Result<()> {
    let world = World::with(Setup {
        a: Options::without_root_powers(),
        ..Setup::default()
    })?;
    world.base("closed/x=1; closed/deep/y=2; open/z=3")?;
    let files = world.a.files();
    files.chmod("closed", 0)?;
    files.run("open/new=n")?;
    world.a.must(&["sync"])?;
    let reported = |status: &Status| status.problem_at("closed").is_some();
    let status = world.a.wait_status("the folder is reported", reported)?;
    clear(status.problem_at("closed"))?;
    world
        .b
        .wait_status("the rest syncs", |_| world.b.files().exists("open/new"))?;
    let all = Tree::literal("closed/x=1; closed/deep/y=2; open/z=3; open/new=n");
    let difference = all.difference(&world.b.tree()?);
    ensure!(difference.is_none(), "{}", difference.unwrap_or_default());
    files.chmod("closed", 0o755)?;
    world.a.must(&["sync"])?;
    world.settle()?;
    world.expect(&all)?;
    world.finish()
}

#[test]
fn a_folder_without_the_right_to_write_goes_to_the_trash_and_out_of_it() -> Result<()> {
    let world = World::with(Setup {
        a: Options::without_root_powers(),
        ..Setup::default()
    })?;
    world.base("closed/x=1; open/y=2")?;
    let files = world.a.files();
    files.chmod("closed", 0o555)?;
    world.b.files().run("rm -r closed")?;
    world.settle()?;
    world.expect(&Tree::literal("open/y=2"))?;
    let kept = fs::read_dir(files.path(".cairn-trash"))?.flatten();
    let mut kept = kept.filter(|entry| entry.path().join("closed").is_dir());
    let bucket = kept.next().context("it is not in the trash")?;
    let name = bucket.file_name().to_string_lossy().into_owned();
    let mode = files.mode(format!(".cairn-trash/{name}/closed"))?;
    ensure!(mode == 0o555, "{mode:o}");
    let root = world.a.root_text();
    world.a.must(&["trash", "empty", &root, "--yes"])?;
    ensure!(!bucket.path().exists(), "it can't be deleted");
    world.finish()
}

#[test]
fn s210_a_full_disk_holds_up_only_what_does_not_fit() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let disk = SmallDisk::mount(dir.path().join("small"), 6 * MIB)?;
    let world = World::with(Setup {
        b: Options {
            root: Some(disk.path().join("folder")),
            ..Options::default()
        },
        ..Setup::default()
    })?;
    world.a.files().run("small=s")?;
    world.a.files().write_random("big", 12 * MIB, 210)?;
    world.a.wait_idle()?;
    let status = world
        .b
        .wait_status("B says that its disk is full", |status| {
            status.problem_at("big").is_some()
        })?;
    clear(status.problem_at("big"))?;
    ensure!(status.state == "attention", "{status:?}");
    let message = status.problem_at("big").map(|problem| &*problem.message);
    let internal = |text: &str| text.contains(".cairn-tmp") || text.contains("os error");
    ensure!(message.is_some_and(|text| !internal(text)), "{message:?}");
    ensure!(
        !world.b.files().exists("big"),
        "a part of the file is at its path"
    );
    world.b.wait_status("the small file arrives", |_| {
        world.b.files().exists("small")
    })?;
    disk.resize(64 * MIB)?;
    world.b.must(&["sync"])?;
    world.b.wait_status("the report ends", |status| {
        status.problem_at("big").is_none()
    })?;
    world.settle()?;
    let tree = world.equal()?;
    ensure!(
        tree.file("big").is_some_and(|big| big.size == 12 * MIB),
        "{tree}"
    );
    world.steady()?;
    world.finish()
}

#[test]
fn a_full_account_is_reported_and_smaller_files_sync_on() -> Result<()> {
    let world = World::with_base("a=1")?;
    let dev = world.server.dev();
    dev.set_quota("owner@example.com", MIB)?;
    world.a.files().write_random("big", 5 * MIB, 507)?;
    let status = world.a.wait_status("it is reported", |status| {
        status.problem_at("big").is_some()
    })?;
    clear(status.problem_at("big"))?;
    world.a.files().run("little=l")?;
    world.b.wait_status("the little file arrives", |_| {
        world.b.files().exists("little")
    })?;
    ensure!(!world.b.files().exists("big"));
    dev.set_quota("owner@example.com", 1 << 30)?;
    world.a.must(&["sync"])?;
    world.a.wait_status("the report ends", |status| {
        status.problem_at("big").is_none()
    })?;
    world.settle()?;
    world.equal()?;
    ensure!(world.b.files().exists("big"));
    world.finish()
}

#[test]
fn a_month_without_bandwidth_is_reported_and_what_moves_no_content_goes_on() -> Result<()> {
    let world = World::with_base("a=1; b=2")?;
    let dev = world.server.dev();
    dev.set_bandwidth("owner@example.com", 1)?;
    world.a.files().run("new=content; mkdir d; mv a d/a")?;
    let status = world.a.wait_status("it is reported", |status| {
        status.problem_at("new").is_some()
    })?;
    let problem = status.problem_at("new");
    clear(problem)?;
    ensure!(
        problem.is_some_and(|p| p.code == "quota" && p.message.contains("bandwidth")),
        "{problem:?}"
    );
    world.b.wait_status("what was moved is moved", |_| {
        world.b.files().exists("d/a") && !world.b.files().exists("a")
    })?;
    ensure!(!world.b.files().exists("new"));
    dev.set_bandwidth("owner@example.com", 1 << 30)?;
    world.a.must(&["sync"])?;
    world.settle()?;
    world.expect(&Tree::literal("d/a=1; b=2; new=content"))?;
    world.steady()?;
    world.finish()
}

#[test]
fn a_file_that_is_still_being_written_arrives_whole() -> Result<()> {
    let world = World::two_devices()?;
    let path = world.a.files().path("growing");
    let mut file = fs::File::create(&path)?;
    let mut expected = Vec::new();
    // Slower than the scan: between two lines the daemon has time to look.
    for n in 0..40 {
        let line = format!("line {n} {}\n", "x".repeat(100_000));
        file.write_all(line.as_bytes())?;
        expected.extend_from_slice(line.as_bytes());
        world.a.status()?;
    }
    drop(file);
    world.settle()?;
    world.expect(&Tree::default().with_file("growing", expected))?;
    world.finish()
}

#[test]
fn a_key_that_the_server_refuses_is_reported_and_nothing_is_lost() -> Result<()> {
    let world = World::with_base("a=1")?;
    let dev = world.server.dev();
    dev.fault(&Fault::on("/api/v1/*").status(401))?;
    world.a.files().run("b=2; rm a")?;
    world.a.cli(&["sync"])?.refuses(3, &["cairn login"])?;
    let status = world
        .a
        .wait_status("A says that it is locked out", |status| {
            status.state != "idle" && status.state != "syncing"
        })?;
    let problem = status
        .problems()
        .find(|problem| problem.hint.contains("login"));
    ensure!(problem.is_some() || status.state == "error", "{status:?}");
    dev.clear_faults()?;
    world.a.must(&["sync"])?;
    world.settle()?;
    world.expect(&Tree::literal("b=2"))?;
    world.finish()
}

#[test]
fn a_server_that_fails_for_a_while_is_waited_for() -> Result<()> {
    let world = World::with_base("a=1")?;
    let dev = world.server.dev();
    dev.fault(&Fault::on("/api/v1/uploads*").status(500).times(12))?;
    world.a.files().run("a=edited; b=2; d/c=3")?;
    world.settle()?;
    world.expect(&Tree::literal("a=edited; b=2; d/c=3"))?;
    world.finish()
}

#[test]
fn sigterm_ends_the_daemon_and_loses_nothing() -> Result<()> {
    let mut world = World::with_base("a=1")?;
    for n in 0..200 {
        world
            .a
            .files()
            .write(format!("d/{n}"), format!("content {n}"))?;
    }
    world.a.stop()?;
    ensure!(
        world.a.cli(&["status"])?.code != 0,
        "a stopped daemon answers"
    );
    world.a.start()?;
    world.settle()?;
    let tree = world.equal()?;
    ensure!(tree.files().count() == 201, "{tree}");
    world.steady()?;
    world.finish()
}

#[test]
fn a_paused_device_changes_nothing() -> Result<()> {
    let world = World::with_base("a=1; b=2")?;
    world.b.pause()?;
    ensure!(world.b.status()?.state == "paused");
    let before = world.b.counters()?;
    world.a.files().run("a=edited; rm b; c=3")?;
    world.b.files().run("d=4")?;
    world.a.wait_idle()?;
    let difference = Tree::literal("a=1; b=2; d=4").difference(&world.b.tree()?);
    ensure!(difference.is_none(), "{}", difference.unwrap_or_default());
    assert_eq!(world.b.counters()?.effects(), before.effects());
    world.b.resume()?;
    world.settle()?;
    world.expect(&Tree::literal("a=edited; c=3; d=4"))?;
    world.finish()
}

#[test]
fn a_folder_whose_remote_path_is_a_file_waits_alone() -> Result<()> {
    let mut world = World::with(Setup {
        unlinked: true,
        ..Setup::default()
    })?;
    world.a.add(&World::remote_folder())?;
    world.a.start()?;
    world.a.files().run("f=file; other=o")?;
    world.a.wait_idle()?;
    let (below, second) = (
        format!("{}/f", World::remote_folder()),
        world.path("second"),
    );
    fs::create_dir(&second)?;
    let second = second.to_string_lossy().into_owned();
    // It has not seen the service yet, so it can't know.
    world.b.must(&["add", &second, "--remote", &below])?;
    world.b.add(&World::remote_folder())?;
    world.b.start()?;
    let status = world.b.wait_status(
        "the good folder syncs, the other one says why not",
        |status| {
            world.b.files().exists("other")
                && status
                    .folders
                    .iter()
                    .any(|folder| folder.local == second && folder.state == "error")
        },
    )?;
    for folder in &status.folders {
        let codes: Vec<&str> = folder.errors.iter().map(|p| p.code.as_str()).collect();
        let expected: &[&str] = if folder.local == second {
            &["remote_is_file"]
        } else {
            &[]
        };
        ensure!(codes == expected, "{folder:?}");
    }
    world
        .b
        .cli(&["add", &format!("{second}2"), "--remote", &below])?
        .refuses(2, &["is a file on the service"])?;
    world.a.files().run("mv f g")?;
    world
        .b
        .wait_status("it is linked when the name is free", |status| {
            status.state == "idle" && world.b.files().exists("g")
        })?;
    world.a.wait_idle()?;
    ensure!(
        world.a.files().exists("f"),
        "the remote folder was not made"
    );
    Ok(())
}
