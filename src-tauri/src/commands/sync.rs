//! Pausing, resuming and scanning.

use super::context::Commands;
use crate::program::Fault;
use crate::tray::PauseFor;
use cairn_control::Request;
use time::{Duration, OffsetDateTime};

pub(super) async fn pause(commands: &Commands, span: PauseFor) -> Result<(), Fault> {
    commands.send(pause_request(span)).await
}

pub(super) async fn resume(commands: &Commands) -> Result<(), Fault> {
    commands.send(Request::Resume { folder: None }).await
}

pub(super) async fn rescan(commands: &Commands) -> Result<(), Fault> {
    commands.send(Request::Rescan { folder: None }).await
}

pub(super) async fn retry(commands: &Commands) -> Result<(), Fault> {
    commands.daemon.allow();
    Ok(())
}

/// Returns the request for a pause that ends as `span` says, in local time.
pub(crate) fn pause_request(span: PauseFor) -> Request {
    let now = OffsetDateTime::now_local().unwrap_or_else(|_| OffsetDateTime::now_utc());
    let until = match span {
        PauseFor::Hour => Some(now + Duration::HOUR),
        PauseFor::Tomorrow => now
            .date()
            .next_day()
            .map(|day| day.midnight().assume_offset(now.offset())),
        PauseFor::Resumed => None,
    };
    Request::Pause {
        folder: None,
        until: until.map(|at| at.unix_timestamp() * 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_until_tomorrow_ends_within_a_day() {
        let now = OffsetDateTime::now_utc().unix_timestamp() * 1000;
        let until = |span| {
            let request = pause_request(span);
            let Request::Pause { until, .. } = request else {
                panic!("{request:?}");
            };
            until
        };
        let day = 24 * 3_600_000;
        assert!((now..=now + day + 3_600_000).contains(&until(PauseFor::Tomorrow).unwrap()));
        assert!((now..=now + 3_700_000).contains(&until(PauseFor::Hour).unwrap()));
        assert_eq!(until(PauseFor::Resumed), None);
    }
}
