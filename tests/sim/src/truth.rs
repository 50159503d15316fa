//! The status of a device against the truth: what it says of itself, and what lies on its disk and on the service.

use crate::device::Device;
use crate::rules::{self, Rules};
use crate::world::{World, tree_of};
use cairn_engine::{FolderStatus, Status, WaitResult};
use cairn_model::{ContentHash, Kind, NodeId, SyncState};
use cairn_transfer::Download;
use cairn_wire::nodes::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The longest time that a device gets to settle in the middle of a run.
const BRIEFLY: Duration = Duration::from_secs(20);
/// The number of times that a device may say that it is in sync while something comes from another one.
const TRIES: usize = 5;

/// Paths with the sizes of files; a folder has none.
type Sizes = BTreeMap<String, Option<u64>>;

/// Checks that a status doesn't contradict itself.
pub(crate) fn check_status(device: &Device) -> Result<(), String> {
    let Some(status) = device.engine().map(cairn_engine::EngineHandle::status) else {
        return Ok(());
    };
    let pending: u64 = status.folders.iter().map(|folder| folder.pending).sum();
    let fits = match status.state {
        SyncState::Idle => status.folders.iter().all(is_done) && status.transfers.is_empty(),
        SyncState::Attention => status.folders.iter().any(needs_person),
        SyncState::Offline | SyncState::Error => {
            status.message.is_some() || status.folders.iter().any(|f| f.state == SyncState::Error)
        }
        SyncState::Syncing | SyncState::Paused => true,
    };
    match fits && pending == status.pending {
        true => Ok(()),
        false => Err(format!(
            "{}: the status contradicts itself: {status:#?}",
            device.name
        )),
    }
}

fn is_done(folder: &FolderStatus) -> bool {
    folder.state == SyncState::Idle && folder.pending == 0 && !needs_person(folder)
}

/// Links and special files are listed, and need nobody.
fn needs_person(folder: &FolderStatus) -> bool {
    let waiting = folder.waiting_local_deletions
        + folder.waiting_remote_deletions
        + folder.waiting_overwrites;
    waiting + folder.conflicts > 0 || !folder.problems.is_empty()
}

/// Returns whether a device says that nothing is left to do, but for conflict copies to look at.
pub(crate) fn is_at_rest(device: &Device) -> bool {
    let is_calm = |status: Status| {
        let state = status.state;
        let has_copies = |folder: &FolderStatus| folder.conflicts > 0 && folder.problems.is_empty();
        let calm = state == SyncState::Idle
            || (state == SyncState::Attention && status.folders.iter().any(has_copies));
        calm && status.pending == 0 && status.transfers.is_empty()
    };
    device
        .engine()
        .is_some_and(|engine| is_calm(engine.status()))
}

/// Lets a device settle for a short time. If it reports that it is in sync, its disk has to hold what the service has.
///
/// # Errors
/// Returns the differences.
pub(crate) async fn settle_briefly(world: &World, at: usize) -> Result<(), String> {
    let device = &world.devices[at];
    let mut differences = Vec::new();
    for _ in 0..TRIES {
        let Some(waiting) = device.engine().map(|engine| engine.wait_until_idle()) else {
            return Ok(());
        };
        let waited = tokio::time::timeout(BRIEFLY, waiting).await;
        if !matches!(waited, Ok(Ok(WaitResult::InSync))) {
            return Ok(());
        }
        let (mut here, mut there) = (on_disk(device), on_service(world).await?);
        let mut exempt = Rules::of(device).exempt(here.keys().chain(there.keys()));
        let is_folder = |side: &Sizes, path: &str| side.get(path) == Some(&None);
        rules::exempt_rules_files(&mut exempt, |path| {
            is_folder(&here, path) && is_folder(&there, path)
        });
        for side in [&mut here, &mut there] {
            side.retain(|path, _| !exempt.contains(path));
        }
        differences = differences_of(&here, &there);
        if differences.is_empty() {
            return Ok(());
        }
    }
    Err(format!(
        "{} says that it is in sync, and the service differs: {differences:#?}",
        device.name
    ))
}

fn on_disk(device: &Device) -> Sizes {
    let tree = tree_of(device).into_iter();
    tree.map(|(path, bytes)| (path, bytes.map(|bytes| bytes.len() as u64)))
        .collect()
}

/// Returns the paths of all that the service has.
pub(crate) async fn paths_on_service(world: &World) -> Result<BTreeSet<String>, String> {
    Ok(on_service(world).await?.into_keys().collect())
}

async fn on_service(world: &World) -> Result<Sizes, String> {
    let nodes = nodes_of(world).await?;
    let sizes = nodes.values().map(|node| {
        let size = (node.kind == Kind::File).then_some(node.size);
        (path_of(&nodes, node), size)
    });
    Ok(sizes.collect())
}

/// Returns the paths of the files that no device has sealed as they are on the service.
pub(crate) async fn unsealed_on_service(world: &World) -> Result<BTreeSet<String>, String> {
    let nodes = nodes_of(world).await?;
    let unsealed = nodes.values().filter(|node| node.seal.is_none());
    Ok(unsealed.map(|node| path_of(&nodes, node)).collect())
}

/// Returns the hashes of all contents that files have on the service now.
pub(crate) async fn contents_on_service(world: &World) -> Result<BTreeSet<ContentHash>, String> {
    let Some(device) = world.devices.first() else {
        return Ok(BTreeSet::new());
    };
    let mut hashes = BTreeSet::new();
    for node in nodes_of(world).await?.into_values() {
        let Some(revision) = node.revision_id else {
            continue;
        };
        let download = Download {
            source: node.content_source,
            ..Download::new(node.id, revision)
        };
        let hash = device.hash_on_service(download).await;
        hashes.insert(hash.map_err(|error| format!("{} can't be opened: {error}", node.name))?);
    }
    Ok(hashes)
}

async fn nodes_of(world: &World) -> Result<BTreeMap<NodeId, Node>, String> {
    let mut nodes = BTreeMap::new();
    let mut after = None;
    loop {
        let page = world.api.snapshot(after.as_deref()).await;
        let page = page.map_err(|error| format!("the service lists nothing: {error}"))?;
        nodes.extend(page.nodes.into_iter().map(|node| (node.id, node)));
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(nodes),
        }
    }
}

fn path_of(nodes: &BTreeMap<NodeId, Node>, node: &Node) -> String {
    let above = node.parent_id.and_then(|parent| nodes.get(&parent));
    match above {
        Some(parent) => format!("{}/{}", path_of(nodes, parent), node.name),
        None => node.name.clone(),
    }
}

fn differences_of(disk: &Sizes, service: &Sizes) -> Vec<String> {
    let paths: BTreeSet<&String> = disk.keys().chain(service.keys()).collect();
    let differing = paths
        .into_iter()
        .filter(|path| disk.get(*path) != service.get(*path));
    let described = differing.map(|path| {
        let (here, there) = (disk.get(path), service.get(path));
        format!("{path}: {here:?} on the disk, {there:?} on the service")
    });
    described.collect()
}
