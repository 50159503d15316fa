//! Pickers, the file manager and autostart of this desktop.

use crate::commands::Desktop;
use crate::program::ProgramError;
use async_trait::async_trait;
use std::path::{Path, PathBuf};
use tauri::AppHandle;
use tauri_plugin_autostart::ManagerExt as _;
use tauri_plugin_dialog::{DialogExt as _, FilePath};
use tauri_plugin_opener::OpenerExt as _;
use tokio::sync::oneshot;

/// The desktop that the program runs on.
pub(super) struct ThisDesktop(pub(super) AppHandle);

#[async_trait]
impl Desktop for ThisDesktop {
    async fn pick_folder(&self) -> Option<PathBuf> {
        let (chosen, choice) = oneshot::channel();
        self.0.dialog().file().pick_folder(move |path| {
            // The window may have been closed meanwhile.
            let _ = chosen.send(path);
        });
        path(choice.await.ok().flatten())
    }

    async fn pick_file(&self, folder: &Path) -> Option<PathBuf> {
        let (chosen, choice) = oneshot::channel();
        self.0
            .dialog()
            .file()
            .set_directory(folder)
            .pick_file(move |path| {
                let _ = chosen.send(path);
            });
        path(choice.await.ok().flatten())
    }

    async fn pick_save(&self, name: &str) -> Option<PathBuf> {
        let (chosen, choice) = oneshot::channel();
        self.0
            .dialog()
            .file()
            .set_file_name(name)
            .save_file(move |path| {
                let _ = chosen.send(path);
            });
        path(choice.await.ok().flatten())
    }

    fn reveal(&self, path: PathBuf) -> Result<(), ProgramError> {
        if !path.exists() {
            return Err(ProgramError::failed(format!(
                "{} no longer exists",
                path.display()
            )));
        }
        self.0
            .opener()
            .reveal_item_in_dir(&path)
            .map_err(|error| reveal_error(&path, &error))
    }

    fn open(&self, path: PathBuf) -> Result<(), ProgramError> {
        self.0
            .opener()
            .open_path(path.to_string_lossy(), None::<&str>)
            .map_err(|error| reveal_error(&path, &error))
    }

    fn autostarts(&self) -> bool {
        self.0.autolaunch().is_enabled().unwrap_or(false)
    }

    fn set_autostart(&self, on: bool) -> Result<(), ProgramError> {
        let autostart = self.0.autolaunch();
        let done = if on {
            autostart.enable()
        } else {
            autostart.disable()
        };
        done.map_err(|error| {
            ProgramError::failed(format!(
                "can't change what starts with the session: {error}"
            ))
        })
    }
}

fn path(chosen: Option<FilePath>) -> Option<PathBuf> {
    chosen.and_then(|path| path.into_path().ok())
}

fn reveal_error(path: &Path, error: &tauri_plugin_opener::Error) -> ProgramError {
    ProgramError::failed(format!(
        "the file manager can't show {}: {error}",
        path.display()
    ))
}
