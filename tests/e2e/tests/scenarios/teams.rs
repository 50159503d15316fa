//! Files that a team shares: who gets the key to them, and who no longer does.

use anyhow::{Context, Result, ensure};
use cairn_e2e::dev::Fault;
use cairn_e2e::device::{Device, Options};
use cairn_e2e::http::Http;
use cairn_e2e::server::OWNER_KEY;
use cairn_e2e::{Server, Storage};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const MEMBER_KEY: &str = "ck_dev_member";
const OUTSIDER_KEY: &str = "ck_dev_outsider";
const OWNER: &str = "owner@example.com";
const MEMBER: &str = "member@example.com";
const OUTSIDER: &str = "outsider@example.com";
/// Text of a team that no server may have.
const SECRET: &str = "the boat leaves at dawn from the northern pier; ";

/// Three people with a device each, and a team that the owner has made.
struct Crew {
    server: Server,
    owner: Device,
    member: Device,
    outsider: Device,
    team: String,
    dir: TempDir,
}

impl Crew {
    fn new() -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("cairn-e2e-").tempdir()?;
        let at = dir.path();
        let server = Server::start(Storage::Disk(at.join("server")), at.join("server.log"))?;
        let log_in = |name: &str, key: &str| -> Result<Device> {
            let device = Device::new(at, name, Options::default())?;
            device.login(&server.url(), key)?;
            Ok(device)
        };
        let owner = log_in("owner", OWNER_KEY)?;
        let member = log_in("member", MEMBER_KEY)?;
        let outsider = log_in("outsider", OUTSIDER_KEY)?;
        let made = owner.must(&["teams", "create", "Crew"])?.json()?;
        let team = text(&made["team"]["id"])?;
        let crew = Self {
            server,
            owner,
            member,
            outsider,
            team,
            dir,
        };
        crew.joins(&crew.member, MEMBER)?;
        crew.joins(&crew.outsider, OUTSIDER)?;
        Ok(crew)
    }

    fn joins(&self, device: &Device, email: &str) -> Result<()> {
        self.owner.must(&["teams", "invite", "Crew", email])?;
        let waiting = device.must(&["teams", "invitations"])?.json()?;
        let invitation = text(&waiting["invitations"][0]["id"])?;
        device.must(&["teams", "accept", &invitation])?;
        Ok(())
    }

    /// Writes a file on this disk and uploads it into the team's space.
    fn upload(&self, by: &Device, name: &str, content: &str) -> Result<()> {
        let path = self.dir.path().join(name);
        fs::write(&path, content)?;
        let path = path.display().to_string();
        by.must(&["upload", &path, "--team", "Crew"])?;
        Ok(())
    }

    /// Returns the content or error that a device gets when it downloads a file of the team's space.
    fn download(&self, by: &Device, name: &str) -> Result<String> {
        let to = self.dir.path().join(format!("{name}-of-{}", by.name()));
        let args = ["download", name, "--team", "Crew", "--force", "--out"];
        let to_text = to.display().to_string();
        by.must(&[&args[..], &[&to_text]].concat())?;
        Ok(fs::read_to_string(to)?)
    }

    /// The account of somebody, and the key that others seal to.
    fn keys_of(&self, email: &str) -> Result<(String, usize, Value)> {
        let http = Http::new(&self.server.url(), Some(OWNER_KEY));
        let shown = self.owner.must(&["teams", "members", "Crew"])?.json()?;
        let members = shown["members"].as_array().context("no members")?;
        let found = members.iter().find(|one| one["email"] == email);
        let id = text(&found.context("no such member")?["user_id"])?;
        let keys = http.get(&format!("/api/v1/teams/{}/keys", self.team))?;
        let members = keys["members"].as_array().context("no members")?;
        let at = members.iter().position(|one| one["user_id"] == id.as_str());
        let at = at.context("no keys of this member")?;
        Ok((id, at, members[at]["rsa_public"].clone()))
    }

    /// Accepts the owner's keys on somebody's device, as a person does who has compared the fingerprint.
    fn accepts_owner(&self, device: &Device) -> Result<()> {
        device.must(&["teams", "keys", "Crew", "--accept-new", OWNER])?;
        Ok(())
    }

    fn remove(&self, email: &str) -> Result<()> {
        let (id, ..) = self.keys_of(email)?;
        let http = Http::new(&self.server.url(), Some(OWNER_KEY));
        http.delete(&format!("/api/v1/teams/{}/members/{id}", self.team))?;
        Ok(())
    }
}

