//! Kills, cut transfers and races (scenarios S200–S218). After each the result is as without them.

use anyhow::{Result, ensure};
use cairn_e2e::dev::{Dev, Fault, Request};
use cairn_e2e::world::Setup;
use cairn_e2e::{First, Scenario, Tree, World, wait};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;
/// Slow enough that half of 100 MiB is a moment that can be caught.
const SLOW: &str = "24M";

fn is_chunk_up(request: &Request) -> bool {
    request.method == "PUT" && request.path.contains("/chunks/") && request.status < 300
}

fn is_chunk_down(request: &Request) -> bool {
    request.method == "GET" && request.path.contains("/chunks/") && request.status < 300
}

fn sent_bytes(dev: &Dev) -> Result<u64> {
    Ok(dev
        .requests()?
        .iter()
        .filter(|r| is_chunk_up(r))
        .map(|r| r.request_bytes)
        .sum())
}

fn fetched_bytes(dev: &Dev) -> Result<u64> {
    Ok(dev
        .requests()?
        .iter()
        .filter(|r| is_chunk_down(r))
        .map(|r| r.response_bytes)
        .sum())
}

#[test]
fn s200_a_killed_upload_goes_on_where_it_was() -> Result<()> {
    let mut world = World::two_devices()?;
    let dev = world.server.dev();
    world.a.must(&["limits", "--up", SLOW])?;
    dev.forget_requests()?;
    world.a.files().write_random("big", 100 * MIB, 200)?;
    wait::holds("half of the file is on the server", wait::SYNC, || {
        Ok(sent_bytes(&dev)? > 50 * MIB)
    })?;
    world.a.kill9()?;
    ensure!(!world.b.files().exists("big"), "B shows a partial file");
    world.a.start()?;
    world.a.must(&["limits", "--up", "off"])?;
    world.settle()?;
    let tree = world.equal()?;
    ensure!(
        tree.file("big")
            .is_some_and(|content| content.size == 100 * MIB)
    );
    let total = sent_bytes(&dev)?;
    ensure!(total < 112 * MIB, "{total} bytes were sent for 100 MiB");
    world.steady()?;
    world.finish()
}

#[test]
fn s201_a_killed_download_goes_on_where_it_was() -> Result<()> {
    let mut world = World::two_devices()?;
    let dev = world.server.dev();
    world.b.must(&["limits", "--down", SLOW])?;
    dev.forget_requests()?;
    world.a.files().write_random("big", 100 * MIB, 201)?;
    wait::holds("half of the file is on B", wait::SYNC, || {
        Ok(fetched_bytes(&dev)? > 50 * MIB)
    })?;
    world.b.kill9()?;
    ensure!(!world.b.files().exists("big"), "B shows a partial file");
    dev.forget_requests()?;
    world.b.start()?;
    world.b.must(&["limits", "--down", "off"])?;
    world.settle()?;
    world.equal()?;
    let again = fetched_bytes(&dev)?;
    ensure!(again < 80 * MIB, "{again} bytes were fetched again");
    world.steady()?;
    world.finish()
}

#[test]
fn s203_a_killed_deletion_ends_complete() -> Result<()> {
    let base = (0..120).fold(String::new(), |mut text, n| {
        let _ = write!(text, "d/{n}=content {n};");
        text
    });
    let mut world = World::with_base(&base)?;
    let (dev, service) = (world.server.dev(), world.server.service());
    let cursor = service.cursor()?;
    dev.fault(&Fault::on("/api/v1/nodes*").latency_ms(20))?;
    for n in 0..50 {
        world.a.files().remove(format!("d/{n}"))?;
    }
    wait::holds("some deletions are on the server", wait::SYNC, || {
        Ok(service.changes_since(&cursor)? >= 1)
    })?;
    world.a.kill9()?;
    dev.clear_faults()?;
    world.a.start()?;
    world.settle()?;
    let rest = (50..120).fold(String::new(), |mut text, n| {
        let _ = write!(text, "d/{n}=content {n};");
        text
    });
    world.expect(&Tree::literal(&rest))?;
    world.finish()
}

#[test]
fn s205_an_edit_during_a_download_is_kept() -> Result<()> {
    let world = World::two_devices()?;
    world.a.files().write_random("f", 16 * MIB, 1)?;
    world.settle()?;
    let dev = world.server.dev();
    world.b.must(&["limits", "--down", "4M"])?;
    dev.forget_requests()?;
    world.a.files().write_random("f", 16 * MIB, 2)?;
    let by_a = world.a.tree()?.file("f").cloned();
    // A fetches a list of chunks before it sends: only a chunk after its revision goes to B.
    wait::holds("B downloads", wait::SYNC, || {
        let requests = dev.requests()?;
        let is_commit = |r: &Request| r.path.ends_with("/complete") && r.status < 300;
        let committed = requests.iter().position(is_commit);
        Ok(committed.is_some_and(|at| requests[at..].iter().any(is_chunk_down)))
    })?;
    world.b.files().write("f", "edited on b")?;
    world.b.must(&["limits", "--down", "off"])?;
    world.settle()?;
    let tree = world.equal()?;
    ensure!(tree.file("f") == by_a.as_ref(), "f is not A's:\n{tree}");
    ensure!(
        tree.files().count() == 2 && tree.count_of(b"edited on b") == 1,
        "B's edit is lost:\n{tree}"
    );
    world.steady()?;
    world.finish()
}

