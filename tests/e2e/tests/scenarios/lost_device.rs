//! A device that is lost: it is shut out with real processes, and the other devices go on.

use anyhow::{Context, Result, ensure};
use cairn_e2e::dev::Fault;
use cairn_e2e::device::{Device, Options};
use cairn_e2e::http::Http;
use cairn_e2e::server::OWNER_KEY;
use cairn_e2e::{Server, Storage, cli, wait};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const NEW: &str = "written after the phone was lost";
const WAITING: &str = "written on the train, without a network";

/// Three devices of one account that sync one folder. The phone has an API key of its own.
struct World {
    server: Server,
    tower: Device,
    laptop: Device,
    phone: Device,
    phone_key: String,
    dir: TempDir,
}

impl World {
    fn new() -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("cairn-e2e-").tempdir()?;
        let at = dir.path();
        let server = Server::start(Storage::Disk(at.join("server")), at.join("server.log"))?;
        let made = Http::new(&server.url(), Some(OWNER_KEY))
            .post("/api/v1/apikeys", &json!({ "name": "phone" }))?;
        let phone_key = made["key"].as_str().context("no key")?.to_owned();
        let device = |name: &str, key: &str| -> Result<Device> {
            let mut device = Device::new(at, name, Options::default())?;
            device.login(&server.url(), key)?;
            device.add("/sync")?;
            device.start()?;
            Ok(device)
        };
        Ok(Self {
            tower: device("tower", OWNER_KEY)?,
            laptop: device("laptop", OWNER_KEY)?,
            phone: device("phone", &phone_key)?,
            phone_key,
            server,
            dir,
        })
    }

    fn with_passphrase<'a>(&'a self, args: &[&'a str], passphrase: &'a str) -> Vec<&'a str> {
        [args, &["--passphrase-file", passphrase]].concat()
    }

    fn passphrase(&self) -> String {
        self.dir.path().join("passphrase").display().to_string()
    }

    fn served_keys(&self) -> Result<Value> {
        Http::new(&self.server.url(), Some(OWNER_KEY)).get("/api/v1/keys")
    }

    /// Copies the phone's home, as a thief does.
    fn copy_phone(&self) -> Result<PathBuf> {
        let copy = self.dir.path().join("thief");
        fs::create_dir(&copy)?;
        for name in ["account.json", "secrets.json"] {
            fs::copy(self.phone.home().join(name), copy.join(name))?;
        }
        Ok(copy)
    }
}

/// Gives a copied home the login of another one: somebody who works with the server needs none.
fn give_access(thief: &Path, of: &Path) -> Result<()> {
    let read = |home: &Path| -> Result<Value> {
        Ok(serde_json::from_slice(&fs::read(
            home.join("secrets.json"),
        )?)?)
    };
    let mut secrets = read(thief)?;
    secrets["api-key"] = read(of)?["api-key"].clone();
    fs::write(thief.join("secrets.json"), secrets.to_string())?;
    Ok(())
}

fn content(device: &Device, name: &str) -> Result<String> {
    Ok(fs::read_to_string(device.files().root().join(name))?)
}

#[test]
fn a_lost_device_is_shut_out_and_the_others_go_on_with_what_was_changed_meanwhile() -> Result<()> {
    let mut world = World::new()?;
    let passphrase = world.passphrase();
    fs::write(world.phone.files().root().join("old"), "known to the phone")?;
    for device in [&world.phone, &world.tower, &world.laptop] {
        device.cycle()?;
    }
    world.tower.cycle()?;
    ensure!(content(&world.tower, "old")? == "known to the phone");
    world.laptop.stop()?;
    world.phone.stop()?;
    fs::write(world.laptop.files().root().join("waiting"), WAITING)?;
    let thief = world.copy_phone()?;
    let before = world.served_keys()?;

    let new = world.dir.path().join("new-passphrase");
    fs::write(&new, "seven quiet otters mend a copper kettle")?;
    let new = new.display().to_string();
    let revoke = ["devices", "revoke", "phone", "--yes", "--api-keys"];
    let revoke = [&revoke[..], &["--new-passphrase-file", &new]].concat();
    let done = world
        .tower
        .must(&world.with_passphrase(&revoke, &passphrase))?
        .json()?;
    ensure!(
        done["epoch"] == 2 && done["device"]["name"] == "phone",
        "{done}"
    );
    // The daemon of the tower takes the new keys over while it runs.
    fs::write(world.tower.files().root().join("new"), NEW)?;
    fs::write(world.tower.files().root().join("old"), "and changed since")?;
    world.tower.cycle()?;
    world.server_has(&["new", "old"])?;

    // The thief gets no access.
    let list = cli::run(&thief, &[], &["list"])?;
    list.refuses(3, &["log"])?;
    let login = world
        .phone
        .login_args(&world.server.url(), &world.phone_key);
    let login: Vec<&str> = login.iter().map(String::as_str).collect();
    cli::run(&thief, &[], &login)?.refuses(3, &["API key"])?;

    // With the server's help, which hides the new keys, the copied keys open what was there, and nothing newer.
    give_access(&thief, world.tower.home())?;
    world
        .server
        .dev()
        .fault(&Fault::on("/api/v1/keys$").method("GET").lie("", before))?;
    cli::run(&thief, &[], &["list", "/sync"])?.ok()?;
    for (name, secret) in [("new", NEW), ("old", "and changed since")] {
        let read = cli::run(&thief, &[], &["cat", &format!("/sync/{name}")])?;
        ensure!(
            read.code != 0 && !read.printed_text().contains(secret),
            "{}",
            read.printed_text()
        );
    }
    world.server.dev().clear_faults()?;

    world.laptop_goes_on(&new)?;
    let waiting = cli::run(&thief, &[], &["cat", "/sync/waiting"])?;
    ensure!(waiting.code != 0 && !waiting.printed_text().contains(WAITING));
    Ok(())
}