fn text(value: &Value) -> Result<String> {
    let text = value.as_str().map(str::to_owned);
    text.with_context(|| format!("no text: {value}"))
}

/// All files below a directory.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

#[test]
fn a_team_shares_files_that_the_server_cannot_read_and_that_end_for_who_leaves() -> Result<()> {
    let crew = Crew::new()?;
    let not_yet = crew.member.cli(&["list", "--team", "Crew"])?;
    not_yet.refuses(1, &["not granted", "teams grant 'Crew'"])?;
    let no_right = crew.member.cli(&["teams", "grant", "Crew"])?;
    no_right.refuses(1, &["owner and admins"])?;
    let unknown = crew.member.cli(&["list", "--team", "Fleet"])?;
    unknown.refuses(1, &["no team Fleet"])?;

    // Nobody gets the key before a person has accepted theirs.
    let asks = crew.owner.cli(&["teams", "grant", "Crew"])?;
    asks.refuses(5, &["never compared", "--accept-new"])?;
    let asked = asks.json()?;
    ensure!(
        asked["new"].as_array().map(Vec::len) == Some(2)
            && asked["granted"].as_array().map(Vec::len) == Some(1),
        "{asked}"
    );
    ensure!(asked["new_key"] == true && asked["epoch"] == 1, "{asked}");
    let grant = [
        "teams",
        "grant",
        "Crew",
        "--accept-new",
        MEMBER,
        "--accept-new",
        OUTSIDER,
    ];
    let granted = crew.owner.must(&grant)?.json()?;
    ensure!(granted["new_key"] == false, "{granted}");
    ensure!(
        granted["granted"].as_array().map(Vec::len) == Some(2),
        "{granted}"
    );
    let again = crew.owner.must(&["teams", "grant", "Crew"])?.json()?;
    ensure!(
        again["granted"].as_array().is_some_and(Vec::is_empty),
        "{again}"
    );

    // Nobody takes the key from somebody whose keys nobody has accepted on this device.
    let asks = crew.member.cli(&["list", "--team", "Crew"])?;
    asks.refuses(5, &["granted by owner@example.com", "--accept-new"])?;
    crew.accepts_owner(&crew.member)?;
    crew.accepts_owner(&crew.outsider)?;

    // All see the same fingerprints.
    let fingerprints = |device: &Device| -> Result<Vec<Value>> {
        let shown = device.must(&["teams", "keys", &crew.team])?.json()?;
        let members = shown["members"].as_array().context("no members")?.clone();
        ensure!(
            members.iter().all(|one| one["has_grant"] == true),
            "{shown}"
        );
        Ok(members
            .iter()
            .map(|one| one["fingerprint"].clone())
            .collect())
    };
    let seen = fingerprints(&crew.owner)?;
    ensure!(seen.iter().all(Value::is_string) && seen == fingerprints(&crew.member)?);

    let plan = SECRET.repeat(10_000);
    crew.upload(&crew.owner, "plan.txt", &plan)?;
    ensure!(crew.download(&crew.member, "/plan.txt")? == plan);
    ensure!(crew.download(&crew.outsider, "/plan.txt")? == plan);
    // The members' own spaces have nothing of it, and everything works in the team's.
    crew.owner
        .cli(&["info", "/plan.txt"])?
        .refuses(1, &["no /plan.txt"])?;
    crew.member.must(&["mkdir", "/logs", "--team", "Crew"])?;
    crew.member
        .must(&["copy", "/plan.txt", "/logs", "--team", "Crew"])?;
    crew.member
        .must(&["move", "/logs/plan.txt", "/logs/old.txt", "--team", "Crew"])?;
    let info = crew
        .owner
        .must(&["info", "/logs/old.txt", "--team", "Crew"])?
        .json()?;
    ensure!(info["verified"] == true, "{info}");
    crew.upload(&crew.member, "plan.txt", &format!("{plan}or later"))?;
    crew.upload(&crew.member, "kept.txt", SECRET)?;
    let versions = crew
        .owner
        .must(&["versions", "/plan.txt", "--team", "Crew"])?
        .json()?;
    ensure!(
        versions["versions"].as_array().map(Vec::len) == Some(2),
        "{versions}"
    );
    crew.owner
        .must(&["delete", "/logs/old.txt", "--team", "Crew"])?;
    let tree = crew.owner.must(&["tree", "--team", "Crew"])?.json()?;
    ensure!(tree["files"] == 2, "{tree}");
    let share = ["share", "create", "/kept.txt", "--team", "Crew"];
    let link = crew.member.must(&share)?.json()?;
    let refresh = [
        "share",
        "refresh",
        &text(&link["address"])?,
        "--team",
        "Crew",
    ];
    let refreshed = crew.member.must(&refresh)?.json()?;
    ensure!(refreshed["address"] == link["address"], "{refreshed}");
    let list = ["share", "list", "--team", "Crew"];
    let list = crew.member.must(&list)?.json()?;
    ensure!(list["links"][0]["address"] == link["address"], "{list}");

    let data = files(&crew.dir.path().join("server"))?;
    ensure!(data.len() > 1, "{data:?}");
    for path in data {
        let bytes = fs::read(&path)?;
        let needle = &SECRET.as_bytes()[..24];
        let found = bytes.windows(needle.len()).any(|window| window == needle);
        ensure!(!found, "{} holds what was uploaded", path.display());
    }

    // The outsider goes; whoever stays waits for the new key, and has the old files with it.
    crew.remove(OUTSIDER)?;
    let waits = crew.member.cli(&["list", "--team", "Crew"])?;
    waits.refuses(1, &["not granted"])?;
    let gone = crew.outsider.cli(&["list", "--team", &crew.team])?;
    gone.refuses(1, &["no team"])?;
    let granted = crew.owner.must(&["teams", "grant", "Crew"])?.json()?;
    ensure!(
        granted["new_key"] == true && granted["epoch"] == 2,
        "{granted}"
    );
    crew.upload(&crew.owner, "plan.txt", &format!("{plan}or never"))?;
    crew.upload(&crew.owner, "new.txt", &plan)?;
    ensure!(
        crew.download(&crew.member, "/plan.txt")?
            .ends_with("or never")
    );
    ensure!(crew.download(&crew.member, "/new.txt")? == plan);
    ensure!(crew.download(&crew.owner, "/kept.txt")? == SECRET);

    // Back in the team without a grant, the outsider is served everything and opens nothing.
    crew.joins(&crew.outsider, OUTSIDER)?;
    let nothing = crew
        .outsider
        .cli(&["download", "/new.txt", "--team", "Crew"])?;
    nothing.refuses(1, &["not granted"])
}