#[test]
fn s206_a_file_written_just_before_its_deletion_arrives_is_kept() -> Result<()> {
    let world = World::with_base("f=old; g=g")?;
    world.a.files().run("rm f")?;
    wait::holds("the deletion is on the server", wait::SYNC, || {
        Ok(!world.server.service().tree()?.contains_key("f"))
    })?;
    world.b.files().run("f=written on b")?;
    world.settle()?;
    world.expect(&Tree::literal("f=written on b; g=g"))?;
    world.finish()
}

#[test]
fn s206_a_file_written_just_before_its_folders_deletion_arrives_is_kept() -> Result<()> {
    let world = World::with_base("d/f=old; d/e/g=g; h=h")?;
    world.a.files().run("rm -r d")?;
    wait::holds("the deletion is on the server", wait::SYNC, || {
        Ok(!world.server.service().tree()?.contains_key("d"))
    })?;
    world.b.files().run("d/f=written on b")?;
    world.settle()?;
    world.expect(&Tree::literal("d/f=written on b; h=h"))?;
    world.finish()
}

#[test]
fn s208_one_file_that_fails_three_times_holds_up_no_other() -> Result<()> {
    let world = World::two_devices()?;
    let dev = world.server.dev();
    // A big file goes by an upload of its own; small ones travel in batches.
    dev.fault(
        &Fault::on("/api/v1/uploads")
            .method("POST")
            .status(500)
            .times(3),
    )?;
    world.a.files().write_random("big", 3 * MIB, 208)?;
    world.a.files().run("s1=1; s2=2; d/s3=3")?;
    world.settle()?;
    let tree = world.equal()?;
    ensure!(tree.files().count() == 4, "{tree}");
    ensure!(
        dev.fault_hits()? == 3,
        "the fault struck {} times",
        dev.fault_hits()?
    );
    world.steady()?;
    world.finish()
}

#[test]
fn s211_a_chunk_corrupted_on_its_way_is_fetched_again() -> Result<()> {
    let world = World::two_devices()?;
    let dev = world.server.dev();
    dev.fault(&Fault::on("*/chunks/*").method("GET").corrupt().times(1))?;
    world.a.files().write_random("big", 5 * MIB, 211)?;
    world.settle()?;
    ensure!(dev.fault_hits()? == 1, "no chunk was corrupted");
    world.equal()?;
    world.steady()?;
    world.finish()
}

#[test]
fn s211_content_that_never_opens_is_reported_and_never_shown() -> Result<()> {
    let world = World::with_base("other=o")?;
    let dev = world.server.dev();
    dev.fault(&Fault::on("*/chunks/*").method("GET").corrupt())?;
    world.a.files().write_random("big", 5 * MIB, 212)?;
    world.a.wait_idle()?;
    let status = world
        .b
        .wait_status("B reports it", |status| status.problem_at("big").is_some())?;
    let problem = status.problem_at("big").cloned();
    ensure!(
        problem
            .as_ref()
            .is_some_and(|p| p.code.contains("auth") && !p.hint.is_empty()),
        "{problem:?}"
    );
    ensure!(
        !world.b.files().exists("big"),
        "unverified content is at the final path"
    );
    world.a.files().run("another=a")?;
    world
        .b
        .wait_status("other files sync on", |_| world.b.files().exists("another"))?;
    dev.clear_faults()?;
    world.b.must(&["sync"])?;
    world.settle()?;
    world.equal()?;
    ensure!(world.b.files().exists("big"));
    world.steady()?;
    world.finish()
}

#[test]
fn a_past_state_served_as_the_present_one_is_refused_and_reported() -> Result<()> {
    let world = World::with_base("f=v1; other=o")?;
    let dev = world.server.dev();
    dev.fault(&Fault::on("/api/v1/changes$").say("replay"))?;
    for seen in ["f=v2", "f=v3"] {
        world.a.files().run(seen)?;
        world.settle()?;
    }
    world.a.files().run("f=v4; new=n")?;
    let status = world
        .b
        .wait_status("B reports it", |status| status.problem_at("f").is_some())?;
    let problem = status.problem_at("f").cloned();
    ensure!(
        problem
            .as_ref()
            .is_some_and(|p| p.code == "rollback" && !p.hint.is_empty()),
        "{problem:?}"
    );
    world
        .b
        .wait_status("other files sync on", |_| world.b.files().exists("new"))?;
    ensure!(world.b.files().read("f")? == b"v3");
    dev.clear_faults()?;
    world.a.files().run("f=v5")?;
    world.settle()?;
    world.expect(&Tree::literal("f=v5; other=o; new=n"))?;
    world.steady()?;
    world.finish()
}

