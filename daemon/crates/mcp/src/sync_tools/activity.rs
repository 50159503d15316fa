//! The activity of sync, by time and device.

use super::connection::request;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::strip_fields::share_field;
use cairn_control::{Activity, ActivityList, typed};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The newest events that are searched for those of a time or device.
const SEARCHED: u32 = 5_000;
/// The directories of a summary.
const COUNTED: usize = 20;

pub(super) async fn read(call: &Call) -> ToolResult<Value> {
    let limit = call.arguments.get("limit").and_then(Value::as_u64);
    let limit = limit.and_then(|n| u32::try_from(n).ok()).unwrap_or(20);
    let since = call.arguments.text("since");
    let device = call
        .arguments
        .text("device")
        .filter(|name| !name.is_empty());
    let wanted = if since.is_some() || device.is_some() {
        SEARCHED
    } else {
        limit
    };
    let list: ActivityList = request(&call.services, typed::Activity { limit: wanted }).await?;
    let searched_all = list.events.len() < wanted as usize;
    let matching: Vec<Activity> = list
        .events
        .into_iter()
        .filter(|event| fits(event, since, device))
        .collect();
    let shown = matching.len().min(limit as usize);
    let mut value = json!({ "events": matching[..shown] });
    for field in ["folder", "device"] {
        share_field(&mut value, "events", field);
    }
    if let Some(device) = device.filter(|_| matching.is_empty()) {
        check_device(call, device).await?;
    }
    if matching.len() > shown {
        value["total"] = json!(matching.len());
        value["summary"] = json!(summary(&matching));
    }
    if wanted == SEARCHED && !searched_all {
        value["note"] = json!(format!("only the newest {SEARCHED} events were searched"));
    }
    Ok(value)
}

/// Refuses the name of a device that the account does not have: nothing would be found of it, ever.
async fn check_device(call: &Call, wanted: &str) -> ToolResult {
    // Without the list the events are all that is known.
    let Ok(devices) = call.services.reads.devices().await else {
        return Ok(());
    };
    let is_it = |name: &str| name.to_lowercase() == wanted.to_lowercase();
    if devices.iter().any(|device| is_it(&device.name)) {
        return Ok(());
    }
    Err(ToolError::refused(format!(
        "there is no device {}: sync_devices lists them",
        crate::question::quote(wanted)
    )))
}

/// Returns how many changes of each kind there were in each directory, the most first: a summary where there
/// are too many to list.
fn summary(events: &[Activity]) -> Vec<Value> {
    let mut counts: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for event in events {
        let directory = event.path.rsplit_once('/').map_or("", |(above, _)| above);
        let (count, bytes) = counts.entry((event.kind.as_str(), directory)).or_default();
        *count += 1;
        *bytes = bytes.saturating_add(event.bytes);
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, (count, _))| Reverse(*count));
    counts
        .into_iter()
        .take(COUNTED)
        .map(|((kind, directory), (count, bytes))| {
            json!({ "kind": kind, "directory": directory, "count": count, "bytes": bytes })
        })
        .collect()
}

fn fits(event: &Activity, since: Option<&str>, device: Option<&str>) -> bool {
    // Both are RFC 3339 in UTC; up to the seconds the later one is the greater text.
    let late = since.is_none_or(|since| event.at.get(..19) >= since.get(..19));
    let own = device.is_none_or(|device| {
        let made_by = event.device.as_deref().unwrap_or_default();
        made_by.to_lowercase() == device.to_lowercase()
    });
    late && own
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::ActivityKind;

    #[test]
    fn many_changes_are_counted_by_directory() {
        let event = |path: &str, kind| Activity {
            at: String::new(),
            kind,
            path: path.to_owned(),
            folder: None,
            device: None,
            bytes: 2,
        };
        let events = [
            event("top.txt", ActivityKind::Deleted),
            event("a/b/1", ActivityKind::Downloaded),
            event("a/b/2", ActivityKind::Downloaded),
        ];
        let counted = [
            json!({ "kind": "downloaded", "directory": "a/b", "count": 2, "bytes": 4 }),
            json!({ "kind": "deleted", "directory": "", "count": 1, "bytes": 2 }),
        ];
        assert_eq!(summary(&events), counted);
    }

    #[test]
    fn events_are_chosen_by_time_and_device() {
        let event = Activity {
            at: "2026-03-01T12:00:00.500Z".to_owned(),
            kind: ActivityKind::Uploaded,
            path: "a".to_owned(),
            folder: None,
            device: Some("Laptop".to_owned()),
            bytes: 1,
        };
        for (since, device, fit) in [
            (None, None, true),
            (Some("2026-03-01T12:00:00.000Z"), None, true),
            (Some("2026-03-01T12:00:01.000Z"), None, false),
            (None, Some("laptop"), true),
            (None, Some("phone"), false),
            (Some("2026-02-01T00:00:00.000Z"), Some("Laptop"), true),
        ] {
            assert_eq!(fits(&event, since, device), fit, "{since:?} {device:?}");
        }
    }
}
