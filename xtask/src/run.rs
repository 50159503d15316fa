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

/// Returns the directory of all build output.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A program that was built for debugging.
pub(crate) fn program(name: &str) -> PathBuf {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    target().join("debug").join(file)
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    // Nothing that is built there is built again.
    if in_ci() && std::env::var_os("CARGO_INCREMENTAL").is_none() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// The cargo that builds the workspace's programs and tests for the checks. In CI, where nothing was built before,
/// the compiler that also has the lints does it, and every warning is an error: one pass over all code instead of
/// two. By hand the plain compiler does, whose artefacts `cargo build` and `cargo nextest` use too.
///
/// # Errors
/// rustc can't be run.
pub(crate) fn checking_cargo() -> Result<Command> {
    let mut command = cargo();
    if in_ci() {
        let sysroot = Command::new("rustc")
            .current_dir(root())
            .args(["--print", "sysroot"])
            .output()
            .context("can't run rustc")?;
        let sysroot = String::from_utf8(sysroot.stdout).context("the toolchain's directory")?;
        let driver = format!("clippy-driver{}", std::env::consts::EXE_SUFFIX);
        let compiler = Path::new(sysroot.trim()).join("bin").join(driver);
        // As `cargo clippy -- -D warnings` hands it on.
        command.env("RUSTC_WORKSPACE_WRAPPER", compiler).env(
            "CLIPPY_ARGS",
            "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
        );
    }
    Ok(command)
}

/// Returns the test runner over the whole workspace, so that nothing is built with other features.
///
/// # Errors
/// As for [`checking_cargo`].
pub(crate) fn nextest() -> Result<Command> {
    let mut command = checking_cargo()?;
    command.args(["nextest", "run", "--workspace", "--locked"]);
    command.args(["--profile", "ci"]);
    Ok(command)
}

/// Returns `true` on a machine of continuous integration, which builds everything anew and is asked nothing.
pub(crate) fn in_ci() -> bool {
    std::env::var_os("CI").is_some()
}

/// Runs a command to its end with its output shown.
///
/// # Errors
/// The command can't be started or fails; the message shows the command.
pub(crate) fn run_command(command: &mut Command) -> Result<()> {
    let line = describe(command);
    let status = command
        .status()
        .with_context(|| format!("can't run `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Returns `true` if this process may do everything.
pub(crate) fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.starts_with(b"0\n"))
}

/// Returns `true` if a command can be run and succeeds; shows nothing.
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

/// Named steps, each with its time; what failed is told again at the end.
#[derive(Debug)]
pub(crate) struct Stages {
    begun: Instant,
    /// Text that the names of the wanted stages contain; all stages, if absent.
    only: Option<String>,
    done: Vec<(&'static str, Duration)>,
    failed: Vec<String>,
}

impl Stages {
    pub(crate) fn new(only: Option<String>) -> Self {
        Self {
            begun: Instant::now(),
            only,
            done: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Runs a stage that the later ones build on; its failure ends everything.
    ///
    /// # Errors
    /// All failures so far, each with its stage's name.
    pub(crate) fn need(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let failures = self.failed.len();
        self.run(name, work);
        if self.failed.len() > failures {
            return self.finish();
        }
        Ok(())
    }

    /// Runs a stage; after a failure the next ones run all the same, so that one run tells everything.
    pub(crate) fn run(&mut self, name: &'static str, work: impl FnOnce() -> Result<()>) {
        if self.only.as_ref().is_some_and(|only| !name.contains(only)) {
            return;
        }
        println!("\n=== {name}");
        let begun = Instant::now();
        let result = work();
        self.done.push((name, begun.elapsed()));
        if let Err(error) = result {
            println!("FAILED: {error:#}");
            self.failed
                .push(format!("in the stage `{name}`: {error:#}"));
        }
    }

    /// Prints the times of all stages.
    ///
    /// # Errors
    /// All failures, each with its stage's name; or that no stage was wanted.
    pub(crate) fn finish(&self) -> Result<()> {
        if self.done.is_empty() {
            bail!("no stage is called so; `cargo xtask test` names them while it runs");
        }
        let end = if self.failed.is_empty() {
            "all passed"
        } else {
            "failed"
        };
        println!("\n{:>10}  stage", "seconds");
        for (name, time) in &self.done {
            println!("{:>10.1}  {name}", time.as_secs_f64());
        }
        println!(
            "{:>10.1}  in all: {end}",
            self.begun.elapsed().as_secs_f64()
        );
        if self.failed.is_empty() {
            return Ok(());
        }
        bail!("{}", self.failed.join("\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_named() {
        let error = run_command(Command::new("false").arg("now")).unwrap_err();
        assert!(error.to_string().contains("`false now` failed"), "{error}");
        let error = run_command(&mut Command::new("/nowhere/at-all")).unwrap_err();
        assert!(error.to_string().contains("can't run `at-all`"), "{error}");
    }

    #[test]
    fn a_failing_stage_is_named_and_the_next_one_runs() {
        let mut stages = Stages::new(None);
        stages.run("first", || Ok(()));
        stages.run("second", || bail!("no"));
        stages.run("third", || Ok(()));
        assert_eq!(stages.done.len(), 3);
        let error = stages.finish().unwrap_err();
        assert_eq!(error.to_string(), "in the stage `second`: no");
    }

    #[test]
    fn what_others_build_on_ends_everything() {
        let mut stages = Stages::new(None);
        stages.need("first", || Ok(())).unwrap();
        stages.run("second", || bail!("no"));
        stages.need("third", || Ok(())).unwrap();
        let error = stages.need("fourth", || bail!("neither")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "in the stage `second`: no\nin the stage `fourth`: neither"
        );
    }

    #[test]
    fn only_the_wanted_stages_run() {
        let mut stages = Stages::new(Some("tray".into()));
        stages.run("tests", || bail!("not wanted"));
        assert!(stages.finish().is_err());
        stages.run("tray in a browser", || Ok(()));
        stages.finish().unwrap();
        assert_eq!(stages.done.len(), 1);
    }
}
