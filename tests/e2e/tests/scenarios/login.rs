//! Logging in through a browser, here or elsewhere, and what becomes of the login over time.

use anyhow::{Context, Result, ensure};
use cairn_e2e::browser::Browser;
use cairn_e2e::device::{Device, Options};
use cairn_e2e::server::OWNER_KEY;
use cairn_e2e::{Server, Storage, Tree, binaries, wait};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const EMAIL: &str = "owner@example.com";
const PASSWORD: &str = "owner";
const DAY: Duration = Duration::from_secs(24 * 3600);

/// A server and a device that is not logged in.
struct World {
    server: Server,
    device: Device,
    _dir: TempDir,
}

/// A `cairn login` that waits for its person.
struct Login {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
}

impl World {
    fn new() -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("cairn-e2e-").tempdir()?;
        let at = dir.path();
        Ok(Self {
            server: Server::start(Storage::Memory, at.join("server.log"))?,
            device: Device::new(at, "a", Options::default())?,
            _dir: dir,
        })
    }

    fn login(&self, how: &str) -> Result<Login> {
        let args = self.device.login_args(&self.server.url(), OWNER_KEY);
        let key = args.iter().position(|arg| arg == "--api-key");
        let key = key.context("no key to leave out")?;
        let mut child = Command::new(binaries::cairn()?)
            .arg("--home")
            .arg(self.device.home())
            .args(["--no-start", "--json"])
            .args(&args[..key])
            .args(&args[key + 2..])
            .arg(how)
            .env_remove("CAIRN_API_KEY")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = BufReader::new(child.stderr.take().context("no stderr")?);
        Ok(Login { child, stderr })
    }

    /// Logs the device in through a browser beside it.
    fn log_in(&self) -> Result<()> {
        let mut login = self.login("--no-browser")?;
        let url = login.line_with("/oauth/authorize?")?;
        let mut browser = Browser::default();
        let page = browser.open(url.trim())?;
        let response = browser.log_in(&page, EMAIL, PASSWORD)?;
        let back = response.location.context("the login leads nowhere")?;
        ensure!(back.starts_with("http://127.0.0.1:"), "{back}");
        ensure!(browser.open(&back)?.html.contains("You are logged in"));
        login.ends_well()
    }

    /// Logs in, links the folder and starts the daemon.
    fn sync_first_file(&mut self) -> Result<()> {
        self.log_in()?;
        self.device.add("/sync")?;
        self.device.start()?;
        self.device.files().run("a=1")?;
        self.device.cycle()
    }

    fn renewals(&self) -> Result<usize> {
        let requests = self.server.dev().requests()?;
        let good = |r: &&cairn_e2e::dev::Request| r.path == "/oauth/token" && r.status == 200;
        Ok(requests.iter().filter(good).count())
    }
}

impl Login {
    /// Reads what it says up to a line that holds a text.
    fn line_with(&mut self, text: &str) -> Result<String> {
        let mut printed = String::new();
        loop {
            let mut line = String::new();
            ensure!(
                self.stderr.read_line(&mut line)? > 0,
                "it only printed {printed}"
            );
            if line.contains(text) {
                return Ok(line);
            }
            printed.push_str(&line);
        }
    }

    fn end(mut self) -> Result<(ExitStatus, String)> {
        let mut printed = String::new();
        self.stderr.read_to_string(&mut printed)?;
        let status = wait::until("the login ends", wait::PROCESS, || {
            Ok(self.child.try_wait()?)
        })?;
        Ok((status, printed))
    }

    fn ends_well(self) -> Result<()> {
        let (status, printed) = self.end()?;
        ensure!(status.success(), "{status}: {printed}");
        Ok(())
    }
}

