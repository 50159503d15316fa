//! Pausing, resuming and scanning.

use super::context::Commands;
use crate::program::ProgramError;
use crate::tray::PauseFor;
use cairn_control::Request;
use cairn_platform::Zone;
use time::OffsetDateTime;

const HOUR_MS: i64 = 3_600_000;

pub(super) async fn pause(
    commands: &Commands,
    folder: Option<String>,
    span: PauseFor,
) -> Result<(), ProgramError> {
    commands.send(pause_request(folder, span)).await
}

pub(super) async fn resume(
    commands: &Commands,
    folder: Option<String>,
) -> Result<(), ProgramError> {
    commands.send(Request::Resume { folder }).await
}

pub(super) async fn rescan(commands: &Commands) -> Result<(), ProgramError> {
    commands.send(Request::SyncNow { folder: None }).await
}

pub(super) async fn retry(commands: &Commands) -> Result<(), ProgramError> {
    commands.daemon.allow();
    Ok(())
}

/// Returns the request for a pause, of a folder or of all, that ends as `span` says, in local time.
pub(crate) fn pause_request(folder: Option<String>, span: PauseFor) -> Request {
    let now_ms = OffsetDateTime::now_utc().unix_timestamp() * 1_000;
    Request::Pause {
        folder,
        until: end_of_pause(span, now_ms, &Zone::system()),
    }
}

/// Returns the end of a pause that begins now; both are milliseconds since 1970-01-01 UTC.
fn end_of_pause(span: PauseFor, now_ms: i64, zone: &Zone) -> Option<i64> {
    match span {
        PauseFor::Hour => Some(now_ms + HOUR_MS),
        PauseFor::Tomorrow => zone.next_day(now_ms),
        PauseFor::Resumed => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_until_tomorrow_ends_at_the_local_midnight() {
        // The day on which clocks go back has 25 hours; it begins at 2026-10-24T22:00:00Z.
        let zone = Zone::from_rule("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let begin_ms = 1_792_879_200_000;
        for hours in [0, 1, 24] {
            let end = end_of_pause(PauseFor::Tomorrow, begin_ms + hours * HOUR_MS, &zone);
            assert_eq!(end, Some(begin_ms + 25 * HOUR_MS), "after {hours} hours");
        }
        let hour = end_of_pause(PauseFor::Hour, begin_ms, &zone);
        assert_eq!(hour, Some(begin_ms + HOUR_MS));
        assert_eq!(end_of_pause(PauseFor::Resumed, begin_ms, &zone), None);
    }
}
