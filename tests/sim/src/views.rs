//! A device's view of the space is the one of all others that have read the feed to the same change: otherwise devices
//! would take an honest service for one that shows them different files.

use crate::world::World;
use cairn_engine::{View, view};
use std::time::Duration;

/// The time after which devices at rest have left their checkpoints, and looked at those of the others.
const COMPARED_AFTER: Duration = Duration::from_secs(4 * 3600);

/// Checks the views of all devices.
pub(crate) fn check_views(world: &World) -> Result<(), String> {
    let mut seen: Vec<(&str, View)> = Vec::new();
    for device in &world.devices {
        let found = device.index().read(view);
        let Some(found) = found.map_err(|error| error.to_string())? else {
            continue;
        };
        for (name, other) in &seen {
            let same_place = other.history == found.history && other.seq == found.seq;
            if same_place && other.digest != found.digest {
                let devices = format!("{name} and {}", device.name);
                return Err(format!("{devices} have different views at {}", found.seq));
            }
        }
        seen.push((&device.name, found));
    }
    Ok(())
}

/// Checks that each device has compared its view with all others, and never found another one.
pub(crate) fn check_agreement(world: &World) -> Result<(), String> {
    let comparing = || world.devices.iter().filter(|device| device.checkpoints);
    for device in comparing() {
        let others = device.index().read(|db| db.other_views());
        let others = others.map_err(|error| error.to_string())?;
        let others = others.iter();
        let equal = others.filter(|other| other.same_ms.is_some() && other.differs_ms.is_none());
        if equal.clone().count() + 1 < comparing().count() {
            let equal: Vec<_> = equal.map(|other| &other.name).collect();
            return Err(format!("{} has the view of {equal:?} only", device.name));
        }
    }
    Ok(())
}

impl World {
    /// Waits until devices at rest have compared their views.
    pub async fn wait_for_comparisons(&self) {
        tokio::time::sleep(COMPARED_AFTER).await;
    }
}