#[test]
fn replaced_keys_are_the_reason_in_every_space_whichever_notices_first() -> Result<()> {
    let mut world = World::new()?;
    let private = world.dir.path().join("private");
    fs::create_dir(&private)?;
    let private = private.display().to_string();
    let add = ["add", &private, "--private", "--yes"];
    world.laptop.must(&add)?;
    world.laptop.cycle()?;
    for device in [&mut world.laptop, &mut world.tower, &mut world.phone] {
        device.stop()?;
    }
    let before = world.served_keys()?;
    let new = world.dir.path().join("new-passphrase");
    fs::write(&new, "seven quiet otters mend a copper kettle")?;
    let new = new.display().to_string();
    let rotate = ["keys", "rotate", "--new-passphrase-file", &new];
    let passphrase = world.passphrase();
    world
        .tower
        .must(&world.with_passphrase(&rotate, &passphrase))?;

    // The laptop starts with its keys, so that the private space is the first one to meet the others.
    let hidden = Fault::on("/api/v1/keys$").method("GET").lie("", before);
    world.server.dev().fault(&hidden.times(1))?;
    world.laptop.start()?;
    let first = world
        .laptop
        .wait_status("a space needs a person", |status| {
            status.problems().next().is_some()
        })?;
    let is_true = first.problems().all(|one| one.code == "keys_replaced");
    ensure!(is_true, "{first:?}");
    world
        .laptop
        .wait_status("both need the new keys", |status| {
            let states = status.folders.iter().map(|folder| folder.state.as_str());
            status.problems().count() == 2 && states.eq(["attention", "attention"])
        })?;
    Ok(())
}

impl World {
    fn server_has(&self, names: &[&str]) -> Result<()> {
        wait::holds("the server has the files", wait::SYNC, || {
            let tree = self.server.service().tree()?;
            Ok(names.iter().all(|name| tree.contains_key(*name)))
        })
    }

    /// The laptop says why it syncs nothing, and goes on with the passphrase.
    fn laptop_goes_on(&mut self, passphrase: &str) -> Result<()> {
        self.laptop.start()?;
        let stopped = self.laptop.wait_status("it needs the new keys", |status| {
            status
                .problems()
                .any(|problem| problem.code == "keys_replaced")
        })?;
        ensure!(stopped.state == "attention", "{stopped:?}");
        let hint = stopped
            .problems()
            .any(|one| one.message.contains("by tower") && one.hint.contains("cairn keys update"));
        ensure!(hint, "{stopped:?}");
        self.laptop
            .cli(&["status", "--wait", "--timeout", "60"])?
            .refuses(5, &[])?;
        let tree = self.server.service().tree()?;
        ensure!(
            !tree.keys().any(|path| path.ends_with("waiting")),
            "{tree:?}"
        );
        ensure!(content(&self.laptop, "old")? == "known to the phone");

        let update = self.with_passphrase(&["keys", "update"], passphrase);
        let updated = self.laptop.must(&update)?.json()?;
        ensure!(
            updated["updated"] == true && updated["epoch"] == 2,
            "{updated}"
        );
        self.laptop.cycle()?;
        self.tower.cycle()?;
        for device in [&self.tower, &self.laptop] {
            device.wait_status("all is in sync", |status| status.state == "idle")?;
            ensure!(content(device, "waiting")? == WAITING);
            ensure!(content(device, "new")? == NEW);
            ensure!(content(device, "old")? == "and changed since");
            ensure!(device.conflicts()? == 0);
            ensure!(
                device.status()?.problems().next().is_none(),
                "{:?}",
                device.status()?
            );
        }
        ensure!(self.tower.tree()? == self.laptop.tree()?);
        Ok(())
    }
}