#[test]
fn s213_a_restart_before_the_sync_changes_no_result() {
    Scenario::new("S213/S022")
        .base("f.txt=v0")
        .a("f.txt=A-edit")
        .b("f.txt=B-edit!!")
        .expect_if_first(First::A, "f.txt=A-edit; CC(f.txt)=B-edit!!")
        .expect_if_first(First::B, "f.txt=B-edit!!; CC(f.txt)=A-edit")
        .swapped()
        .restarted_before_sync()
        .run();
    Scenario::new("S213/S040")
        .base("a=v1")
        .a("a=edited-longer")
        .b("rm a")
        .expect("a=edited-longer")
        .swapped()
        .restarted_before_sync()
        .run();
    Scenario::new("S213/S130")
        .base("x=f")
        .a("rm x; mkdir x; x/in=in")
        .expect("x/in=in")
        .restarted_before_sync()
        .run();
}

#[test]
fn s215_what_both_did_while_off_is_united() -> Result<()> {
    let mut base = String::new();
    for who in ["a", "b"] {
        for n in 0..5 {
            let _ = write!(
                base,
                "{who}/edit{n}=old; {who}/gone{n}=gone; {who}/name{n}={who} name {n};"
            );
        }
    }
    let mut world = World::with_base(&base)?;
    world.a.stop()?;
    world.b.stop()?;
    let mut expected = String::new();
    for (who, device) in [("a", &world.a), ("b", &world.b)] {
        for n in 0..5 {
            device.files().run(&format!(
                "{who}/add{n}={who} add {n}; {who}/edit{n}={who} edited {n}; rm {who}/gone{n}; \
                 mv {who}/name{n} {who}/renamed{n}"
            ))?;
            let _ = write!(
                expected,
                "{who}/add{n}={who} add {n}; {who}/edit{n}={who} edited {n}; {who}/renamed{n}={who} name {n};"
            );
        }
    }
    world.a.start()?;
    world.b.start()?;
    world.settle()?;
    world.expect(&Tree::literal(&expected))?;
    world.finish()
}

#[test]
fn s216_a_file_renamed_during_its_upload_is_one_file_at_the_new_name() -> Result<()> {
    let world = World::two_devices()?;
    let dev = world.server.dev();
    world.a.must(&["limits", "--up", "8M"])?;
    dev.forget_requests()?;
    world.a.files().write_random("f", 24 * MIB, 216)?;
    dev.wait_for_request("A uploads", is_chunk_up)?;
    world.a.files().run("mv f g")?;
    world.a.must(&["limits", "--up", "off"])?;
    world.settle()?;
    let tree = world.equal()?;
    ensure!(
        tree.0.len() == 1 && tree.file("g").is_some_and(|g| g.size == 24 * MIB),
        "{tree}"
    );
    world.steady()?;
    world.finish()
}

#[test]
fn s218_a_token_refused_once_interrupts_nothing() -> Result<()> {
    let world = World::two_devices()?;
    world
        .server
        .dev()
        .fault(&Fault::on("/api/v1/uploads*").status(401).times(1))?;
    world.a.files().run("a=1; d/b=2")?;
    world.settle()?;
    world.expect(&Tree::literal("a=1; d/b=2"))?;
    world.finish()
}

#[test]
fn s218_a_rate_limit_is_waited_for() -> Result<()> {
    const SECONDS: u64 = 2;
    let world = World::two_devices()?;
    let dev = world.server.dev();
    dev.fault(
        &Fault::on("/api/v1/uploads*")
            .status(429)
            .retry_after(SECONDS)
            .times(1),
    )?;
    world.a.files().run("a=1; d/b=2")?;
    dev.wait_for_hits(1)?;
    let start = Instant::now();
    world.settle()?;
    // The hit was noticed a moment after it happened.
    let least = Duration::from_secs(SECONDS) - Duration::from_millis(200);
    ensure!(
        start.elapsed() >= least,
        "it did not wait: {:?}",
        start.elapsed()
    );
    world.expect(&Tree::literal("a=1; d/b=2"))?;
    world.finish()
}

