//! The `cairn` program, for what the control protocol doesn't offer: login, keys, versions, setup.
//!
//! Its contract is its JSON on the standard output. Secrets go through its standard input or the
//! environment, never through arguments, which other users could read.

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use cairn_control::{ControlError, FailureCode};
use serde::Serialize;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use ts_rs::TS;

/// The kind of a failure, on which the window's advice depends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ProgramErrorCode {
    Failed,
    Usage,
    NotLoggedIn,
    Offline,
    Decision,
    /// No daemon is connected.
    NoDaemon,
    Cancelled,
}

/// The reason that something was not done: what happened, to what, what to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS, thiserror::Error)]
#[error("{message}")]
pub struct ProgramError {
    pub code: ProgramErrorCode,
    pub message: String,
}

impl ProgramError {
    pub fn new(code: ProgramErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ProgramErrorCode::Failed, message)
    }
}

impl From<ControlError> for ProgramError {
    fn from(error: ControlError) -> Self {
        let code = match &error {
            ControlError::NotRunning
            | ControlError::Socket { .. }
            | ControlError::Version { .. }
            | ControlError::Closed
            | ControlError::Silent { .. }
            | ControlError::Protocol(_) => ProgramErrorCode::NoDaemon,
            ControlError::Refused(failure) => match failure.code {
                FailureCode::Failed | FailureCode::TimedOut => ProgramErrorCode::Failed,
                FailureCode::Usage => ProgramErrorCode::Usage,
                FailureCode::NotLoggedIn => ProgramErrorCode::NotLoggedIn,
                FailureCode::Offline => ProgramErrorCode::Offline,
                FailureCode::Decision => ProgramErrorCode::Decision,
            },
        };
        Self::new(code, error.to_string())
    }
}

/// One run of the program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Run {
    pub arguments: Vec<String>,
    /// Lines for its standard input.
    pub secrets: Vec<String>,
    /// A key for its environment.
    pub api_key: Option<String>,
}

impl Run {
    /// Returns a run with these arguments.
    pub fn of<S: Into<String>>(arguments: impl IntoIterator<Item = S>) -> Self {
        Self {
            arguments: arguments.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Adds a secret line for the standard input.
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<String>) -> Self {
        self.secrets.push(secret.into());
        self
    }
}

/// The program, or a double of it in tests.
#[async_trait]
pub trait Program: Send + Sync + 'static {
    /// Runs it to its end and returns its document.
    ///
    /// # Errors
    /// [`ProgramError`], with the program's message.
    async fn run(&self, run: Run) -> Result<Value, ProgramError>;

    /// Runs it to its end like [`Program::run`], with each line of `input` for its standard input; sends
    /// the documents that it writes on its standard error meanwhile.
    ///
    /// # Errors
    /// [`ProgramError`], with the program's message.
    async fn run_steps(
        &self,
        run: Run,
        input: mpsc::Receiver<String>,
        steps: mpsc::Sender<Value>,
    ) -> Result<Value, ProgramError>;
}

/// The installed program.
#[derive(Clone, Debug)]
pub struct Cairn {
    program: PathBuf,
    home: Option<PathBuf>,
}

impl Cairn {
    /// Finds the program that was named, else the one beside this program, else the one on the path.
    #[must_use]
    pub fn find(named: Option<PathBuf>, home: Option<PathBuf>) -> Self {
        let name = format!("cairn{}", std::env::consts::EXE_SUFFIX);
        let beside = std::env::current_exe()
            .ok()
            .and_then(|exe| exe.parent().map(|dir| dir.join(&name)))
            .filter(|path| path.is_file());
        Self {
            program: named.or(beside).unwrap_or_else(|| name.into()),
            home,
        }
    }

    /// Returns the path of the program; only its name if it is to be looked up on the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.program
    }
}

impl Cairn {
    fn spawn(&self, run: &Run, stderr: Stdio) -> Result<Child, ProgramError> {
        let mut command = Command::new(&self.program);
        if let Some(home) = &self.home {
            command.arg("--home").arg(home);
        }
        command
            .arg("--json")
            .args(&run.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .kill_on_drop(true);
        if let Some(key) = &run.api_key {
            command.env("CAIRN_API_KEY", key);
        }
        command.spawn().map_err(|error| self.run_fault(&error))
    }

    fn run_fault(&self, error: &io::Error) -> ProgramError {
        ProgramError::failed(format!(
            "can't run {}: {error}; install Cairn again",
            self.program.display()
        ))
    }

    /// Waits for the end and reads the document.
    async fn finish(&self, child: Child) -> Result<Value, ProgramError> {
        let output = child.wait_with_output().await;
        let output = output.map_err(|error| self.run_fault(&error))?;
        let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        if output.status.success() || is_result(&document) {
            return Ok(document);
        }
        Err(fault(output.status.code(), &document))
    }
}

#[async_trait]
impl Program for Cairn {
    async fn run(&self, run: Run) -> Result<Value, ProgramError> {
        let mut child = self.spawn(&run, Stdio::null())?;
        if let Some(mut stdin) = child.stdin.take() {
            let mut text = run.secrets.join("\n");
            text.push('\n');
            // A program that reads nothing may have ended already.
            let _ = stdin.write_all(text.as_bytes()).await;
        }
        self.finish(child).await
    }

    async fn run_steps(
        &self,
        run: Run,
        mut input: mpsc::Receiver<String>,
        steps: mpsc::Sender<Value>,
    ) -> Result<Value, ProgramError> {
        let mut child = self.spawn(&run, Stdio::piped())?;
        let stdin = child.stdin.take();
        let stderr = child.stderr.take();
        let writing = async move {
            let mut stdin = stdin;
            while let (Some(stdin), Some(line)) = (stdin.as_mut(), input.recv().await) {
                let _ = stdin.write_all(format!("{line}\n").as_bytes()).await;
            }
            // The end of the standard input would end a program that still waits for a line.
            std::future::pending::<()>().await;
        };
        let reading = async move {
            if let Some(stderr) = stderr {
                let mut lines = BufReader::new(stderr).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    if let Ok(step) = serde_json::from_str(&line) {
                        // Without a listener the program still runs to its end.
                        let _ = steps.send(step).await;
                    }
                }
            }
        };
        let finish = async { tokio::join!(self.finish(child), reading).0 };
        tokio::select! {
            result = finish => result,
            () = writing => Err(ProgramError::failed("the cairn program can't be reached")),
        }
    }
}

/// Returns true for a document with a result: a program that did a part of its work writes that, and the
/// exit code tells scripts that something is left.
fn is_result(document: &Value) -> bool {
    document.is_object() && document.get("error").is_none()
}

/// Converts a failed run. The exit codes are part of the program's contract.
fn fault(exit: Option<i32>, document: &Value) -> ProgramError {
    let code = match exit {
        Some(2) => ProgramErrorCode::Usage,
        Some(3) => ProgramErrorCode::NotLoggedIn,
        Some(4) => ProgramErrorCode::Offline,
        Some(5) => ProgramErrorCode::Decision,
        Some(_) | None => ProgramErrorCode::Failed,
    };
    let message = document["error"]["message"].as_str().map_or_else(
        || "the cairn program ended without a message: see `cairn logs`".to_owned(),
        str::to_owned,
    );
    ProgramError::new(code, message)
}
