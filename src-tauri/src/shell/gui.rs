//! The tray icon, the window and notifications, with Tauri.

use crate::controller::Gui;
use crate::input::{Input, LoginStep};
use crate::notifications::Notification;
use crate::settings::IconScheme;
use crate::shell::menu::TrayMenu;
use crate::shell::{WINDOW, click, picture, send};
use crate::tray::{Icon, Tray};
use crate::view::{ActivityView, View};
use crate::window::{EVENT, Place, WindowEvent};
use parking_lot::Mutex;
use std::sync::Arc;
use tauri::image::Image;
use tauri::tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Emitter as _, Manager as _, WebviewUrl, WebviewWindowBuilder, Wry};
use tauri_plugin_notification::NotificationExt as _;
use tokio::sync::mpsc;

/// Wide enough for two versions side by side.
const SIZE: (f64, f64) = (980.0, 700.0);
const MIN_SIZE: (f64, f64) = (620.0, 440.0);

/// The controller's desktop, with Tauri.
pub(super) struct TauriGui {
    app: AppHandle,
    tray: TrayIcon<Wry>,
    menu: Arc<Mutex<TrayMenu>>,
    icon: Mutex<Option<(Icon, IconScheme)>>,
}

impl TauriGui {
    pub(super) fn new(app: &AppHandle, inputs: mpsc::Sender<Input>) -> tauri::Result<Self> {
        let menu = TrayMenu::new(app)?;
        let clicks = inputs.clone();
        let tray = TrayIconBuilder::with_id("main")
            .title("Cairn")
            .menu(menu.menu())
            .show_menu_on_left_click(false)
            .on_menu_event(move |_, event| click(&clicks, event.id().as_ref()))
            .on_tray_icon_event(move |_, event| {
                if let TrayIconEvent::Click {
                    button: MouseButton::Left,
                    button_state: MouseButtonState::Up,
                    ..
                } = event
                {
                    send(&inputs, Input::SecondStart(None));
                }
            })
            .build(app)?;
        Ok(Self {
            app: app.clone(),
            tray,
            menu: Arc::new(Mutex::new(menu)),
            icon: Mutex::default(),
        })
    }

    fn emit(&self, event: WindowEvent) {
        // A window that has just been closed needs no event.
        if self.app.get_webview_window(WINDOW).is_some() {
            let _ = self.app.emit_to(WINDOW, EVENT, event);
        }
    }

    fn show_icon(&self, icon: Icon, scheme: IconScheme) {
        let mut shown = self.icon.lock();
        if *shown == Some((icon, scheme)) {
            return;
        }
        if let Ok(image) = Image::from_bytes(picture(icon, scheme)) {
            // Without a host for it, the tray shows nothing and everything else goes on.
            let _ = self.tray.set_icon(Some(image));
            *shown = Some((icon, scheme));
        }
    }
}

impl Gui for TauriGui {
    fn show_tray(&self, tray: &Tray, scheme: IconScheme) {
        self.show_icon(tray.icon, scheme);
        let (app, menu, entries) = (self.app.clone(), self.menu.clone(), tray.entries.clone());
        // Widgets belong to the main thread; what is queued stays in order.
        let _ = self.app.run_on_main_thread(move || {
            let mut menu = menu.lock();
            let _ = menu.show(&app, &entries);
        });
    }

    fn push_view(&self, view: &View) {
        self.emit(WindowEvent::View(view.clone()));
    }

    fn push_activity(&self, rows: &[ActivityView]) {
        self.emit(WindowEvent::Activity(rows.to_vec()));
    }

    fn push_login_step(&self, step: LoginStep) {
        self.emit(WindowEvent::LoginStep(step));
    }

    fn open_window(&self, place: Option<Place>) {
        let app = self.app.clone();
        let _ = self.app.run_on_main_thread(move || {
            if let Err(error) = open(&app, place) {
                eprintln!("cairn-tray: can't open the window: {error}");
            }
        });
    }

    fn notify(&self, notification: &Notification) {
        // A desktop without notifications is no reason to stop.
        let _ = self
            .app
            .notification()
            .builder()
            .title(&notification.title)
            .body(&notification.body)
            .show();
    }

    fn quit(&self) {
        self.app.exit(0);
    }
}

/// Creates the window. It is destroyed when it is closed: hidden, its engine would keep hundreds of
/// megabytes.
fn open(app: &AppHandle, place: Option<Place>) -> tauri::Result<()> {
    if let Some(window) = app.get_webview_window(WINDOW) {
        window.unminimize()?;
        window.show()?;
        window.set_focus()?;
        if let Some(place) = place {
            window.emit(EVENT, place.event())?;
        }
        return Ok(());
    }
    let page = place.map_or_else(
        || "index.html".to_owned(),
        |place| format!("index.html#{}", place.fragment()),
    );
    WebviewWindowBuilder::new(app, WINDOW, WebviewUrl::App(page.into()))
        .title("Cairn")
        .inner_size(SIZE.0, SIZE.1)
        .min_inner_size(MIN_SIZE.0, MIN_SIZE.1)
        .focused(true)
        .build()?;
    Ok(())
}
