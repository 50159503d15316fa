//! The context of every call: the daemon, the program, the desktop and the settings.

use crate::connection::Daemon;
use crate::input::Input;
use crate::program::{Program, ProgramError, Run};
use crate::settings::{Settings, SettingsFile};
use async_trait::async_trait;
use cairn_control::{Request, TypedRequest};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{Notify, mpsc};

/// The person's desktop: pickers, the file manager, autostart.
#[async_trait]
pub trait Desktop: Send + Sync + 'static {
    /// Lets a person choose a folder.
    async fn pick_folder(&self) -> Option<PathBuf>;
    /// Lets a person choose a file in a folder.
    async fn pick_file(&self, folder: &Path) -> Option<PathBuf>;
    /// Lets a person choose where to save a file.
    async fn pick_save(&self, name: &str) -> Option<PathBuf>;
    /// Shows a file in its folder.
    ///
    /// # Errors
    /// [`ProgramError`] if the file is gone or the file manager fails.
    fn reveal(&self, path: PathBuf) -> Result<(), ProgramError>;
    /// Opens a folder.
    ///
    /// # Errors
    /// [`ProgramError`] if the file manager fails.
    fn open(&self, path: PathBuf) -> Result<(), ProgramError>;
    /// Returns true if the tray starts with the session.
    fn autostarts(&self) -> bool;
    /// Turns the start of the tray with the session on or off.
    ///
    /// # Errors
    /// [`ProgramError`] if the desktop's autostart folder can't be written.
    fn set_autostart(&self, on: bool) -> Result<(), ProgramError>;
}

/// Carries out the calls of the window.
pub struct Commands {
    pub daemon: Arc<dyn Daemon>,
    pub program: Arc<dyn Program>,
    pub desktop: Arc<dyn Desktop>,
    pub settings: Mutex<Settings>,
    pub file: SettingsFile,
    /// The controller's inputs.
    pub inputs: mpsc::Sender<Input>,
    /// Cancels a login that waits for the person.
    pub cancel: Notify,
    /// The standard input of the present login.
    pub login_input: Mutex<Option<mpsc::Sender<String>>>,
}

impl Commands {
    /// Returns the current settings.
    pub fn settings(&self) -> Settings {
        self.settings.lock().clone()
    }

    /// Makes a request to the daemon and returns its reply.
    pub(crate) async fn request<R: TypedRequest>(
        &self,
        request: R,
    ) -> Result<R::Reply, ProgramError> {
        let value = self.daemon.request(request.into()).await?;
        serde_json::from_value(value).map_err(|error| {
            ProgramError::failed(format!("can't read the daemon's reply: {error}"))
        })
    }

    /// Makes a request to the daemon whose reply has nothing to show.
    pub(crate) async fn send(&self, request: Request) -> Result<(), ProgramError> {
        self.daemon.request(request).await.map(drop)
    }

    /// Runs the `cairn` program, whatever document it answers with.
    pub(crate) async fn run(&self, run: Run) -> Result<(), ProgramError> {
        self.program.run(run).await.map(drop)
    }

    /// Runs the `cairn` program and returns its document.
    ///
    /// # Errors
    /// The error of the program, or [`ProgramError`] if a field is missing or has another type.
    pub(crate) async fn document<T: DeserializeOwned>(&self, run: Run) -> Result<T, ProgramError> {
        let document = self.program.run(run).await?;
        serde_json::from_value(document).map_err(|error| {
            ProgramError::failed(format!(
                "can't read the reply of the cairn program: {error}; install Cairn again"
            ))
        })
    }
}

/// Returns a value as JSON.
///
/// # Errors
/// [`ProgramError`] if it has no form in JSON.
pub(crate) fn to_json(value: &impl Serialize) -> Result<Value, ProgramError> {
    serde_json::to_value(value).map_err(|error| ProgramError::failed(error.to_string()))
}

/// Returns the path of a file below a folder, or an error if it leads out of the folder.
pub(crate) fn path_below(folder: &str, path: &str) -> Result<PathBuf, ProgramError> {
    let path = Path::new(path);
    let is_inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if is_inside {
        Ok(Path::new(folder).join(path))
    } else {
        let message = format!("{} is not in {folder}", path.display());
        Err(ProgramError::failed(message))
    }
}

/// Returns the same as text, for an argument of the `cairn` program. An empty path is the folder itself.
pub(crate) fn local_text(folder: &str, path: &str) -> Result<String, ProgramError> {
    if path.is_empty() {
        return Ok(folder.to_owned());
    }
    let path = path_below(folder, path)?;
    Ok(path.to_string_lossy().into_owned())
}

/// Runs file work on a thread that may wait.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ProgramError> + Send + 'static,
) -> Result<T, ProgramError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(ProgramError::failed(error.to_string())))
}