#[test]
fn a_member_whose_keys_changed_gets_none_until_somebody_has_compared() -> Result<()> {
    let crew = Crew::new()?;
    let (_, at, _) = crew.keys_of(MEMBER)?;
    let (.., other) = crew.keys_of(OUTSIDER)?;
    // At first the server gives another key for the member, as if to read along.
    let path = format!("/api/v1/teams/{}/keys$", crew.team);
    let lie = Fault::on(&path)
        .method("GET")
        .lie(&format!("/members/{at}/rsa_public"), other);
    crew.server.dev().fault(&lie)?;
    let shown = crew.owner.must(&["teams", "keys", "Crew"])?.json()?;
    let of_member = |shown: &Value| -> Result<Value> {
        let members = shown["members"].as_array().context("no members")?;
        let found = members.iter().find(|one| one["email"] == MEMBER);
        Ok(found.context("no such member")?.clone())
    };
    let first = of_member(&shown)?;
    ensure!(first["keys"] == "new", "{shown}");
    // Whose key it is can be told by the one that it is given to.
    crew.member
        .cli(&["teams", "keys", "Crew"])?
        .refuses(1, &["key_changed"])?;
    crew.server.dev().clear_faults()?;

    let blocked = crew
        .owner
        .cli(&["teams", "grant", "Crew", "--accept-new", OUTSIDER])?;
    blocked.refuses(5, &["have changed", "--accept-changed"])?;
    let shown = blocked.json()?;
    ensure!(
        shown["granted"].as_array().map(Vec::len) == Some(2),
        "{shown}"
    );
    ensure!(shown["changed"][0]["email"] == MEMBER, "{shown}");
    ensure!(shown["changed"][0]["pinned_fingerprint"] == first["fingerprint"]);
    let fingerprint = shown["changed"][0]["fingerprint"].clone();
    let own = of_member(&crew.member.must(&["teams", "keys", "Crew"])?.json()?)?;
    ensure!(
        own["keys"] == "you" && own["fingerprint"] == fingerprint,
        "{own}"
    );
    crew.member
        .cli(&["list", "--team", "Crew"])?
        .refuses(1, &["not granted"])?;

    // Accepted is what was shown, and nothing that is served in its place now.
    crew.server.dev().fault(&lie)?;
    let accept = ["teams", "grant", "Crew", "--accept-changed", MEMBER];
    let known = crew.owner.must(&["teams", "keys", "Crew"])?.json()?;
    ensure!(of_member(&known)?["keys"] == "new", "{known}");
    crew.server.dev().clear_faults()?;
    crew.owner
        .cli(&accept)?
        .refuses(5, &["compare the fingerprint first"])?;
    crew.owner.must(&["teams", "keys", "Crew"])?;
    let granted = crew.owner.must(&accept)?.json()?;
    ensure!(granted["granted"][0]["email"] == MEMBER, "{granted}");
    crew.accepts_owner(&crew.member)?;
    crew.upload(&crew.owner, "plan.txt", SECRET)?;
    ensure!(crew.download(&crew.member, "/plan.txt")? == SECRET);
    Ok(())
}

