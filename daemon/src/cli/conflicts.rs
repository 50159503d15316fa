//! `cairn conflicts`: where both versions were kept, and a person should look.

use crate::app::App;
use crate::failure::CommandResult;
use crate::output::table::{Align, Table};
use crate::output::text::local_rfc3339;
use cairn_control::{Conflict, ConflictList, typed};

/// Show where two versions of a file were kept
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

pub(super) async fn run(app: &App, _: Args) -> CommandResult {
    let mut list: ConflictList = app.daemon().await?.send(typed::Conflicts {}).await?;
    list.conflicts
        .sort_by(|a, b| (&a.folder, &a.path, &a.copy).cmp(&(&b.folder, &b.path, &b.copy)));
    let mut table = Table::new(&[
        ("PATH", Align::Name),
        ("FROM", Align::Name),
        ("COPY", Align::Name),
        ("COPY FROM", Align::Name),
        ("KIND", Align::Left),
        ("SINCE", Align::Left),
        ("FOLDER", Align::Name),
    ]);
    for conflict in &list.conflicts {
        table.row([
            original(conflict),
            conflict.device.clone(),
            conflict.copy.clone(),
            copy_device(conflict),
            conflict.kind.to_string(),
            local_rfc3339(&conflict.at, &app.zone),
            conflict.folder.clone(),
        ]);
    }
    table.print(&app.out, "There is no conflict.");
    if !list.conflicts.is_empty() {
        app.out.line(
            "Resolve one with `cairn resolve PATH --keep copy|original|mine|theirs|both|merge`.",
        );
    }
    if list.conflicts.iter().any(|conflict| conflict.original_gone) {
        app.out.line(
            "Where the file is not there any more, the copy is the only version: `cairn resolve COPY --keep copy` gives it that path, and `--keep both` a plain name where it is.",
        );
    }
    app.out.json(&list);
    Ok(())
}

/// Returns the path of the version that kept the name, and whether it is there.
fn original(conflict: &Conflict) -> String {
    match conflict.original_gone {
        true => format!("{} (not there)", conflict.path),
        false => conflict.path.clone(),
    }
}

/// Returns the device that a conflict copy is from, for people.
fn copy_device(conflict: &Conflict) -> String {
    match conflict.copy_made_here {
        Some(true) => format!("{} (this device)", conflict.copy_device),
        Some(false) | None => conflict.copy_device.clone(),
    }
}
