//! `cairn add --dry-run` of a folder that is a pair already: what its new options would do. That is no first merge: what
//! was deleted or changed on one side since both were equal is done on the other side, too.
//!
//! Index and rules decide: the preview is as good as the daemon's latest look at both sides.

mod changes;

use super::counts::{NOTHING_CHANGED, count_line, example_lines, view};
use super::walk::{Places, Walk, paths, place_lines};
use crate::app::App;
use crate::cli::prompt;
use crate::failure::{CommandResult, Exit, Failure};
use crate::folders::pairs::Pair;
use crate::output::Out;
use crate::output::text::{clean, count};
use cairn_control::typed;
use cairn_engine::Rules;
use cairn_index::{FolderRow, FolderSettings};
use cairn_model::{DeletionGate, Kind, SyncMode};
use cairn_platform::RealDisk;
use cairn_space::FileCount;
use changes::{Changes, changes};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::path::Path;

/// The longest wait, in milliseconds, until the daemon has looked at both sides.
const LOOK_TIMEOUT_MS: u64 = 20_000;

pub(super) async fn run(app: &App, pair: &Pair, settings: &FolderSettings) -> CommandResult {
    look(app).await?;
    let preview = Preview::make(app, pair, settings)?;
    for line in preview.lines(&app.out) {
        app.out.line(line);
    }
    app.out.json(&preview.document());
    Ok(())
}

/// Says what another mode deletes, and asks about it at a terminal. A script has chosen the mode, and the trash keeps
/// what is deleted.
pub(super) fn ask(app: &App, pair: &Pair, settings: &FolderSettings) -> CommandResult {
    if settings.mode == pair.row.settings.mode {
        return Ok(());
    }
    let preview = Preview::make(app, pair, settings)?;
    let deletions = preview.deletion_lines();
    if deletions.is_empty() {
        return Ok(());
    }
    app.out.note(format_args!(
        "With {}, {}; --dry-run shows which",
        settings.mode.as_str(),
        deletions.join(", and ")
    ));
    if prompt::is_possible() && !prompt::confirm("Change the mode anyway? [y/N] ")? {
        return Err(Failure::new(
            Exit::Decision,
            "the mode stays as it was: add --yes to change it without a question",
        ));
    }
    Ok(())
}

/// The effect of other options on a pair.
struct Preview<'a> {
    row: &'a FolderRow,
    settings: &'a FolderSettings,
    changes: Changes,
    places: Places,
    /// The number of files that are in sync, or were.
    synced: u64,
}

impl<'a> Preview<'a> {
    fn make(app: &App, pair: &'a Pair, settings: &'a FolderSettings) -> CommandResult<Self> {
        let row = &pair.row;
        let root = Path::new(&row.root);
        let rules = Rules::load(&RealDisk::new(), root, settings);
        let rules = rules.with_own_places(root, &app.home.own_places());
        let mut walk = Walk::new(rules, root);
        let trees = pair.index.read(|db| db.whole_snapshot(row))?;
        let files = trees.synced.values().filter(|one| one.kind == Kind::File);
        Ok(Self {
            row,
            settings,
            changes: changes(row, &trees, settings.mode, &mut walk),
            places: walk.places,
            synced: files.count() as u64,
        })
    }

    /// Returns whether the deletion of these files waits for a person.
    fn is_stopped(&self, deleted: &FileCount) -> bool {
        let total = || Ok::<_, Infallible>(self.synced);
        let stops = |gate: DeletionGate| gate.stops(deleted.files, total) == Ok(true);
        deleted.files > 0 && self.settings.gate.is_some_and(stops)
    }

    /// Returns the effects that delete something, each with its files.
    fn deletions(&self) -> [(String, &FileCount); 2] {
        let effect = |effect: &str, deleted| match self.is_stopped(deleted) {
            true => format!("{effect}; so many wait for `cairn confirm`"),
            false => effect.to_owned(),
        };
        let (local, remote) = (&self.changes.delete_local, &self.changes.delete_remote);
        [
            (
                effect(
                    "to the trash of this folder: deleted on the service since",
                    local,
                ),
                local,
            ),
            (
                effect("to the service's trash: deleted here since", remote),
                remote,
            ),
        ]
    }

    fn deletion_lines(&self) -> Vec<String> {
        let lines = self.deletions().into_iter();
        let lines = lines
            .filter_map(|(effect, deleted)| count_line(&format!("would go {effect}"), deleted));
        lines.collect()
    }

    fn lines(&self, out: &Out) -> Vec<String> {
        let (row, changes, mode) = (self.row, &self.changes, self.settings.mode);
        let (local, remote) = (clean(&row.root), clean(&row.remote_path));
        let mut lines = vec![format!(
            "{local} is synced with {remote} already ({}). With {}, {}.",
            row.settings.mode.as_str(),
            mode.as_str(),
            rule(mode)
        )];
        let mut add = |head: Option<String>, counted: &FileCount| {
            lines.extend(head);
            lines.extend(example_lines(out, counted));
        };
        for (effect, counted) in self.deletions() {
            add(count_line(&effect, counted), counted);
        }
        for (effect, counted) in [
            ("to upload", &changes.upload),
            ("to download", &changes.download),
            (
                "in two versions: both are kept, one as a conflict copy",
                &changes.conflicts,
            ),
            (
                "to become executable or not here, as on the service",
                &changes.executable_local,
            ),
            (
                "to become executable or not on the service, as here",
                &changes.executable_remote,
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
        lines.extend(place_lines(&self.places, mode));
        lines.push(NOTHING_CHANGED.to_owned());
        lines
    }

    fn document(&self) -> Value {
        let (row, changes) = (self.row, &self.changes);
        json!({
            "dry_run": true,
            "local": row.root,
            "remote": row.remote_path,
            "mode": self.settings.mode,
            "existing": true,
            "mode_before": row.settings.mode,
            "upload": view(&changes.upload),
            "download": view(&changes.download),
            "delete_local": view(&changes.delete_local),
            "delete_local_waits": self.is_stopped(&changes.delete_local),
            "delete_remote": view(&changes.delete_remote),
            "delete_remote_waits": self.is_stopped(&changes.delete_remote),
            "move_local": view(&changes.move_local),
            "move_remote": view(&changes.move_remote),
            "executable_local": view(&changes.executable_local),
            "executable_remote": view(&changes.executable_remote),
            "conflicts": view(&changes.conflicts),
            "unchanged": view(&changes.unchanged),
            "equal": view(&changes.equal),
            "skipped": view(&FileCount::default()),
            "left_out": paths(&self.places.own),
            "mounts": paths(&self.places.mounts),
        })
    }
}

/// Returns what a mode does with the changes of both sides.
fn rule(mode: SyncMode) -> &'static str {
    match mode {
        SyncMode::TwoWay => {
            "what one side has changed or deleted since is done on the other side, too"
        }
        SyncMode::Upload => "what was changed or deleted here since is done on the service, too",
        SyncMode::Download => "what was changed or deleted on the service since is done here, too",
    }
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
