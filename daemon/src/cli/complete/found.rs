//! The candidates for an argument: from the service, the folder pairs and the disk.

use super::slot::{Slot, Source};
use crate::app::App;
use crate::failure::CommandResult;
use crate::folders::{pairs, spaces};
use crate::local_path;
use crate::remote::{Remote, Within};
use cairn_model::Kind;
use cairn_platform::Home;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// More are of no use to somebody who looks at them.
const MOST: usize = 1_000;

/// Returns what could stand in an argument, in alphabetical order, with what stands before it in the same word.
pub(super) async fn candidates(app: &App, slot: &Slot) -> Vec<String> {
    // A home that the command line names is the one that it is about.
    let home = slot.home.as_ref().map(|dir| Home::at(Path::new(dir)));
    let app = App {
        home: home.unwrap_or_else(|| app.home.clone()),
        out: app.out,
        no_start: true,
        zone: app.zone.clone(),
    };
    let mut all = BTreeSet::new();
    for found in [of_account(&app, slot).await, of_disk(&app, slot)] {
        match found {
            Ok(found) => all.extend(found),
            Err(failure) => tracing::debug!(%failure, "no candidates"),
        }
    }
    all.into_iter()
        // Control characters have no place on a command line, and a line break would be two candidates.
        .filter(|one| one.starts_with(&slot.typed) && !one.chars().any(char::is_control))
        .take(MOST)
        .map(|one| format!("{}{one}", slot.prefix))
        .collect()
}

/// Returns what the service knows.
async fn of_account(app: &App, slot: &Slot) -> CommandResult<Vec<String>> {
    match slot.source {
        Source::Pair => Ok(Vec::new()),
        Source::Node | Source::Folder | Source::RemoteFolder => of_service(app, slot).await,
        Source::Team => {
            let teams = app.session()?.api.teams().await?;
            Ok(teams.into_iter().map(|team| team.name).collect())
        }
        Source::Device => {
            let devices = app.session()?.api.devices().await?;
            Ok(devices.into_iter().map(|device| device.name).collect())
        }
        Source::Link => {
            let shares = app.session()?.api.shares(None).await?;
            Ok(shares.into_iter().map(|share| share.short_code).collect())
        }
    }
}

/// Returns the paths on the service below the last slash that is typed.
async fn of_service(app: &App, slot: &Slot) -> CommandResult<Vec<String>> {
    let above = match slot.typed.rsplit_once('/') {
        Some((above, _)) if slot.typed.starts_with('/') => above,
        None if slot.typed.is_empty() => "",
        Some(_) | None => return Ok(Vec::new()),
    };
    let within = Within {
        team: slot.team.clone(),
    };
    let remote = Remote::open(app, &within).await?;
    let parent = if above.is_empty() { "/" } else { above };
    let Some(folder) = remote.look_up(parent).await? else {
        return Ok(Vec::new());
    };
    let children = remote.children(folder.folder()?).await?;
    let fitting = children.into_iter().filter_map(|node| match node.kind {
        Kind::Folder => Some(format!("{above}/{}/", node.name)),
        Kind::File if slot.source == Source::Node => Some(format!("{above}/{}", node.name)),
        Kind::File => None,
    });
    Ok(fitting.collect())
}

/// Returns what lies in a synced folder of this machine, and the way there; or the synced folders themselves.
fn of_disk(app: &App, slot: &Slot) -> CommandResult<Vec<String>> {
    let with_files = match slot.source {
        Source::Node => true,
        Source::Folder | Source::Pair => false,
        Source::RemoteFolder | Source::Team | Source::Device | Source::Link => {
            return Ok(Vec::new());
        }
    };
    if !app.home.index_file().exists() {
        return Ok(Vec::new());
    }
    let (all, _) = spaces::open_usable(&app.home)?;
    let pairs = pairs::list(&all)?;
    let roots: Vec<PathBuf> = pairs
        .iter()
        .map(|pair| pair.row.root.clone().into())
        .collect();
    if slot.source == Source::Pair && slot.typed.is_empty() {
        return Ok(roots
            .iter()
            .map(|root| root.display().to_string())
            .collect());
    }
    let above = slot.typed.rfind('/').map_or("", |end| &slot.typed[..=end]);
    let directory = if above.is_empty() { "." } else { above };
    let directory = local_path::file(Path::new(directory))?;
    // The way to a synced folder, and for paths what is in it.
    let leads_on = |path: &Path| {
        let inside = roots.iter().any(|root| path.starts_with(root));
        let on_the_way = roots.iter().any(|root| root.starts_with(path));
        on_the_way || inside && slot.source != Source::Pair
    };
    let Ok(entries) = std::fs::read_dir(&directory) else {
        return Ok(Vec::new());
    };
    let fitting = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let kind = entry.file_type().ok()?;
        let fits = leads_on(&directory.join(&name)) && (kind.is_dir() || with_files);
        let end = if kind.is_dir() { "/" } else { "" };
        (fits && !name.starts_with(".cairn-")).then(|| format!("{above}{name}{end}"))
    });
    Ok(fitting.collect())
}