impl Drop for Login {
    fn drop(&mut self) {
        // Both fail where it has ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_browser_login_syncs_and_its_token_is_renewed_on_the_way() -> Result<()> {
    let mut world = World::new()?;
    world.sync_first_file()?;
    ensure!(world.server.service().tree()?.contains_key("a"));
    let before = world.renewals()?;
    world.server.dev().advance(Duration::from_secs(601))?;
    world.device.files().run("b=2")?;
    world.device.cycle()?;
    ensure!(world.server.service().tree()?.contains_key("b"));
    ensure!(world.renewals()? > before, "the token was not renewed");
    // The command line and the daemon share one login.
    world.server.dev().advance(Duration::from_secs(601))?;
    world.device.must(&["whoami"])?;
    world.device.must(&["list", "/sync"])?;
    world.device.files().run("c=3")?;
    world.device.cycle()?;
    ensure!(world.server.service().tree()?.contains_key("c"));
    world.device.check_log()
}

#[test]
fn a_login_that_has_ended_asks_for_another_and_nothing_is_lost() -> Result<()> {
    let mut world = World::new()?;
    world.sync_first_file()?;
    world.server.dev().advance(DAY * 61)?;
    world.device.files().run("b=written meanwhile")?;
    let ended = world.device.cli(&["sync"])?;
    ended.refuses(3, &["log in again", "cairn login"])?;
    world
        .device
        .wait_status("the device is locked out", |status| status.state == "error")?;
    let printed = world.device.must(&["status"])?.printed_text();
    ensure!(printed.contains("cairn login"), "{printed}");
    let refused = world.device.cli(&["list", "/"])?;
    refused.refuses(3, &["log in again"])?;
    world.device.stop()?;
    world.log_in()?;
    world.device.start()?;
    world.device.cycle()?;
    let expected = Tree::literal("a=1; b=written meanwhile");
    ensure!(expected.difference(&world.device.tree()?).is_none());
    ensure!(world.server.service().tree()?.contains_key("b"));
    world.device.check_log()
}

#[test]
fn a_login_beside_a_daemon_that_is_locked_out_lets_it_go_on() -> Result<()> {
    let mut world = World::new()?;
    world.sync_first_file()?;
    world.server.dev().advance(DAY * 61)?;
    world.device.files().run("b=written meanwhile")?;
    let ended = world.device.cli(&["sync"])?;
    ended.refuses(3, &["log in again", "cairn login"])?;
    // The server and the place for secrets are those of the login that has ended.
    let first = world.device.login_args(&world.server.url(), OWNER_KEY);
    let again = first.iter().take(1).chain(&first[3..7]);
    let done = world
        .device
        .must(&again.map(String::as_str).collect::<Vec<_>>());
    let synced = done.and_then(|_| world.device.cycle());
    world.device.must(&["stop"])?;
    synced?;
    ensure!(world.server.service().tree()?.contains_key("b"));
    world.device.check_log()
}

#[test]
fn a_code_logs_in_a_device_without_a_browser() -> Result<()> {
    let world = World::new()?;
    let mut login = world.login("--device-code")?;
    let line = login.line_with("enter the code ")?;
    let code = line
        .trim()
        .rsplit(' ')
        .next()
        .unwrap_or_default()
        .to_owned();
    let mut browser = Browser::default();
    let url = format!("{}/oauth/device?user_code={code}", world.server.url());
    let page = browser.open(&url)?;
    let again = browser.log_in(&page, EMAIL, "wrong")?;
    ensure!(again.status == 403, "{}", again.status);
    let done = browser.log_in(&again, EMAIL, PASSWORD)?;
    ensure!(done.html.contains("logged in"), "{}", done.html);
    login.ends_well()?;
    world.device.must(&["whoami"])?;
    Ok(())
}

#[test]
fn a_cancelled_login_says_so_and_changes_nothing() -> Result<()> {
    let world = World::new()?;
    let mut login = world.login("--no-browser")?;
    let url = login.line_with("/oauth/authorize?")?;
    let query = url.trim().split_once('?').context("no query")?.1.to_owned();
    let value = |name: &str| {
        let found = query.split('&').find_map(|pair| pair.strip_prefix(name));
        found.map(|text| text.replace("%3A", ":").replace("%2F", "/"))
    };
    let back = value("redirect_uri=").context("no redirect_uri")?;
    let state = value("state=").context("no state")?;
    let mut browser = Browser::default();
    // Somebody who guesses gets nowhere.
    ensure!(browser.open(&format!("{back}?code=x&state=guess"))?.status == 404);
    browser.open(&format!("{back}?error=access_denied&state={state}"))?;
    let (status, printed) = login.end()?;
    ensure!(status.code() == Some(3), "{status}: {printed}");
    ensure!(printed.contains("cancelled"), "{printed}");
    world.device.cli(&["whoami"])?.refuses(3, &["cairn login"])
}

#[test]
fn a_logout_ends_the_login_on_the_server() -> Result<()> {
    let world = World::new()?;
    world.log_in()?;
    world.device.must(&["logout"])?;
    let requests = world.server.dev().requests()?;
    let revoked = |r: &cairn_e2e::dev::Request| r.path == "/oauth/revoke" && r.status == 200;
    ensure!(requests.iter().any(revoked), "{requests:?}");
    world.device.cli(&["whoami"])?.refuses(3, &["cairn login"])
}

/// A program that shows the login to a person learns if the account has a passphrase, and may try
/// another one without a second login in the browser.
#[test]
fn a_login_with_steps_takes_another_passphrase_after_a_wrong_one() -> Result<()> {
    let world = World::new()?;
    let steps = |secrets: &str| -> Result<(ExitStatus, String)> {
        let mut child = Command::new(binaries::cairn()?)
            .arg("--home")
            .arg(world.device.home())
            .args([
                "--no-start",
                "--json",
                "login",
                "--steps",
                "--secrets",
                "file",
            ])
            .args(["--server", &world.server.url(), "--api-key", OWNER_KEY])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut stdin = child.stdin.take().context("no stdin")?;
        stdin.write_all(secrets.as_bytes())?;
        drop(stdin);
        let stderr = BufReader::new(child.stderr.take().context("no stderr")?);
        Login { child, stderr }.end()
    };
    let (status, reported) = steps("summer2026\ncorrect horse battery staple\n")?;
    ensure!(status.success(), "{status}: {reported}");
    ensure!(
        reported.matches(r#""is_new":true"#).count() == 2,
        "{reported}"
    );
    ensure!(reported.contains("too easy to guess"), "{reported}");
    let (status, reported) = steps("wrong\ncorrect horse battery staple\n")?;
    ensure!(status.success(), "{status}: {reported}");
    let asked: Vec<_> = reported
        .lines()
        .filter(|line| line.contains(r#""step":"passphrase""#))
        .collect();
    ensure!(asked.len() == 2, "{reported}");
    ensure!(asked.iter().all(|line| line.contains(r#""is_new":false"#)));
    ensure!(
        !asked[0].contains("error") && asked[1].contains("error"),
        "{reported}"
    );
    let (status, _) = steps("wrong\n")?;
    ensure!(!status.success(), "it ends with its input");
    Ok(())
}
