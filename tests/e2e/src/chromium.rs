//! A headless Chromium, driven through its DevTools protocol over two pipes: pages as people see
//! them, without a driver program in between. `CAIRN_CHROMIUM` names another program.

use crate::wait;
use anyhow::{Context, Result, bail};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Names under which distributions install it.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Longer than any step of a page takes, PBKDF2 in an unoptimised build included.
const LIMIT: Duration = Duration::from_secs(60);

/// One browser with one page; killed when dropped.
pub struct Chromium {
    child: Child,
    to: File,
    from: Receiver<Value>,
    session: String,
    next_id: u64,
    events: Vec<Value>,
    downloads: PathBuf,
}

/// Returns the path of Chromium.
///
/// # Errors
/// It is not installed; the message names the package.
pub fn find() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("CAIRN_CHROMIUM") {
        return Ok(path.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .flat_map(|dir| NAMES.map(|name| dir.join(name)))
        .find(|file| file.is_file())
        .context(
            "no Chromium here: install the package `chromium` (`cargo xtask setup` does), or name one with CAIRN_CHROMIUM",
        )
}

impl Chromium {
    /// Starts a browser with a fresh profile and an empty page.
    ///
    /// # Errors
    /// There is none, or it does not answer.
    pub fn start(dir: &Path) -> Result<Self> {
        let (program, downloads) = (find()?, dir.join("downloads"));
        fs::create_dir_all(&downloads)?;
        let [ours, theirs] = ["to-browser", "from-browser"].map(|name| dir.join(name));
        for pipe in [&ours, &theirs] {
            mknodat(CWD, pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        }
        // Open for both directions, so that neither side waits for the other.
        let both_ways = |pipe| File::options().read(true).write(true).open(pipe);
        let (to, mut back) = (both_ways(&ours)?, both_ways(&theirs)?);
        // Only a shell can give a program its third and fourth file.
        let script = "exec \"$0\" \"$@\" 3<\"$CAIRN_TO\" 4>\"$CAIRN_FROM\"";
        let child = Command::new("sh")
            .args(["-c", script])
            .arg(program)
            .args([
                "--headless=new",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--no-first-run",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--window-size=900,1000",
            ])
            .arg(format!("--user-data-dir={}", dir.join("profile").display()))
            .env("CAIRN_TO", &ours)
            .env("CAIRN_FROM", &theirs)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("Chromium can't be started")?;
        let (sender, from) = mpsc::channel();
        thread::spawn(move || {
            let (mut waiting, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
            while let Ok(read @ 1..) = back.read(&mut buffer) {
                waiting.extend_from_slice(&buffer[..read]);
                while let Some(end) = waiting.iter().position(|byte| *byte == 0) {
                    let message: Vec<u8> = waiting.drain(..=end).collect();
                    let Ok(value) = serde_json::from_slice(&message[..end]) else {
                        continue;
                    };
                    if sender.send(value).is_err() {
                        return;
                    }
                }
            }
        });
        let mut browser = Self {
            child,
            to,
            from,
            session: String::new(),
            next_id: 0,
            events: Vec::new(),
            downloads,
        };
        let made = browser.call("Target.createTarget", json!({"url": "about:blank"}))?;
        let attached = browser.call(
            "Target.attachToTarget",
            json!({"targetId": made["targetId"], "flatten": true}),
        )?;
        let folder = browser.downloads.clone();
        browser.call(
            "Browser.setDownloadBehavior",
            json!({"behavior": "allow", "downloadPath": folder, "eventsEnabled": true}),
        )?;
        browser.session = attached["sessionId"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        for domain in [
            "Page.enable",
            "Network.enable",
            "Runtime.enable",
            "Log.enable",
        ] {
            browser.call(domain, json!({}))?;
        }
        Ok(browser)
    }

    /// Opens an address afresh, also where only its part behind the `#` differs.
    ///
    /// # Errors
    /// It can't be reached.
    pub fn open(&mut self, url: &str) -> Result<()> {
        self.call("Page.navigate", json!({"url": "about:blank"}))?;
        self.events.clear();
        let response = self.call("Page.navigate", json!({ "url": url }))?;
        match response["errorText"].as_str() {
            None | Some("net::ERR_HTTP_RESPONSE_CODE_FAILURE") => Ok(()),
            Some(error) => bail!("the page can't be opened: {error}"),
        }
    }

    /// Waits until an expression in the page is true-ish, and gives its value.
    ///
    /// # Errors
    /// It throws, or does not become true; what the page then says is in the message.
    pub fn until(&mut self, expression: &str) -> Result<Value> {
        // The page tells when it changed; nothing is polled.
        let script = format!(
            "new Promise((done) => {{ const look = () => {{ let v = null; try {{ v = ({expression}); }} catch {{}} \
             if (v) {{ watch.disconnect(); done(v); }} }}; const watch = new MutationObserver(look); \
             watch.observe(document, {{subtree: true, childList: true, attributes: true, characterData: true}}); \
             for (const e of ['load', 'DOMContentLoaded']) document.addEventListener(e, look, true); look(); }})"
        );
        let mut waited = self.evaluate(&script);
        // A page that comes or reloads takes the waiting one's promise with it.
        while waited.as_ref().is_err_and(|error| {
            let text = error.to_string();
            text.contains("context was destroyed") || text.contains("Cannot find context")
        }) {
            waited = self.evaluate(&script);
        }
        waited.with_context(|| {
            let text = self.evaluate("document.body.innerText").unwrap_or_default();
            format!(
                "waited for {expression}; the page says {text}; {:?}",
                self.complaints()
            )
        })
    }

    /// Evaluates an expression in the page and waits for its promise, if it is one.
    ///
    /// # Errors
    /// It throws, or takes too long.
    pub fn evaluate(&mut self, expression: &str) -> Result<Value> {
        let response = self.call(
            "Runtime.evaluate",
            json!({"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true}),
        )?;
        if let Some(thrown) = response.get("exceptionDetails") {
            bail!("the page threw {thrown}");
        }
        Ok(response["result"]["value"].clone())
    }

    /// Waits for a download to end and gives the file's name and bytes.
    ///
    /// # Errors
    /// It is cancelled, or does not come.
    pub fn wait_for_download(&mut self) -> Result<(String, Vec<u8>)> {
        let begun = self.event("Browser.downloadWillBegin", |_| true)?;
        let guid = begun["guid"].clone();
        let ended = self.event("Browser.downloadProgress", |event| {
            event["guid"] == guid && event["state"] != "inProgress"
        })?;
        if ended["state"] != "completed" {
            bail!("the download ended as {}", ended["state"]);
        }
        let name = begun["suggestedFilename"]
            .as_str()
            .context("a download without a name")?
            .to_owned();
        let bytes = fs::read(self.downloads.join(&name))
            .with_context(|| format!("{name} was not saved"))?;
        fs::remove_file(self.downloads.join(&name))?;
        Ok((name, bytes))
    }

    /// Everything that the page sent since it was opened: addresses, headers, bodies.
    #[must_use]
    pub fn sent_text(&self) -> String {
        self.events_named("Network.requestWillBeSent")
            .chain(self.events_named("Network.requestWillBeSentExtraInfo"))
            .map(|event| {
                // The browser's own view of the address, which no request carries.
                let mut sent = event.clone();
                if let Some(fields) = sent.as_object_mut() {
                    fields.remove("documentURL");
                    if let Some(request) = fields.get_mut("request").and_then(Value::as_object_mut)
                    {
                        request.remove("urlFragment");
                    }
                }
                sent.to_string()
            })
            .collect()
    }

    /// Errors that the browser itself reported, such as what a policy refused.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        self.events_named("Log.entryAdded")
            .filter(|event| event["entry"]["level"] == "error")
            .map(|event| event["entry"]["text"].to_string())
            .chain(
                self.events_named("Runtime.exceptionThrown")
                    .map(ToString::to_string),
            )
            .collect()
    }

    fn events_named(&self, name: &str) -> impl Iterator<Item = &Value> {
        self.events
            .iter()
            .filter(move |event| event["method"] == name)
            .map(|event| &event["params"])
    }

    fn event(&mut self, name: &str, fits: impl Fn(&Value) -> bool) -> Result<Value> {
        loop {
            let found = self
                .events
                .iter()
                .position(|event| event["method"] == name && fits(&event["params"]));
            if let Some(at) = found {
                return Ok(self.events.remove(at)["params"].take());
            }
            let message = self.receive(name)?;
            self.events.push(message);
        }
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.next_id += 1;
        let id = self.next_id;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() && !method.starts_with("Browser.") {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        self.to.write_all(&bytes)?;
        loop {
            let mut message = self.receive(method)?;
            if message["id"] == id {
                if let Some(error) = message.get("error") {
                    bail!("{method} failed: {error}");
                }
                return Ok(message["result"].take());
            }
            if message.get("method").is_some() {
                self.events.push(message);
            }
        }
    }

    fn receive(&mut self, what: &str) -> Result<Value> {
        match self.from.recv_timeout(LIMIT) {
            Ok(message) => Ok(message),
            Err(RecvTimeoutError::Timeout) => {
                bail!("Chromium did not answer for {LIMIT:?}: {what}")
            }
            Err(RecvTimeoutError::Disconnected) => bail!("Chromium is gone: {what}"),
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Asked first, so that its own children go with it; then made to.
        let bytes = b"{\"id\":0,\"method\":\"Browser.close\"}\0";
        let _ = self.to.write_all(bytes);
        let ended = wait::until("Chromium ends", wait::PROCESS, || {
            Ok(self.child.try_wait()?)
        });
        if ended.is_err() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
