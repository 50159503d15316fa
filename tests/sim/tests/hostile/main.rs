//! A server that lies: one device's line changes the honest server's answers. After each lie the files
//! are as they were, what was refused is reported, and everything else syncs on.

mod deleted_folders;
mod endless;
mod executable_bits;
mod lies;
mod mass_removals;
mod overwritten;
mod returned;
mod strict;
mod views;
mod went_back;

use axum::http::StatusCode;
use bytes::Bytes;
use cairn_engine::Settings;
use cairn_model::{ProblemCode, Verification};
use cairn_sim::device::{Device, ROOT, path};
use cairn_sim::time::simulate;
use cairn_sim::world::{World, tree_of};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const CHANGES: &str = "/api/v1/changes?";

/// Two running devices in sync; the second one is lied to later.
async fn world() -> World {
    let mut world = World::new(1, 2).await;
    begin(&mut world).await;
    world
}

/// The same, but the second device accepts only changes that a device of the account has authenticated.
async fn strict_world() -> World {
    let mut world = World::new(1, 2).await;
    world.devices[1].verify = Verification::Strict;
    begin(&mut world).await;
    world
}

async fn begin(world: &mut World) {
    world.devices[0].write("f", b"v1");
    world.devices[0].write("other", b"other");
    world.settle().await.expect("they settle");
}

/// Lets the honest device finish, then gives the other one ten minutes with its server.
async fn pass(world: &World) {
    assert!(world.devices[0].settle().await, "the honest line settles");
    let victim = &world.devices[1];
    victim.engine().expect("it runs").rescan(None);
    drop(tokio::time::timeout(Duration::from_secs(600), victim.settle()).await);
}

/// Announces a node once more beside the change of the file `new`.
fn announce(world: &World, mut node: Value) {
    node["version"] = json!(node["version"].as_u64().expect("a number") + 100);
    about_json(&world.devices[1], CHANGES, move |page| {
        let changes = page["changes"].as_array_mut().expect("changes");
        let new = changes
            .iter()
            .find(|change| change["node"]["name"] == "new");
        let Some(mut change) = new.cloned() else {
            return;
        };
        change["node_id"] = node["id"].clone();
        change["node"] = node.clone();
        changes.push(change);
    });
}

fn content(device: &Device, path: &str) -> Option<String> {
    tree_of(device)
        .get(path)?
        .as_ref()
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

fn problems(device: &Device) -> Vec<(ProblemCode, String)> {
    let status = device.engine().expect("it runs").status();
    status
        .folders
        .iter()
        .flat_map(|folder| &folder.errors)
        .map(|problem| (problem.code, problem.path.clone()))
        .collect()
}

/// Every node in the feed's pages passes through `lie`.
fn about_nodes(
    device: &Device,
    lie: impl Fn(&mut serde_json::Map<String, Value>) + Send + Sync + 'static,
) {
    about_json(device, CHANGES, move |page| {
        let changes = page["changes"].as_array_mut().into_iter().flatten();
        for change in changes {
            if let Some(node) = change["node"].as_object_mut() {
                lie(node);
            }
        }
    });
}

fn about_json(
    device: &Device,
    path: &'static str,
    lie: impl Fn(&mut Value) + Send + Sync + 'static,
) {
    device
        .line
        .lie(Some(Box::new(move |asked, status, body: Bytes| {
            if !asked.starts_with(path) || status != StatusCode::OK {
                return (status, body);
            }
            let mut page: Value = serde_json::from_slice(&body).expect("JSON");
            lie(&mut page);
            (
                status,
                Bytes::from(serde_json::to_vec(&page).expect("JSON")),
            )
        })));
}

/// Lets the user of a device move something.
fn rename(device: &Device, from: &str, to: &str) {
    let (from, to) = (path(from), path(to));
    device
        .disk
        .user(&from, true, |files| files.rename(&from, &to))
        .expect("the disk does it");
    device.disk.user(&to, true, |_| Ok(())).expect("seen");
}