#[test]
fn a_killed_server_loses_nothing_and_the_devices_go_on() -> Result<()> {
    let mut world = World::with(Setup {
        durable: true,
        ..Setup::default()
    })?;
    world.base("a=1")?;
    world.server.kill()?;
    world.a.files().run("a=edited; b=new")?;
    world.b.files().run("c=new too")?;
    for device in [&world.a, &world.b] {
        let refused = device.cli(&["sync"])?;
        refused.refuses(4, &["can't be reached", "sent later"])?;
        ensure!(refused.json()?["error"]["code"] == 4, "{refused:?}");
        device.wait_status("the device says that it is offline", |status| {
            status.state == "offline"
        })?;
    }
    world.server.restart()?;
    for device in [&world.a, &world.b] {
        device.must(&["sync"])?;
    }
    world.settle()?;
    world.expect(&Tree::literal("a=edited; b=new; c=new too"))?;
    world.finish()
}

#[test]
fn connections_cut_in_the_middle_are_made_again() -> Result<()> {
    let world = World::two_devices()?;
    let dev = world.server.dev();
    dev.fault(
        &Fault::on("*/chunks/*")
            .method("GET")
            .cut_after(1000)
            .times(3),
    )?;
    dev.fault(&Fault::on("/api/v1/changes*").cut_after(10).times(2))?;
    world.a.files().write_random("big", 6 * MIB, 7)?;
    world.a.files().run("small=s")?;
    world.settle()?;
    let tree = world.equal()?;
    ensure!(tree.files().count() == 2, "{tree}");
    ensure!(
        dev.fault_hits()? >= 4,
        "only {} cuts happened",
        dev.fault_hits()?
    );
    world.steady()?;
    world.finish()
}

#[test]
fn killing_a_device_at_any_moment_of_a_sync_converges() -> Result<()> {
    let mut world = World::two_devices()?;
    let mut expected = Tree::default();
    for round in 0..6_u64 {
        world.server.dev().forget_requests()?;
        for n in 0..30 {
            let path = format!("r{round}/{n}");
            let content = format!("round {round}, file {n}");
            world.a.files().write(&path, &content)?;
            expected = expected.with_file(path, content);
        }
        // Later in each round: before the scan, in the upload, in the other's download.
        wait::holds("a few requests came", wait::SYNC, || {
            Ok(world.server.dev().requests()?.len() as u64 >= round)
        })?;
        if round % 2 == 0 {
            world.a.kill9()?;
            world.a.start()?;
        } else {
            world.b.kill9()?;
            world.b.start()?;
        }
    }
    world.settle()?;
    world.expect(&expected)?;
    world.finish()
}

#[test]
fn a_folder_deleted_while_a_file_goes_up_into_it_lives_with_that_file() -> Result<()> {
    let world = World::with_base("d/a=1; k=2")?;
    let dev = world.server.dev();
    world.b.must(&["limits", "--up", "8M"])?;
    world.b.files().write_random("d/big", 24 * MIB, 207)?;
    wait::until("the upload runs", wait::SYNC, || {
        Ok(dev.requests()?.iter().any(is_chunk_up).then_some(()))
    })?;
    world.a.files().run("rm -r d")?;
    world.a.wait_idle()?;
    world.b.must(&["limits", "--up", "off"])?;
    world.settle()?;
    let tree = world.equal()?;
    ensure!(tree.file("d/big").is_some(), "{tree:?}");
    ensure!(tree.file("d/a").is_none(), "{tree:?}");
    world.steady()?;
    world.finish()
}

#[test]
fn a_pause_holds_transfers_that_run_and_they_go_on_afterwards() -> Result<()> {
    let world = World::two_devices()?;
    let dev = world.server.dev();
    world.a.must(&["limits", "--up", "4M"])?;
    world.a.files().write_random("big", 40 * MIB, 8)?;
    wait::until("the upload runs", wait::SYNC, || {
        Ok(dev.requests()?.iter().any(is_chunk_up).then_some(()))
    })?;
    world.a.pause()?;
    let paused = |status: &cairn_e2e::status::Status| status.state == "paused";
    world.a.wait_status("A is paused", paused)?;
    world.a.must(&["limits", "--up", "off"])?;
    let sent =
        || -> Result<usize> { Ok(dev.requests()?.iter().filter(|r| is_chunk_up(r)).count()) };
    // What was on the wire may still arrive; then nothing does, though nothing limits it any more.
    let mut last = sent()?;
    wait::until("nothing is sent any more", wait::SYNC, || {
        let now = sent()?;
        let calm = now == std::mem::replace(&mut last, now);
        world.b.must(&["sync"])?;
        Ok(calm.then_some(()))
    })?;
    ensure!(
        !world.b.files().exists("big"),
        "it was sent in spite of the pause"
    );
    ensure!(last < 30, "{last} chunks were sent");
    world.a.resume()?;
    world.settle()?;
    world.equal()?;
    let all = sent()?;
    ensure!(all < 60, "{all} chunks were sent: it began anew");
    world.steady()?;
    world.finish()
}