const FOLDER: [&str; 4] = ["--remote", "/plans", "--space", "Crew"];

/// Syncs the device's folder with the team's, beside a folder of its own space.
fn sync_team_folder(device: &mut Device) -> Result<PathBuf> {
    device.start()?;
    let own = device
        .home()
        .with_file_name(format!("own-{}", device.name()));
    let own_text = own.display().to_string();
    device.must(&["add", &own_text, "--remote", "/own"])?;
    device.must(&[&["add", &device.root_text()][..], &FOLDER].concat())?;
    Ok(own)
}

/// Waits until the status of the team's folder has a problem with these words.
fn wait_problem(device: &Device, words: &str) -> Result<()> {
    let local = device.root_text();
    let status = device.wait_status(words, |status| {
        status
            .problems()
            .any(|problem| problem.message.contains(words))
    })?;
    let folder = status.folders.iter().find(|folder| folder.local == local);
    ensure!(folder.context("no such folder")?.state == "error");
    Ok(())
}

fn read(device: &Device, name: &str) -> Result<String> {
    Ok(String::from_utf8(device.files().read(name)?)?)
}

#[test]
fn a_folder_of_a_team_is_added_by_its_name_and_nothing_else_is_mistaken_for_it() -> Result<()> {
    let mut crew = Crew::new()?;
    let root = crew.member.root_text();
    let add = |args: &[&str]| crew.member.cli(&[&["add", &root][..], args].concat());
    add(&["--space", "Fleet"])?.refuses(1, &["no team Fleet", "Crew"])?;
    crew.owner.must(&[
        "teams",
        "grant",
        "Crew",
        "--accept-new",
        MEMBER,
        "--accept-new",
        OUTSIDER,
    ])?;

    crew.accepts_owner(&crew.member)?;

    // Without a daemon, by the team's id; then it is not to be had a second time.
    let id = crew.team.clone();
    let added = add(&["--remote", "/plans", "--space", &id])?.ok()?.json()?;
    ensure!(added["space"]["name"] == "Crew", "{added}");
    add(&["--remote", "/plans"])?.refuses(2, &["synced already"])?;
    let listed = crew.member.must(&["folders"])?.json()?;
    ensure!(
        listed["folders"][0]["space"]["team"] == id.as_str(),
        "{listed}"
    );

    crew.member.start()?;
    crew.member.files().write("a.txt", "ahoy")?;
    crew.member.cycle()?;
    let found = crew
        .owner
        .must(&["info", "/plans/a.txt", "--team", "Crew"])?;
    ensure!(found.json()?["verified"] == true);
    // A path on this disk names the team by the synced folder that it is in.
    let path = crew.member.files().path("a.txt").display().to_string();
    let info = crew.member.must(&["info", &path])?.json()?;
    ensure!(info["path"] == "/plans/a.txt", "{info}");
    crew.member.must(&["info", &path, "--team", "Crew"])?;
    let history = crew.member.must(&["history", &root])?.json()?;
    ensure!(history["events"][0]["path"] == "/plans/a.txt", "{history}");
    let plan = crew
        .member
        .must(&["rewind", &root, "--to", "now", "--dry-run"])?;
    ensure!(plan.json()?["path"] == "/plans");
    crew.member.must(&["delete", &path, "--dry-run"])?;
    let why = crew.member.must(&["why", &path])?.json()?;
    ensure!(why["state"] == "synced", "{why}");
    crew.member.must(&["remove", &root])?;
    let left = crew.member.must(&["folders"])?.json()?;
    ensure!(
        left["folders"].as_array().is_some_and(Vec::is_empty),
        "{left}"
    );
    ensure!(read(&crew.member, "a.txt")? == "ahoy");
    crew.member.check_log()
}

