//! Runs commands and stages, and says how long each took.

use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a command to its end with its output shown.
///
/// # Errors
/// Where it can't be started or fails; the message shows the command.
pub(crate) fn show(command: &mut Command) -> Result<()> {
    let line = describe(command);
    let status = command
        .status()
        .with_context(|| format!("can't run `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Tells whether a command can be run and succeeds, without showing anything.
pub(crate) fn succeeds(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut line = program
        .file_name()
        .unwrap_or(command.get_program())
        .to_string_lossy()
        .into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

/// Named steps, each with its time.
#[derive(Debug)]
pub(crate) struct Stages {
    begun: Instant,
    /// What the names of the wanted stages contain; all, if absent.
    only: Option<String>,
    done: Vec<(&'static str, Duration)>,
}

impl Stages {
    pub(crate) fn new(only: Option<String>) -> Self {
        Self {
            begun: Instant::now(),
            only,
            done: Vec::new(),
        }
    }

    /// Runs one stage; its failure ends everything, with the times so far.
    ///
    /// # Errors
    /// The stage's, with its name.
    pub(crate) fn run(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        if self.only.as_ref().is_some_and(|only| !name.contains(only)) {
            return Ok(());
        }
        println!("\n=== {name}");
        let begun = Instant::now();
        let result = work();
        self.done.push((name, begun.elapsed()));
        if result.is_err() {
            self.print("failed");
        }
        result.with_context(|| format!("in the stage `{name}`"))
    }

    /// Tells whether nothing was wanted that there is.
    pub(crate) fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// Prints the times of all stages.
    pub(crate) fn print(&self, end: &str) {
        println!("\n{:>10}  stage", "seconds");
        for (name, time) in &self.done {
            println!("{:>10.1}  {name}", time.as_secs_f64());
        }
        println!(
            "{:>10.1}  in all: {end}",
            self.begun.elapsed().as_secs_f64()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_named() {
        let error = show(Command::new("false").arg("now")).unwrap_err();
        assert!(error.to_string().contains("`false now` failed"), "{error}");
        let error = show(&mut Command::new("/nowhere/at-all")).unwrap_err();
        assert!(error.to_string().contains("can't run `at-all`"), "{error}");
    }

    #[test]
    fn a_failing_stage_is_named() {
        let mut stages = Stages::new(None);
        stages.run("first", || Ok(())).unwrap();
        let error = stages.run("second", || bail!("no")).unwrap_err();
        assert_eq!(format!("{error:#}"), "in the stage `second`: no");
        assert_eq!(stages.done.len(), 2);
    }

    #[test]
    fn only_the_wanted_stages_run() {
        let mut stages = Stages::new(Some("tray".into()));
        stages.run("tests", || bail!("not wanted")).unwrap();
        stages.run("tray in a browser", || Ok(())).unwrap();
        assert_eq!(stages.done.len(), 1);
    }
}
