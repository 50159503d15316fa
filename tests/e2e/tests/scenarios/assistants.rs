//! Long transfers of assistants, which go on when the assistant's program is gone.

use anyhow::{Context, Result, ensure};
use cairn_e2e::dev::Fault;
use cairn_e2e::world::Setup;
use cairn_e2e::{Assistant, World, wait};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

const SIZE: u64 = 64 << 20;
const NAME: &str = "holiday-plans";

/// Two devices without synced folders, and a large file on the first one.
fn world() -> Result<World> {
    let world = World::with(Setup {
        unlinked: true,
        ..Setup::default()
    })?;
    world.a.files().write_random(NAME, SIZE, 7)?;
    Ok(world)
}

/// Makes each chunk of a transfer take seconds.
fn slow_down(world: &World, method: &str) -> Result<()> {
    let chunks = if method == "PUT" {
        "/api/v1/uploads*"
    } else {
        "/api/v1/chunks*"
    };
    let slow = Fault::on(chunks).method(method).latency_ms(4_000);
    world.server.dev().fault(&slow)
}

/// Begins a transfer, which has to become a task, and returns its id.
fn begin(assistant: &mut Assistant, tool: &str, arguments: &Value) -> Result<Value> {
    let task = assistant.call(tool, arguments)?;
    ensure!(task["resultType"] == "task", "{tool} is no task: {task}");
    Ok(task["taskId"].clone())
}

fn upload(world: &World) -> Value {
    json!({ "local_path": world.a.files().path(NAME) })
}

/// Waits until a task has ended, and returns it.
fn end_of(assistant: &mut Assistant, id: &Value) -> Result<Value> {
    wait::until("the task ends", wait::SYNC, || {
        let task = assistant.task(id)?;
        Ok((task["status"] != "working").then_some(task))
    })
}

/// Returns what the result of a call says.
fn text(result: &Value) -> Result<Value> {
    let text = result["content"][0]["text"].as_str();
    let text = text.with_context(|| format!("no text: {result}"))?;
    Ok(serde_json::from_str(text)?)
}

fn remote_names(world: &World) -> Result<String> {
    let listed = world.b.must(&["list", "/"])?;
    Ok(listed.stdout)
}

#[test]
fn a_transfer_goes_on_when_the_assistants_program_is_killed() -> Result<()> {
    let world = world()?;
    slow_down(&world, "PUT")?;
    let mut first = Assistant::start(world.a.home())?;
    let id = begin(&mut first, "upload_file", &upload(&world))?;
    first.kill9()?;
    let mut second = Assistant::start(world.a.home())?;
    let task = second.task(&id)?;
    ensure!(task["status"] == "working", "{task}");
    world.server.dev().clear_faults()?;
    let task = end_of(&mut second, &id)?;
    ensure!(task["status"] == "completed", "{task}");
    let uploaded = text(&task["result"])?;
    ensure!(uploaded["size"] == SIZE, "{task}");
    let back = world.path("back");
    let to = back.display().to_string();
    world
        .b
        .must(&["download", &format!("/{NAME}"), "--out", &to])?;
    ensure!(
        fs::read(back)? == world.a.files().read(NAME)?,
        "other bytes arrived"
    );
    let log = fs::read_to_string(world.a.home().join("logs/tasks.stderr"))?;
    ensure!(
        log.contains("DEBUG") && !log.contains(NAME),
        "the log has arguments, or nothing: {log}"
    );
    world.finish()
}

#[test]
fn a_cancelled_transfer_leaves_nothing() -> Result<()> {
    let world = world()?;
    let mut assistant = Assistant::start(world.a.home())?;
    slow_down(&world, "PUT")?;
    let id = begin(&mut assistant, "upload_file", &upload(&world))?;
    assistant.request("tasks/cancel", json!({ "taskId": id }))?;
    let task = end_of(&mut assistant, &id)?;
    ensure!(task["status"] == "cancelled", "{task}");
    world.server.dev().clear_faults()?;
    ensure!(
        !remote_names(&world)?.contains(NAME),
        "it arrived all the same"
    );

    let path = upload(&world)["local_path"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    world.a.must(&["upload", &path])?;
    slow_down(&world, "GET")?;
    let to = world.path("downloads");
    fs::create_dir(&to)?;
    let arguments = json!({ "file_uuid": format!("/{NAME}"), "output_path": to });
    let id = begin(&mut assistant, "download_file", &arguments)?;
    assistant.request("tasks/cancel", json!({ "taskId": id }))?;
    let task = end_of(&mut assistant, &id)?;
    ensure!(task["status"] == "cancelled", "{task}");
    let left: Vec<_> = fs::read_dir(to)?.collect();
    ensure!(left.is_empty(), "{left:?}");
    world.finish()
}

#[test]
fn a_transfer_whose_process_is_killed_says_so() -> Result<()> {
    let world = world()?;
    slow_down(&world, "PUT")?;
    let mut assistant = Assistant::start(world.a.home())?;
    let id = begin(&mut assistant, "upload_file", &upload(&world))?;
    let name = id.as_str().context("the id is no text")?;
    // Nothing else has the id on its command line.
    let killed = Command::new("pkill").args(["-KILL", "-f", name]).status()?;
    ensure!(killed.success(), "there is no process of the task");
    let task = end_of(&mut assistant, &id)?;
    ensure!(
        task["status"] == "completed" && task["result"]["isError"] == true,
        "{task}"
    );
    let message = text(&task["result"])?["error"].to_string();
    ensure!(
        message.contains("interrupted") && message.contains("upload_file"),
        "{message}"
    );
    world.server.dev().clear_faults()?;
    ensure!(
        !remote_names(&world)?.contains(NAME),
        "it arrived all the same"
    );
    let again = begin_or_finish(&mut assistant, &upload(&world))?;
    ensure!(again["size"] == SIZE, "{again}");
    world.finish()
}

/// Uploads, and returns the result however long that takes.
fn begin_or_finish(assistant: &mut Assistant, arguments: &Value) -> Result<Value> {
    let result = assistant.call("upload_file", arguments)?;
    if result["resultType"] != "task" {
        return text(&result);
    }
    let task = end_of(assistant, &result["taskId"])?;
    text(&task["result"])
}
