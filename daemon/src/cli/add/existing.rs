//! `cairn add --dry-run` of a folder that is a pair already: what its new options would do. That is no first merge: what
//! was deleted or changed on one side since both were equal is done on the other side, too.
//!
//! Index and rules decide: the preview is as good as the daemon's latest look at both sides.

mod changes;

use super::counts::{NOTHING_CHANGED, count_line, example_lines, view};
use super::walk::{Places, Walk, paths, place_lines};
use crate::app::App;
use crate::failure::CommandResult;
use crate::folders::pairs::Pair;
use crate::output::Out;
use crate::output::text::{clean, count};
use cairn_control::typed;
use cairn_engine::Rules;
use cairn_index::{FolderRow, FolderSettings};
use cairn_model::SyncMode;
use cairn_platform::RealDisk;
use cairn_space::FileCount;
use changes::{Changes, changes};
use serde_json::{Value, json};
use std::path::Path;

/// The longest wait, in milliseconds, until the daemon has looked at both sides.
const LOOK_TIMEOUT_MS: u64 = 20_000;

pub(super) async fn run(app: &App, pair: &Pair, settings: &FolderSettings) -> CommandResult {
    look(app).await?;
    let row = &pair.row;
    let root = Path::new(&row.root);
    let rules = Rules::load(&RealDisk::new(), root, settings);
    let rules = rules.with_own_places(root, &app.home.own_places());
    let mut walk = Walk::new(rules, root);
    let trees = pair.index.read(|db| db.whole_snapshot(row))?;
    let changes = changes(row, &trees, settings.mode, &mut walk);
    for line in lines(&app.out, row, &changes, settings.mode, &walk.places) {
        app.out.line(line);
    }
    app.out
        .json(&document(row, &changes, settings.mode, &walk.places));
    Ok(())
}

/// Lets the daemon look at both sides, or says that it has not.
async fn look(app: &App) -> CommandResult {
    let Some(client) = app.running_daemon().await? else {
        app.out
            .note("the daemon is not running: the preview goes by its latest look at both sides");
        return Ok(());
    };
    let timeout_ms = Some(LOOK_TIMEOUT_MS);
    if let Err(error) = client.send(typed::WaitUntilSynced { timeout_ms }).await {
        app.out.note(format_args!(
            "not everything is in sync ({}): the preview goes by the daemon's latest look at both sides",
            clean(&error.to_string())
        ));
    }
    Ok(())
}

fn lines(
    out: &Out,
    row: &FolderRow,
    changes: &Changes,
    mode: SyncMode,
    places: &Places,
) -> Vec<String> {
    let (local, remote) = (clean(&row.root), clean(&row.remote_path));
    let rule = match mode {
        SyncMode::TwoWay => {
            "what one side has changed or deleted since is done on the other side, too"
        }
        SyncMode::Upload => "what was changed or deleted here since is done on the service, too",
        SyncMode::Download => "what was changed or deleted on the service since is done here, too",
    };
    let mut lines = vec![format!(
        "{local} is synced with {remote} already ({}). With {}, {rule}.",
        row.settings.mode.as_str(),
        mode.as_str()
    )];
    let mut add = |head: Option<String>, counted: &FileCount| {
        lines.extend(head);
        lines.extend(example_lines(out, counted));
    };
    for (effect, counted) in [
        (
            "to the trash of this folder: deleted on the service since",
            &changes.delete_local,
        ),
        (
            "to the service's trash: deleted here since",
            &changes.delete_remote,
        ),
        ("to upload", &changes.upload),
        ("to download", &changes.download),
        (
            "in two versions: both are kept, one as a conflict copy",
            &changes.conflicts,
        ),
        (
            "that differ, or are on one side only, and stay as they are",
            &changes.unchanged,
        ),
    ] {
        add(count_line(effect, counted), counted);
    }
    for (effect, counted) in [
        ("to move here, as on the service", &changes.move_local),
        ("to move on the service, as here", &changes.move_remote),
    ] {
        let head = || format!("{} {effect}", count(counted.files, "file or folder"));
        add((counted.files > 0).then(head), counted);
    }
    lines.extend(count_line("equal", &changes.equal));
    lines.extend(place_lines(places, mode));
    lines.push(NOTHING_CHANGED.to_owned());
    lines
}

fn document(row: &FolderRow, changes: &Changes, mode: SyncMode, places: &Places) -> Value {
    json!({
        "dry_run": true,
        "local": row.root,
        "remote": row.remote_path,
        "mode": mode,
        "existing": true,
        "mode_before": row.settings.mode,
        "upload": view(&changes.upload),
        "download": view(&changes.download),
        "delete_local": view(&changes.delete_local),
        "delete_remote": view(&changes.delete_remote),
        "move_local": view(&changes.move_local),
        "move_remote": view(&changes.move_remote),
        "conflicts": view(&changes.conflicts),
        "unchanged": view(&changes.unchanged),
        "equal": view(&changes.equal),
        "skipped": view(&FileCount::default()),
        "left_out": paths(&places.own),
        "mounts": paths(&places.mounts),
    })
}
