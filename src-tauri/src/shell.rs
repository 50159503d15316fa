//! The desktop: everything that needs Tauri. Decisions are made elsewhere.

mod commands;
mod desktop;
mod gui;
mod icons;
mod menu;

pub use icons::picture;

use crate::calls::Desk;
use crate::controller::{Controller, Gui as _, Input};
use crate::link::{Daemon, Link};
use crate::options::Options;
use crate::program::Cairn;
use crate::settings::SettingsFile;
use crate::tray::Action;
use cairn_control::Home;
use std::sync::{Arc, Mutex};
use tauri::RunEvent;
use tokio::sync::mpsc;

/// The window's name, and that of its capability.
const WINDOW: &str = "main";
/// Clicks and events that wait while the controller is busy.
const BACKLOG: usize = 256;

/// Why the program could not run.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    #[error(
        "there is no display to show anything on: start it in a desktop session, or use `cairn status` and the other commands instead"
    )]
    NoDisplay,
    #[error("can't find the place for Cairn's files: {0}")]
    Home(#[from] std::io::Error),
    #[error("can't start: {0}")]
    Tauri(#[from] tauri::Error),
}

/// Runs the tray until it is quit.
///
/// # Errors
/// [`ShellError`], before anything is shown.
pub fn run(options: Options) -> Result<(), ShellError> {
    if !has_display() {
        return Err(ShellError::NoDisplay);
    }
    let home = Home::resolve(options.home.clone())?;
    let custom = options.home.clone();
    let program = Arc::new(Cairn::find(options.cairn.clone(), custom));
    let (inputs, receiver) = mpsc::channel(BACKLOG);
    let builder = tauri::Builder::default()
        .plugin(second_start(inputs.clone()))
        .plugin(
            tauri_plugin_autostart::Builder::new()
                .args(["--autostarted"])
                .build(),
        )
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_notification::init())
        .plugin(tauri_plugin_opener::init())
        .invoke_handler(tauri::generate_handler![commands::call]);
    let setup_inputs = inputs.clone();
    let builder = builder.setup(move |app| {
        let handle = app.handle().clone();
        let link = Link::new(home.socket_path(), program.clone());
        let file = SettingsFile::in_dir(home.data_dir());
        let desk = Arc::new(Desk {
            daemon: link.clone() as Arc<dyn Daemon>,
            program: program.clone(),
            desktop: Arc::new(desktop::ThisDesktop(handle.clone())),
            settings: Mutex::new(file.load()),
            file,
            cairn: program.path().to_string_lossy().into_owned(),
            inputs: setup_inputs.clone(),
            cancel: tokio::sync::Notify::new(),
        });
        tauri::Manager::manage(app, desk.clone());
        let gui = Arc::new(gui::TauriGui::new(&handle, setup_inputs.clone())?);
        if options.show {
            gui.open_window(None);
        }
        let greet = !options.autostarted && !options.show;
        tauri::async_runtime::spawn(Controller::new(gui, desk, greet).run(receiver));
        let (events, mut told) = mpsc::channel(BACKLOG);
        tauri::async_runtime::spawn(async move { link.keep(events).await });
        tauri::async_runtime::spawn(async move {
            while let Some(event) = told.recv().await {
                if setup_inputs.send(Input::Link(event)).await.is_err() {
                    return;
                }
            }
        });
        Ok(())
    });
    let app = build(builder)?;
    app.run(|_, event| {
        // The last window was closed: the tray stays. Quitting has an exit code.
        if let RunEvent::ExitRequested {
            api, code: None, ..
        } = event
        {
            api.prevent_exit();
        }
    });
    Ok(())
}

/// GTK ends with a panic where the display can't be opened, which says nothing to a person.
fn build(builder: tauri::Builder<tauri::Wry>) -> Result<tauri::App, ShellError> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let attempt = std::panic::AssertUnwindSafe(|| builder.build(tauri::generate_context!()));
    let built = std::panic::catch_unwind(attempt);
    std::panic::set_hook(hook);
    match built {
        Ok(app) => Ok(app?),
        Err(_) => Err(ShellError::NoDisplay),
    }
}

fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::env::consts::OS != "linux" || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

fn second_start(inputs: mpsc::Sender<Input>) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    tauri_plugin_single_instance::init(move |_, arguments, _| {
        // The desktop starting it again at login must not open a window.
        if !arguments.iter().any(|argument| argument == "--autostarted") {
            send(&inputs, Input::SecondStart);
        }
    })
}

/// Hands the controller an input from a thread that must not wait.
fn send(inputs: &mpsc::Sender<Input>, input: Input) {
    let inputs = inputs.clone();
    tauri::async_runtime::spawn(async move {
        // If the controller has ended, so does the program.
        let _ = inputs.send(input).await;
    });
}

fn click(inputs: &mpsc::Sender<Input>, id: &str) {
    if let Some(action) = Action::of_id(id) {
        send(inputs, Input::Click(action));
    }
}
