//! The fixture of these tests, the `World`: a bundled server in this process, and homes (directories with one
//! installation's configuration and state) with which the real program is run.

use crate::support::{OWNER, Service};
use cairn_api::Api;
use cairn_model::{DeviceId, Kind, TeamId};
use cairn_wire::account::CreateApiKey;
use cairn_wire::nodes::{CreateNode, UpdateNode};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub(crate) const PASSPHRASE: &str = "correct horse battery staple";

/// The fewest iterations that every client accepts: tests wait for each login.
const ITERATIONS: &str = "600000";

pub(crate) struct World {
    pub(crate) dir: TempDir,
    pub(crate) url: String,
    service: Service,
    runtime: Runtime,
}

/// The exit code and output of a command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Returns the path of the program.
pub(crate) fn program() -> PathBuf {
    cairn_e2e::binaries::cairn().expect("the program is built")
}

impl World {
    pub(crate) fn new() -> Self {
        let runtime = Runtime::new().expect("threads can be started");
        let service = runtime.block_on(Service::in_memory());
        let world = Self {
            dir: tempfile::tempdir().expect("a directory can be made"),
            url: service.url.clone(),
            service,
            runtime,
        };
        world.write("passphrase", PASSPHRASE);
        world
    }

    /// Tells the server how to behave.
    pub(crate) fn dev(&self, path: &str, body: Value) {
        self.runtime.block_on(self.service.post(path, body));
    }

    /// Returns method, path and query of the requests that the server has received.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.runtime.block_on(self.service.requests())
    }

    /// Lets the server behave again.
    pub(crate) fn clear_faults(&self) {
        self.runtime.block_on(self.service.delete("/_dev/faults"));
    }

    /// Returns the key bundle that the server has.
    pub(crate) fn served_keys(&self) -> Value {
        let keys = self.runtime.block_on(async { self.api().keys().await });
        serde_json::to_value(keys.expect("the account has keys")).expect("JSON")
    }

    /// Returns the keys of a team's members that the server gives.
    pub(crate) fn served_team_keys(&self, team: TeamId) -> Value {
        let keys = self
            .runtime
            .block_on(async { self.api().team_keys(team).await });
        serde_json::to_value(keys.expect("the team has keys")).expect("JSON")
    }

    /// Returns a node of the account's own space, or of a team's, as the server gives it.
    pub(crate) fn served_node(&self, id: &str, team: Option<&str>) -> Value {
        let node = self.runtime.block_on(async {
            let api = self.api();
            let teams = api.teams().await?;
            let space = teams.iter().find(|one| Some(&*one.name) == team);
            let api = space.map_or_else(|| self.api(), |one| api.in_space(one.space_id));
            api.node(id.parse().expect("it is an id")).await
        });
        serde_json::to_value(node.expect("the server has it")).expect("JSON")
    }

    /// Makes a folder at the top of the account's own space, as somebody does who has no keys.
    pub(crate) fn make_folder_without_keys(&self, name: &str) {
        let folder = CreateNode {
            id: None,
            parent_id: None,
            kind: Kind::Folder,
            name: name.to_owned(),
            seal: None,
        };
        let made = self
            .runtime
            .block_on(async { self.api().create_folder(&folder).await });
        made.expect("a folder can be made");
    }

    /// Renames a node of the account's own space, as somebody does who has no keys.
    pub(crate) fn rename_without_keys(&self, id: &str, name: &str) {
        let change = UpdateNode {
            name: Some(name.to_owned()),
            ..UpdateNode::default()
        };
        let id = id.parse().expect("it is an id");
        let renamed = self
            .runtime
            .block_on(async { self.api().update_node(id, None, &change).await });
        renamed.expect("it can be renamed");
    }

    /// Puts a node of the account's own space into the trash, as somebody does who has no keys.
    pub(crate) fn delete_without_keys(&self, id: &str) {
        let id = id.parse().expect("it is an id");
        let deleted = self
            .runtime
            .block_on(async { self.api().delete_node(id, None, None).await });
        deleted.expect("it can be deleted");
    }

    /// Makes another API key of the account.
    pub(crate) fn api_key(&self, name: &str) -> String {
        let create = CreateApiKey {
            name: name.to_owned(),
            expires_in: None,
        };
        let made = self
            .runtime
            .block_on(async { self.api().create_api_key(&create).await });
        made.expect("a key can be made").key
    }

    fn api(&self) -> Api {
        self.service
            .api(OWNER, DeviceId::from_random_bytes([9; 16]))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("a file can be written");
    }

    /// Runs the program on a home, whatever comes of it.
    pub(crate) fn run(&self, home: &str, args: &[&str]) -> CommandOutput {
        self.run_with(home, args, &[])
    }

    /// The same with variables in its environment.
    pub(crate) fn run_with(
        &self,
        home: &str,
        args: &[&str],
        variables: &[(&str, &str)],
    ) -> CommandOutput {
        let output = Command::new(program())
            .arg("--home")
            .arg(self.path(home))
            .args(args)
            .env("CAIRN_KDF_MEMORY_MIB", "64")
            .env("CAIRN_KDF_ITERATIONS", ITERATIONS)
            .env_remove("CAIRN_API_KEY")
            .envs(variables.iter().copied())
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .output()
            .expect("the program can be run");
        CommandOutput::of(&output)
    }

    /// Runs the program, which must succeed, and gives its document.
    pub(crate) fn json(&self, home: &str, args: &[&str]) -> Value {
        let response = self.run(home, &[&["--json"], args].concat());
        assert_eq!(response.code, 0, "{args:?}: {response:?}");
        serde_json::from_str(&response.stdout)
            .unwrap_or_else(|e| panic!("{args:?} answered no JSON ({e}): {response:?}"))
    }

    pub(crate) fn login(&self, home: &str) -> Value {
        let passphrase = self.text("passphrase");
        self.json(home, &self.login_args(OWNER, &passphrase))
    }

    pub(crate) fn login_args<'a>(&'a self, key: &'a str, passphrase: &'a str) -> Vec<&'a str> {
        let login = [
            "login",
            "--server",
            &self.url,
            "--api-key",
            key,
            "--secrets",
            "file",
        ];
        [&login[..], &["--passphrase-file", passphrase]].concat()
    }
}

impl CommandOutput {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Checks that it was refused with one line that has these words.
    #[track_caller]
    pub(crate) fn assert_refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        let lines: Vec<_> = self
            .stderr
            .lines()
            .filter(|line| line.starts_with("cairn: "))
            .collect();
        assert_eq!(lines.len(), 1, "one line says what happened: {self:?}");
        for word in words {
            assert!(lines[0].contains(word), "{word:?} is not in {:?}", lines[0]);
        }
    }
}

/// Ends a daemon that a test has left running.
pub(crate) struct Stopping<'a>(pub(crate) &'a World, pub(crate) &'a str);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.run(self.1, &["stop"]);
    }
}

pub(crate) fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .expect("it is a directory")
        .map(|entry| {
            entry
                .expect("it can be read")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| !name.starts_with(".cairn-"))
        .collect();
    names.sort();
    names
}
