//! The desktop: everything that needs Tauri. Decisions are made elsewhere.

mod desktop;
mod gui;
mod icons;
mod invoke;
mod menu;

pub use icons::picture;

use crate::commands::Commands;
use crate::connection::{Connection, Daemon};
use crate::controller::{Controller, Gui as _};
use crate::input::Input;
use crate::options::Options;
use crate::program::Cairn;
use crate::settings::SettingsFile;
use crate::tray::Action;
use crate::window::Place;
use cairn_control::Home;
use parking_lot::Mutex;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use tauri::RunEvent;
use tokio::sync::{Notify, mpsc};

/// The window's name, and that of its capability.
const WINDOW: &str = "main";
/// The number of clicks and events that may wait while the controller is busy.
const BACKLOG: usize = 256;

/// The reason that the program could not run.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    #[error(
        "there is no display: start it in a desktop session, or use `cairn status` and the other commands"
    )]
    NoDisplay,
    #[error("can't find the directory for Cairn's files: {0}")]
    Home(#[from] std::io::Error),
    #[error("can't start: {0}")]
    Tauri(#[from] tauri::Error),
}

/// Runs the tray until it is quit.
///
/// # Errors
/// [`ShellError`], before anything is shown.
pub fn run(options: Options) -> Result<(), ShellError> {
    if !cairn_control::has_display() {
        return Err(ShellError::NoDisplay);
    }
    let context = tauri::generate_context!();
    if cairn_platform::instance::forward_start(&context.config().identifier) {
        return Ok(());
    }
    let home = Home::resolve(options.home.clone())?;
    let program = Arc::new(Cairn::find(options.cairn.clone(), options.home.clone()));
    let (inputs, receiver) = mpsc::channel(BACKLOG);
    let builder = plugins(&inputs).setup(move |app| {
        let handle = app.handle();
        let connection = Connection::new(home.socket_path(), program.clone());
        let file = SettingsFile::in_dir(home.data_dir());
        let commands = Arc::new(Commands {
            daemon: connection.clone() as Arc<dyn Daemon>,
            program: program.clone(),
            desktop: Arc::new(desktop::ThisDesktop(handle.clone())),
            settings: Mutex::new(file.load()),
            file,
            inputs: inputs.clone(),
            cancel: Notify::new(),
            login_input: Mutex::default(),
        });
        tauri::Manager::manage(app, commands.clone());
        let gui = Arc::new(gui::TauriGui::new(handle, inputs.clone())?);
        let opens = options.show || options.file.is_some();
        if opens {
            gui.open_window(options.file.map(Place::File));
        }
        let offer_setup = !options.autostarted && !opens;
        let controller = Controller::new(gui, commands, offer_setup);
        tauri::async_runtime::spawn(controller.run(receiver));
        spawn_connection(connection, inputs);
        Ok(())
    });
    build(builder, context)?.run(|_, event| {
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

fn plugins(inputs: &mpsc::Sender<Input>) -> tauri::Builder<tauri::Wry> {
    let autostart = tauri_plugin_autostart::Builder::new().args(["--autostarted"]);
    tauri::Builder::default()
        .plugin(second_start(inputs.clone()))
        .plugin(autostart.build())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_notification::init())
        .plugin(tauri_plugin_opener::init())
        .invoke_handler(tauri::generate_handler![invoke::call])
}

/// Maintains the connection and forwards its events to the controller.
fn spawn_connection(connection: Arc<Connection>, inputs: mpsc::Sender<Input>) {
    let (sender, mut events) = mpsc::channel(BACKLOG);
    tauri::async_runtime::spawn(async move { connection.maintain(sender).await });
    tauri::async_runtime::spawn(async move {
        while let Some(event) = events.recv().await {
            if inputs.send(Input::Connection(event)).await.is_err() {
                return;
            }
        }
    });
}

/// Builds the app. GTK panics if the display can't be opened, with a message that helps nobody.
fn build(
    builder: tauri::Builder<tauri::Wry>,
    context: tauri::Context,
) -> Result<tauri::App, ShellError> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let attempt = std::panic::AssertUnwindSafe(|| builder.build(context));
    let built = std::panic::catch_unwind(attempt);
    std::panic::set_hook(hook);
    match built {
        Ok(app) => Ok(app?),
        Err(_) => Err(ShellError::NoDisplay),
    }
}

fn second_start(inputs: mpsc::Sender<Input>) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    tauri_plugin_single_instance::init(move |_, arguments, dir| {
        let arguments = arguments.into_iter().skip(1).map(OsString::from);
        // Another version of the program may have other options: those of this one count.
        let options = Options::parse(arguments, Path::new(&dir)).unwrap_or_default();
        // The desktop starting it again at login must not open a window.
        if !options.autostarted {
            send(&inputs, Input::SecondStart(options.file));
        }
    })
}

/// Sends an input to the controller from a thread that must not wait.
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
