//! Runs one `cairn` command and keeps what it answered.

use crate::{binaries, wait};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Longer than any command of a test runs: `status --wait` gives up after 120 s by itself.
const LIMIT: Duration = Duration::from_secs(170);

/// The exit code and output of a command.
#[derive(Clone, Debug)]
pub struct Output {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// The one JSON document of stdout.
    ///
    /// # Errors
    /// It is none.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.stdout).with_context(|| {
            format!(
                "stdout is no JSON document: {:?}; stderr: {}",
                self.stdout, self.stderr
            )
        })
    }

    /// The same output, if the command succeeded.
    ///
    /// # Errors
    /// Another exit code than 0.
    pub fn ok(self) -> Result<Self> {
        if self.code == 0 {
            return Ok(self);
        }
        bail!(
            "exit code {}: {} {}",
            self.code,
            self.stderr.trim(),
            self.stdout.trim()
        )
    }

    /// Everything that it said, for people.
    #[must_use]
    pub fn printed_text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Checks the exit code of a refusal, and that its message names what went wrong and what to do.
    ///
    /// # Errors
    /// Another code, a message without one of the words, or one of many lines.
    pub fn refuses(&self, code: i32, words: &[&str]) -> Result<()> {
        let printed = self.printed_text();
        if self.code != code {
            bail!("expected exit code {code}, got {}: {printed}", self.code);
        }
        let lower = printed.to_lowercase();
        for word in words {
            if !lower.contains(&word.to_lowercase()) {
                bail!("the message does not speak of {word:?}: {printed}");
            }
        }
        if lower.contains("panicked") {
            bail!("a panic is no message: {printed}");
        }
        Ok(())
    }
}

/// Runs `cairn` on a home; never starts a daemon by itself.
///
/// # Errors
/// The program can't be run, or does not end.
pub fn run(home: &Path, environment: &[(String, String)], args: &[&str]) -> Result<Output> {
    let mut child = Command::new(binaries::cairn()?)
        .arg("--home")
        .arg(home)
        .args(["--no-start", "--json"])
        .args(args)
        // The least that is accepted: hundreds of logins in these tests wait for it.
        .env("CAIRN_KDF_MEMORY_MIB", "64")
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("`cairn` can't be started")?;
    let stdout = read(child.stdout.take());
    let stderr = read(child.stderr.take());
    let ended = wait::until(&format!("`cairn {}` ends", args.join(" ")), LIMIT, || {
        Ok(child.try_wait()?)
    });
    if ended.is_err() {
        // It goes on to report the hang, not a failed kill.
        let _ = child.kill();
    }
    let output = Output {
        code: ended
            .as_ref()
            .ok()
            .and_then(std::process::ExitStatus::code)
            .unwrap_or(-1),
        stdout: join(stdout),
        stderr: join(stderr),
    };
    ended.with_context(|| format!("it had printed: {}", output.printed_text()))?;
    Ok(output)
}

fn read(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What came before an error is still worth showing.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn join(reader: JoinHandle<String>) -> String {
    reader.join().unwrap_or_default()
}
