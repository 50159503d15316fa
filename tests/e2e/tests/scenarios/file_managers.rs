//! The extensions for file managers, with the libraries of these and a real daemon.

use anyhow::{Context as _, Result, ensure};
use cairn_e2e::{Device, World, wait};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const EXTENSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/file-managers");
const FILE_MANAGER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/file_manager.py");
/// The system's Python: others don't see the libraries of Debian's packages.
const PYTHON: &str = "/usr/bin/python3";

/// A process that has loaded one of the extensions.
struct FileManager {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl FileManager {
    /// Starts it with a tray program that writes its arguments to a file in `dir`.
    fn start(extension: &str, device: &Device, dir: &Path) -> Result<Self> {
        let tray = dir.join("cairn-tray");
        fs::write(
            &tray,
            "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$0.new\" && mv \"$0.new\" \"$0.arguments\"\n",
        )?;
        fs::set_permissions(&tray, fs::Permissions::from_mode(0o755))?;
        let path = std::env::var("PATH").context("there is a PATH")?;
        let mut process = Command::new(PYTHON)
            .args(["-B", FILE_MANAGER])
            .arg(Path::new(EXTENSIONS).join(extension))
            .env("PYTHONPATH", EXTENSIONS)
            .env("CAIRN_HOME", device.home())
            .env("PATH", format!("{}:{path}", dir.display()))
            .env("LANGUAGE", "de")
            .env("LANG", "de_DE.UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{PYTHON} is missing"))?;
        let input = process.stdin.take().context("its input is piped")?;
        let output = process.stdout.take().context("its output is piped")?;
        Ok(Self {
            process,
            input,
            output: BufReader::new(output),
        })
    }

    fn run(&mut self, command: &[&str]) -> Result<String> {
        writeln!(self.input, "{}", command.join("\t"))?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        ensure!(line.ends_with('\n'), "it ended: see what it has printed");
        Ok(line.trim_end_matches('\n').to_owned())
    }

    /// Waits until a file has a state and an emblem.
    fn expect(&mut self, path: &Path, state: &str, emblem: &str) -> Result<()> {
        let found = self.run(&["emblem", &path.to_string_lossy(), state, emblem])?;
        ensure!(found == "ok", "{}: {found}", path.display());
        Ok(())
    }
}

impl Drop for FileManager {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn files_have_the_emblems_of_their_states() -> Result<()> {
    let mut world = World::with_base("a=A; c=C; d/e=E; .cairnignore=*.log")?;
    let path = |name: &str| world.a.files().path(name);
    let (a, c, folder, log) = (path("a"), path("c"), path("d"), path("x.log"));
    let mut files = FileManager::start("nautilus.py", &world.a, world.dir())?;
    files.expect(&a, "synced", "cairn-synced")?;
    files.expect(&folder, "synced", "cairn-synced")?;
    files.expect(world.dir(), "-", "-")?;

    world.a.files().run("x.log=L")?;
    files.expect(&log, "ignored", "-")?;

    // A change that can't be sent, and is sent later: the file manager hears of both.
    world.a.pause()?;
    world.a.files().run("a=A2; c=C-of-a")?;
    files.expect(&a, "waiting", "cairn-waiting")?;
    world.b.files().run("c=C-of-b!")?;
    world.b.wait_idle()?;
    world.a.resume()?;
    world.settle()?;
    files.expect(&a, "synced", "cairn-synced")?;
    files.expect(&c, "conflict", "cairn-attention")?;

    // No daemon, no emblems; and again, when one runs.
    world.a.stop()?;
    files.expect(&a, "-", "-")?;
    world.a.start()?;
    files.expect(&a, "synced", "cairn-synced")?;
    drop(files);
    world.finish()
}

#[test]
fn the_menu_of_dolphin_has_the_same_dialogs() -> Result<()> {
    let menu = fs::read_to_string(Path::new(EXTENSIONS).join("cairn.desktop"))?;
    for dialog in ["why", "versions", "share"] {
        let command = format!("Exec=cairn-tray --{dialog} %f\n");
        ensure!(menu.contains(&command), "no {dialog}");
        ensure!(
            menu.contains(&format!("[Desktop Action {dialog}]\n")),
            "no {dialog}"
        );
    }
    ensure!(menu.contains("Actions=why;versions;share;\n"), "{menu}");
    Ok(())
}

#[test]
fn the_menus_of_all_file_managers_open_the_window() -> Result<()> {
    let world = World::with_base("it's a \"name\".txt=A; d/e=E")?;
    let file = world.a.files().path("it's a \"name\".txt");
    let arguments: PathBuf = world.dir().join("cairn-tray.arguments");
    for extension in ["nautilus.py", "nemo.py", "caja.py", "thunar.py"] {
        let mut files = FileManager::start(extension, &world.a, world.dir())
            .with_context(|| extension.to_owned())?;
        let text = file.to_string_lossy().into_owned();
        let all = "Sync-Status …|Versionen …|Freigabelink …";
        let shown = wait::until("the menu", wait::PROCESS, || {
            let found = files.run(&["menu", &text])?;
            Ok((!found.is_empty()).then_some(found))
        })?;
        ensure!(shown == all, "{extension}: {shown}");
        let folder = world.a.files().path("d");
        let shown = files.run(&["menu", &folder.to_string_lossy()])?;
        ensure!(
            shown == "Sync-Status …|Freigabelink …",
            "{extension}: {shown}"
        );
        let elsewhere = files.run(&["menu", &world.dir().to_string_lossy()])?;
        ensure!(elsewhere.is_empty(), "{extension}: {elsewhere}");

        files.run(&["click", &text, "Versionen …"])?;
        wait::until("the start of the tray", wait::PROCESS, || {
            Ok(arguments.exists().then_some(()))
        })?;
        let given = fs::read_to_string(&arguments)?;
        ensure!(
            given == format!("--versions\n{text}\n"),
            "{extension}: {given}"
        );
        fs::remove_file(&arguments)?;
    }
    world.finish()
}
