//! The fixture of these tests, the `World`: a bundled Cairn server on a port of its own, and MCP servers that use it.

use crate::mcp::session::Session;
use crate::support::{OWNER, Service};
use cairn_api::{Api, ApiKey, Method};
use cairn_crypto::{AccountKeys, RootCost};
use cairn_mcp::{
    Account, Confirm, DeviceTrust, ForeignTexts, KeySource, LocalFiles, Server, SessionFiles,
    Settings, TaskFiles, ToolFilter,
};
use cairn_model::{DeviceId, Name, Verification};
use cairn_space::Trust;
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub(crate) const PASSPHRASE: &str = "correct horse battery staple";

pub(crate) struct World {
    service: Service,
}

/// The options of a server, besides the service that it speaks with.
pub(crate) struct Setup {
    pub(crate) key: &'static str,
    pub(crate) passphrase: Option<&'static str>,
    pub(crate) filter: ToolFilter,
    pub(crate) confirm: Confirm,
    /// The folders that tools may use instead of the temporary one and the client's roots.
    pub(crate) allowed: Option<Vec<PathBuf>>,
    /// Replaces local files without a question.
    pub(crate) overwrite: bool,
    pub(crate) daemon: Option<PathBuf>,
    /// With `Strict`, refuses content that no device with the keys has authenticated.
    pub(crate) verification: Verification,
    /// The journals of this and other sessions.
    pub(crate) sessions: Option<Arc<dyn SessionFiles>>,
    /// The treatment of texts that others wrote.
    pub(crate) foreign_texts: ForeignTexts,
    /// Another service than the world's.
    pub(crate) url: Option<&'static str>,
    /// The place of long transfers.
    pub(crate) tasks: Option<Arc<dyn TaskFiles>>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            key: OWNER,
            passphrase: None,
            filter: ToolFilter::default(),
            confirm: Confirm::Risky,
            allowed: None,
            overwrite: false,
            daemon: None,
            verification: Verification::Warn,
            sessions: None,
            foreign_texts: ForeignTexts::Fenced,
            url: None,
            tasks: None,
        }
    }
}

impl Setup {
    /// Adds the tools about sync; the socket of the daemon would be in this folder.
    pub(crate) fn with_sync(self, dir: &Path) -> Self {
        Self {
            daemon: Some(dir.join("daemon.sock")),
            ..self
        }
    }
}

/// A service that nobody reaches: no program listens there.
pub(crate) fn unreachable_setup() -> Setup {
    Setup {
        url: Some("http://127.0.0.1:1"),
        ..Setup::default()
    }
}

pub(crate) fn with_passphrase() -> Setup {
    Setup {
        passphrase: Some(PASSPHRASE),
        ..Setup::default()
    }
}

/// A disk where nothing is executable and every name is acceptable.
struct PlainFiles {
    allowed: Option<Vec<PathBuf>>,
}

impl LocalFiles for PlainFiles {
    fn executable(&self, _: &Path) -> Option<bool> {
        None
    }

    fn set_executable(&self, _: &Path, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn sync_all(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn check_name(&self, _: &Name) -> Result<(), String> {
        Ok(())
    }

    fn allowed_dirs(&self) -> Vec<PathBuf> {
        let temporary = || vec![std::env::temp_dir()];
        self.allowed.clone().unwrap_or_else(temporary)
    }

    fn private_dirs(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn private_mark(&self) -> &'static str {
        ".cairn-home"
    }

    fn allows_client_roots(&self) -> bool {
        self.allowed.is_none()
    }
}

/// A device that remembers for one session.
struct MemoryTrust {
    trust: Mutex<Trust>,
    verification: Verification,
}

impl DeviceTrust for MemoryTrust {
    fn update(&self, _: &AccountKeys, change: &mut dyn FnMut(&mut Trust)) -> Result<(), String> {
        change(&mut self.trust.lock().expect("no test panicked with it"));
        Ok(())
    }

    fn verification(&self) -> Result<Verification, String> {
        Ok(self.verification)
    }
}

impl World {
    pub(crate) async fn start() -> Self {
        Self {
            service: Service::in_memory().await,
        }
    }

    pub(crate) fn server(&self, setup: Setup) -> Server {
        let keys = match setup.passphrase {
            None => KeySource::Missing,
            Some(passphrase) => KeySource::Passphrase {
                passphrase: passphrase.to_owned().into(),
                cost: RootCost::LEAST,
            },
        };
        let settings = Settings {
            account: Account {
                auth: Arc::new(ApiKey::new(setup.key)),
                url: setup
                    .url
                    .map_or_else(|| self.service.url.clone(), str::to_owned),
                file_server: None,
                device: DeviceId::from_random_bytes([7; 16]),
                keys,
            },
            filter: setup.filter,
            confirm: setup.confirm,
            trust: Arc::new(MemoryTrust {
                trust: Mutex::default(),
                verification: setup.verification,
            }),
            files: Arc::new(PlainFiles {
                allowed: setup.allowed,
            }),
            overwrite: setup.overwrite,
            daemon: setup.daemon,
            sessions: setup.sessions,
            rewinder: None,
            foreign_texts: setup.foreign_texts,
            tasks: setup.tasks,
        };
        Server::new(settings).expect("the settings are good")
    }

    /// A server and a client of it, with nothing said yet.
    pub(crate) fn connect(&self, setup: Setup) -> Session {
        Session::over(self.server(setup))
    }

    /// A server and a client that has shaken hands in the older way.
    pub(crate) async fn session(&self, setup: Setup) -> Session {
        let mut session = self.connect(setup);
        session.initialize(json!({})).await;
        session
    }

    /// Tells the service how to behave.
    pub(crate) async fn dev(&self, path: &str, body: Value) {
        self.service.post(path, body).await;
    }

    /// Ends all faults that [`Self::dev`] has set.
    pub(crate) async fn end_faults(&self) {
        self.service.delete("/_dev/faults").await;
    }

    /// Returns method, path and query of the requests that the service has received, without those of `/_dev`.
    pub(crate) async fn requests(&self) -> Vec<String> {
        self.service.requests().await
    }

    /// Asks the service itself.
    pub(crate) async fn rest(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        self.rest_as(OWNER, method, path, body).await
    }

    /// A client of the service.
    pub(crate) fn api(&self, key: &str) -> Api {
        self.service.api(key, DeviceId::from_random_bytes([8; 16]))
    }

    /// The same as somebody else.
    pub(crate) async fn rest_as(
        &self,
        key: &str,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Value {
        let api = self.api(key);
        let parts: Vec<_> = path.split('/').collect();
        api.call(method, &parts, &[], body.as_ref())
            .await
            .expect("the service answers")
    }
}
