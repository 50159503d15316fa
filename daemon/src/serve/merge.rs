//! One status of the engines of all spaces.

use cairn_control::{OverallProgress, Status};
use cairn_model::Counters;

/// Adds the status of a team's space to that of the others. A problem of one space is shown, and hides none of the
/// others.
pub(super) fn add(all: Status, team: Status, name: &str) -> Status {
    let named = |message: String| format!("{name}: {message}");
    let mut sum = Status {
        // The later state outranks the earlier one.
        state: all.state.max(team.state),
        pending: all.pending + team.pending,
        progress: add_progress(all.progress, team.progress),
        open_conflicts: all.open_conflicts + team.open_conflicts,
        steps: all.steps,
        counters: add_counters(all.counters, team.counters),
        message: all.message.or(team.message.map(named)),
        paused_until: all.paused_until.or(team.paused_until),
        limits: all.limits.or(team.limits),
        folders: all.folders,
        transfers: all.transfers,
    };
    sum.folders.extend(team.folders);
    sum.transfers.extend(team.transfers);
    sum.steps.add(team.steps);
    sum
}

fn add_counters(one: Counters, other: Counters) -> Counters {
    Counters {
        uploads: one.uploads + other.uploads,
        downloads: one.downloads + other.downloads,
        uploaded_bytes: one.uploaded_bytes + other.uploaded_bytes,
        downloaded_bytes: one.downloaded_bytes + other.downloaded_bytes,
        // All spaces share one client, which counts for all.
        remote_calls: one.remote_calls.max(other.remote_calls),
        renames: one.renames + other.renames,
        deletes: one.deletes + other.deletes,
        conflicts: one.conflicts + other.conflicts,
    }
}

fn add_progress(
    one: Option<OverallProgress>,
    other: Option<OverallProgress>,
) -> Option<OverallProgress> {
    let (Some(a), Some(b)) = (one, other) else {
        return one.or(other);
    };
    let bytes_total = a.bytes_total.saturating_add(b.bytes_total);
    let of = |part: &OverallProgress| u128::from(part.percent) * u128::from(part.bytes_total);
    let percent = match bytes_total {
        0 => a.percent.min(b.percent),
        total => u8::try_from((of(&a) + of(&b)) / u128::from(total)).unwrap_or(99),
    };
    let left = a.seconds_left.zip(b.seconds_left);
    Some(OverallProgress {
        files_done: a.files_done + b.files_done,
        files_total: a.files_total + b.files_total,
        bytes_done: a.bytes_done.saturating_add(b.bytes_done),
        bytes_total,
        percent,
        speed: a.speed.saturating_add(b.speed),
        seconds_left: left.map(|(a, b)| a.max(b)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_control::FolderStatus;
    use cairn_model::SyncState;

    fn status(local: &str, state: SyncState, percent: u8, bytes_total: u64) -> Status {
        Status {
            state,
            pending: 1,
            folders: vec![FolderStatus {
                local: local.into(),
                state,
                ..Default::default()
            }],
            progress: Some(OverallProgress {
                files_done: 1,
                files_total: 2,
                bytes_done: 0,
                bytes_total,
                percent,
                speed: 10,
                seconds_left: Some(3),
            }),
            counters: Counters {
                uploads: 2,
                remote_calls: 7,
                ..Default::default()
            },
            ..Default::default()
        }
    }

    #[test]
    fn a_problem_in_one_space_shows_and_hides_nothing_of_another() {
        let own = status("/own", SyncState::Idle, 50, 300);
        let team = Status {
            message: Some("it is broken".into()),
            ..status("/team", SyncState::Error, 90, 100)
        };
        let both = add(own, team, "Crew");
        assert_eq!(both.state, SyncState::Error);
        assert_eq!(both.message.as_deref(), Some("Crew: it is broken"));
        let states: Vec<_> = both.folders.iter().map(|one| one.state).collect();
        assert_eq!(states, [SyncState::Idle, SyncState::Error]);
        let progress = both.progress.unwrap();
        assert_eq!((progress.percent, progress.bytes_total), (60, 400));
        assert_eq!((both.pending, both.counters.uploads), (2, 4));
        assert_eq!(both.counters.remote_calls, 7);
    }
}
