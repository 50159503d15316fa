//! A server whose disk returns other bytes than were written: devices that have the files send them again.

use anyhow::{Context as _, Result, ensure};
use cairn_e2e::world::Setup;
use cairn_e2e::{World, binaries, wait};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The files of all objects in the server's data.
fn objects(data: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in fs::read_dir(data.join("objects"))? {
        for file in fs::read_dir(folder?.path())? {
            found.push(file?.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Damages every object: one is removed, one cut short, and of all others a byte in the middle is changed.
fn damage_all(data: &Path) -> Result<()> {
    for (number, object) in objects(data)?.into_iter().enumerate() {
        let mut bytes = fs::read(&object)?;
        match number {
            0 => fs::remove_file(&object)?,
            1 => fs::write(&object, &bytes[..bytes.len() / 2])?,
            _ => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                fs::write(&object, bytes)?;
            }
        }
    }
    Ok(())
}

/// Runs the administrator's check of everything that is stored.
fn check(world: &World) -> Result<Output> {
    let mut command = Command::new(binaries::server()?);
    command.args(["check", "--read-data", "--json", "--data"]);
    Ok(command.arg(world.path("server")).output()?)
}

#[test]
fn a_device_that_has_the_files_heals_what_the_server_has_lost() -> Result<()> {
    let mut world = World::with(Setup {
        durable: true,
        ..Setup::default()
    })?;
    world.b.stop()?;
    let files = world.a.files();
    // Small files go in batches, large ones as chunks with a list of them.
    files.run("D/a=first; D/b=second; empty=")?;
    files.write("text.txt", "compressible text ".repeat(20_000))?;
    files.write_random("large", 9 << 20, 1)?;
    world.a.wait_idle()?;
    // A version of which most chunks are those of the version before.
    files.append("large", "and more")?;
    world.a.wait_idle()?;
    damage_all(&world.path("server"))?;

    world.b.start()?;
    let damaged = world
        .b
        .wait_status("downloads of what is damaged to fail", |status| {
            status.folders.iter().any(|folder| folder.errors.len() >= 4)
        })?;
    let errors = &damaged.folders[0].errors;
    ensure!(
        errors.iter().all(|one| one.message.contains("damaged")),
        "{errors:?}"
    );
    // Each download ends at the first chunk that is damaged; the check finds all of them.
    let checked = check(&world)?;
    ensure!(!checked.status.success(), "{checked:?}");
    let printed = String::from_utf8_lossy(&checked.stdout);
    ensure!(printed.contains("sends it again"), "{printed}");
    wait::until("everything to have arrived", wait::SYNC, || {
        world.a.must(&["sync"])?;
        world.b.must(&["sync"])?;
        let status = world.b.status()?;
        Ok(status
            .folders
            .iter()
            .all(|one| one.errors.is_empty())
            .then_some(()))
    })?;
    world.settle()?;
    world.equal().context("after healing")?;
    let history = world.a.must(&[
        "versions",
        &format!("{}/large", World::remote_folder()),
        "--json",
    ])?;
    let versions = history.json()?;
    assert_eq!(
        versions["versions"].as_array().map(Vec::len),
        Some(2),
        "{versions}"
    );
    // The last chunk and the list of the former version are lost: no device has its bytes any more.
    let lost = check(&world)?;
    let lost: Value = serde_json::from_slice(&lost.stdout)?;
    assert_eq!(lost["problems"].as_array().map(Vec::len), Some(2), "{lost}");
    world.finish()
}
