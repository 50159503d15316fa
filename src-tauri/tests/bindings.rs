//! The window's TypeScript types are those of the Rust view models.
//!
//! Run with `CAIRN_BLESS=1` to write `ui/src/types.ts` anew after a change.

use cairn_tray::calls::*;
use cairn_tray::conflict::*;
use cairn_tray::controller::Place;
use cairn_tray::program::{Fault, FaultCode};
use cairn_tray::progress::Share;
use cairn_tray::settings::*;
use cairn_tray::strings::Language;
use cairn_tray::tray::PauseFor;
use cairn_tray::view::*;
use std::path::Path;
use ts_rs::{Config, TS};

fn declarations() -> String {
    let config = Config::new().with_large_int("number");
    let all: &[fn(&Config) -> String] = &[
        AccountView::decl,
        ActivityView::decl,
        Assistant::decl,
        AssistantConfig::decl,
        AutostartView::decl,
        Call::decl,
        ConflictDetail::decl,
        ConflictView::decl,
        DeviceView::decl,
        DeliveryView::decl,
        DiffLine::decl,
        Fault::decl,
        FaultCode::decl,
        FolderChoices::decl,
        FolderView::decl,
        GateView::decl,
        IconScheme::decl,
        KeepView::decl,
        Language::decl,
        LineKind::decl,
        Link::decl,
        LoginForm::decl,
        ModeView::decl,
        Notify::decl,
        PauseFor::decl,
        Place::decl,
        ProblemView::decl,
        QuestionView::decl,
        RemoteFolder::decl,
        Settings::decl,
        Share::decl,
        Start::decl,
        StateView::decl,
        TransferView::decl,
        VerdictView::decl,
        VersionFacts::decl,
        VersionView::decl,
        View::decl,
        WebhookAct::decl,
        WebhookView::decl,
    ];
    let head = "// Made from the Rust view models by src-tauri/tests/bindings.rs. Do not edit.\n";
    all.iter().fold(head.to_owned(), |out, declare| {
        format!("{out}\nexport {}\n", declare(&config))
    })
}

#[test]
fn the_types_of_the_window_are_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/src/types.ts");
    let made = declarations();
    if std::env::var_os("CAIRN_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "ui/src/types.ts is out of date: run `CAIRN_BLESS=1 cargo test -p cairn-tray --test bindings`"
    );
}
