//! The activity of sync, by time and device.

use super::connection::request;
use crate::call::Call;
use crate::error::ToolResult;
use cairn_control::{Activity, ActivityList, typed};
use serde_json::{Value, json};

/// The newest events that are searched for those of a time or device.
const SEARCHED: u32 = 5_000;

pub(super) async fn read(call: &Call) -> ToolResult<Value> {
    let limit = call.arguments.get("limit").and_then(Value::as_u64);
    let limit = limit.and_then(|n| u32::try_from(n).ok()).unwrap_or(20);
    let since = call.arguments.text("since");
    let device = call.arguments.text("device");
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
    let total = matching.len();
    let events: Vec<_> = matching.into_iter().take(limit as usize).collect();
    let mut value = json!({ "events": events });
    if total > events.len() {
        value["total"] = json!(total);
    }
    if wanted == SEARCHED && !searched_all {
        value["note"] = json!(format!("only the newest {SEARCHED} events were searched"));
    }
    Ok(value)
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