#[test]
fn two_members_sync_a_folder_of_their_team_until_one_is_removed_and_keeps_the_files() -> Result<()>
{
    let mut crew = Crew::new()?;
    let own = sync_team_folder(&mut crew.member)?;
    wait_problem(&crew.member, "not granted to you yet")?;
    let accept = [
        "teams",
        "grant",
        "Crew",
        "--accept-new",
        MEMBER,
        "--accept-new",
        OUTSIDER,
    ];
    crew.owner.must(&accept)?;
    crew.member.must(&["sync"])?;
    crew.member.wait_status("who granted the key", |status| {
        let words = "granted by owner@example.com, with the fingerprint";
        status
            .problems()
            .any(|problem| problem.message.contains(words))
    })?;
    crew.accepts_owner(&crew.member)?;
    sync_team_folder(&mut crew.owner)?;

    // Edits in both directions, and a conflict.
    crew.owner.files().write("plan.txt", "north")?;
    crew.owner.cycle()?;
    crew.member.cycle()?;
    ensure!(read(&crew.member, "plan.txt")? == "north");
    crew.member.files().write("plan.txt", "south")?;
    crew.member.cycle()?;
    crew.owner.cycle()?;
    ensure!(read(&crew.owner, "plan.txt")? == "south");
    crew.member.pause()?;
    crew.owner.files().write("plan.txt", "by land")?;
    crew.owner.cycle()?;
    crew.member.files().write("plan.txt", "by sea")?;
    crew.member.resume()?;
    crew.member.cycle()?;
    crew.owner.cycle()?;
    ensure!(crew.member.conflicts()? == 1);
    let tree = crew.member.tree()?;
    ensure!(tree.count_of(b"by land") == 1 && tree.count_of(b"by sea") == 1);
    ensure!(tree.difference(&crew.owner.tree()?).is_none());

    // Another key is in force: nothing is sealed under the one before, and nothing is lost.
    crew.remove(OUTSIDER)?;
    crew.member.files().write("between.txt", "epochs")?;
    crew.member.must(&["sync"])?;
    wait_problem(&crew.member, "not granted to you yet")?;
    crew.owner.must(&["teams", "grant", "Crew"])?;
    crew.member.cycle()?;
    crew.owner.cycle()?;
    ensure!(read(&crew.owner, "between.txt")? == "epochs");

    // Whoever is removed keeps the files, and the own space syncs on. The daemon is still asking for its teams while
    // `sync` asks for what is new in this one.
    let slow_list = Fault::on("/api/v1/teams").method("GET").latency_ms(2_000);
    crew.server.dev().fault(&slow_list)?;
    crew.remove(MEMBER)?;
    let before = crew.member.tree()?;
    crew.member.must(&["sync"])?;
    crew.server.dev().clear_faults()?;
    wait_problem(&crew.member, "don't belong to the team Crew")?;
    crew.owner.must(&["teams", "grant", "Crew"])?;
    crew.owner.files().remove("plan.txt")?;
    crew.owner.cycle()?;
    fs::write(own.join("mine.txt"), "mine")?;
    crew.member.cycle()?;
    crew.member.must(&["info", "/own/mine.txt"])?;
    ensure!(before.difference(&crew.member.tree()?).is_none());
    let path = crew.member.files().path("plan.txt").display().to_string();
    let why = crew.member.must(&["why", &path])?.json()?;
    ensure!(why["state"] == "parked", "{why}");
    crew.member.check_log()?;
    crew.owner.check_log()
}
