//! From control messages to what the window shows.

use super::{
    ActivityView, ConflictView, FolderView, Link, ModeView, ProblemView, QuestionView, StateView,
    TransferView, View,
};
use crate::progress::Share;
use crate::strings::Language;
use cairn_control as control;

/// More problems of one folder are counted, not listed: the list is for reading.
const LISTED: usize = 200;
/// Lines that need nobody: held deletions are told a second time, as a question; the rest only informs.
const NO_PROBLEM: [&str; 4] = ["deletions_held", "symlink", "special", "changing"];
/// A burst of small files has more; these are the ones that take time.
const TRANSFERS: usize = 50;

/// What is known of the daemon at one moment.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub link: Link,
    pub trouble: Option<String>,
    pub status: control::Status,
    pub share: Option<Share>,
    pub conflicts: Vec<ConflictView>,
}

/// Builds the view.
#[must_use]
pub fn build(known: &Known, language: Language) -> View {
    let status = &known.status;
    let up = known.link == Link::Up;
    let mut view = View {
        link: known.link,
        trouble: known.trouble.clone().or_else(|| status.message.clone()),
        ..View::default()
    };
    if up {
        view.state = state(status.state);
        view.paused_until.clone_from(&status.paused_until);
        view.pending = status.pending;
        view.share = known.share;
        view.speed = status.transfers.iter().map(|t| t.speed).sum();
        view.folders = status.folders.iter().map(folder_status).collect();
        view.transfers = status
            .transfers
            .iter()
            .take(TRANSFERS)
            .map(transfer)
            .collect();
        view.conflicts.clone_from(&known.conflicts);
        let of_folders: u64 = view.folders.iter().map(needs).sum();
        view.attention = of_folders + view.conflicts.len() as u64;
        // For the daemon a conflict is settled: both versions are kept. For a person it is not.
        if view.state == StateView::Idle && view.attention > 0 {
            view.state = StateView::Attention;
        }
    } else {
        view.state = match known.link {
            Link::Down => StateView::Error,
            Link::LoggedOut => StateView::Attention,
            Link::Starting | Link::Up => StateView::Offline,
        };
    }
    view.headline = headline(&view, language);
    view
}

fn needs(folder: &FolderView) -> u64 {
    folder.problem_count + folder.questions.len() as u64
}

fn headline(view: &View, language: Language) -> String {
    let say = |key: &str| language.text(key, &[]);
    match (view.link, view.state) {
        (Link::Starting, _) => return say("headline.starting"),
        (Link::Down, _) => return say("headline.down"),
        (Link::LoggedOut, _) => return say("headline.logged_out"),
        (Link::Up, _) => {}
    }
    match view.state {
        StateView::Idle if view.folders.is_empty() => say("headline.no_folders"),
        StateView::Idle => say("headline.idle"),
        StateView::Syncing => syncing(view, language),
        StateView::Paused => say("headline.paused"),
        StateView::Offline => say("headline.offline"),
        StateView::Attention => language.count("headline.attention", view.attention.max(1)),
        StateView::Error => say("headline.error"),
    }
}

fn syncing(view: &View, language: Language) -> String {
    let mut parts = vec![match view.share {
        Some(Share { done, total }) => language.text(
            "headline.syncing_share",
            &[
                ("done", &language.number(done)),
                ("total", &language.number(total)),
            ],
        ),
        None => language.text("headline.syncing", &[]),
    }];
    if view.speed > 0 {
        parts.push(format!("{}/s", language.size(view.speed)));
    }
    // The slowest transfer is what a person waits for.
    if let Some(left) = view.transfers.iter().filter_map(|t| t.seconds_left).max() {
        parts.push(language.text("headline.left", &[("time", &language.span(left))]));
    }
    parts.join(" · ")
}

fn state(state: control::State) -> StateView {
    match state {
        control::State::Idle => StateView::Idle,
        control::State::Syncing => StateView::Syncing,
        control::State::Paused => StateView::Paused,
        control::State::Offline => StateView::Offline,
        control::State::Attention => StateView::Attention,
        control::State::Error => StateView::Error,
    }
}

pub(super) fn mode(mode: control::Mode) -> ModeView {
    match mode {
        control::Mode::TwoWay => ModeView::TwoWay,
        control::Mode::Upload => ModeView::Upload,
        control::Mode::Download => ModeView::Download,
    }
}

impl From<ModeView> for control::Mode {
    fn from(mode: ModeView) -> Self {
        match mode {
            ModeView::TwoWay => Self::TwoWay,
            ModeView::Upload => Self::Upload,
            ModeView::Download => Self::Download,
        }
    }
}

/// A pair's choices, for its form.
#[must_use]
pub fn folder(folder: &control::Folder) -> crate::calls::FolderChoices {
    crate::calls::FolderChoices {
        local: folder.local.clone(),
        remote: folder.remote.clone(),
        mode: mode(folder.mode),
        only: folder.only.clone(),
        exclude: folder.exclude.clone(),
        gate: folder.gate.map(|gate| crate::calls::GateView {
            percent: gate.percent,
            files: gate.files,
        }),
    }
}

fn folder_status(folder: &control::FolderStatus) -> FolderView {
    let problems: Vec<&control::Problem> = folder
        .errors
        .iter()
        .filter(|problem| !NO_PROBLEM.contains(&problem.code.as_str()))
        .collect();
    FolderView {
        local: folder.local.clone(),
        name: last_part(&folder.local),
        remote: folder.remote.clone(),
        state: state(folder.state),
        mode: mode(folder.mode),
        pending: folder.pending,
        files: folder.files,
        bytes: folder.bytes,
        problem_count: problems.len() as u64,
        problems: problems.into_iter().take(LISTED).map(problem).collect(),
        questions: folder
            .questions
            .iter()
            .map(|question| QuestionView {
                here: question.side == control::Side::Local,
                files: question.files,
            })
            .collect(),
    }
}

fn last_part(path: &str) -> String {
    path.trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()
        .filter(|name| !name.is_empty())
        .unwrap_or(path)
        .to_owned()
}

fn problem(problem: &control::Problem) -> ProblemView {
    ProblemView {
        path: problem.path.clone(),
        code: problem.code.clone(),
        message: problem.message.clone(),
        hint: problem.hint.clone(),
    }
}

fn transfer(transfer: &control::Transfer) -> TransferView {
    TransferView {
        path: transfer.path.clone(),
        up: transfer.direction == control::Direction::Up,
        done: transfer.done,
        size: transfer.size,
        speed: transfer.speed,
        seconds_left: transfer.seconds_left,
    }
}

/// One activity.
#[must_use]
pub fn activity(activity: &control::Activity) -> ActivityView {
    ActivityView {
        at: activity.at.clone(),
        kind: activity.kind.clone(),
        path: activity.path.clone(),
        folder: activity.folder.clone(),
        device: activity.device.clone(),
        bytes: activity.bytes,
    }
}

/// One conflict.
#[must_use]
pub fn conflict(conflict: &control::Conflict) -> ConflictView {
    ConflictView {
        folder: conflict.folder.clone(),
        path: conflict.path.clone(),
        copy: conflict.copy.clone(),
        kind: conflict.kind.clone(),
        device: conflict.device.clone(),
        at: conflict.at.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(state: control::State) -> control::FolderStatus {
        control::FolderStatus {
            local: "/home/a/Cairn".into(),
            state,
            ..Default::default()
        }
    }

    fn known(state: control::State) -> Known {
        Known {
            link: Link::Up,
            status: control::Status {
                state,
                folders: vec![folder(state)],
                ..Default::default()
            },
            ..Known::default()
        }
    }

    fn problem(code: &str) -> control::Problem {
        control::Problem {
            path: "a".into(),
            code: code.into(),
            message: "m".into(),
            hint: "h".into(),
        }
    }

    #[test]
    fn the_headline_says_how_far_it_is() {
        let mut known = known(control::State::Syncing);
        known.share = Some(Share {
            done: 12,
            total: 1340,
        });
        known.status.transfers = vec![control::Transfer {
            path: "f".into(),
            direction: control::Direction::Up,
            done: 1,
            size: 9,
            speed: 4_200_000,
            seconds_left: Some(100),
        }];
        assert_eq!(
            build(&known, Language::En).headline,
            "Syncing 12 of 1,340 · 4.2 MB/s · 2 min left"
        );
        assert_eq!(
            build(&known, Language::De).headline,
            "Synchronisiert 12 von 1.340 · 4,2 MB/s · noch 2 min"
        );
    }

    #[test]
    fn what_needs_a_person_is_counted_once() {
        let mut known = known(control::State::Attention);
        known.status.folders[0].errors = vec![
            problem("deletions_held"),
            problem("symlink"),
            problem("unreadable"),
        ];
        known.status.folders[0].questions = vec![control::Question {
            side: control::Side::Remote,
            files: 9,
        }];
        known.conflicts = vec![ConflictView {
            folder: "/home/a/Cairn".into(),
            path: "a".into(),
            copy: "b".into(),
            kind: "edit".into(),
            device: "desk".into(),
            at: String::new(),
        }];
        let view = build(&known, Language::En);
        assert_eq!(view.attention, 3);
        assert_eq!(view.headline, "3 things need you");
        assert_eq!(view.folders[0].name, "Cairn");
        assert!(!view.folders[0].questions[0].here);
    }

    #[test]
    fn a_conflict_alone_needs_a_person() {
        let mut known = known(control::State::Idle);
        assert_eq!(build(&known, Language::En).state, StateView::Idle);
        known.conflicts = vec![conflict(&control::Conflict {
            path: "a".into(),
            copy: "b".into(),
            folder: "/f".into(),
            kind: "edit".into(),
            device: String::new(),
            at: String::new(),
        })];
        assert_eq!(build(&known, Language::En).state, StateView::Attention);
    }

    #[test]
    fn without_a_daemon_nothing_of_the_last_one_is_shown() {
        let mut known = known(control::State::Idle);
        known.link = Link::Down;
        known.trouble = Some("the keyring is locked".into());
        let view = build(&known, Language::En);
        assert_eq!(view.state, StateView::Error);
        assert!(view.folders.is_empty());
        assert_eq!(view.trouble.as_deref(), Some("the keyring is locked"));
        known.link = Link::LoggedOut;
        assert_eq!(build(&known, Language::En).headline, "Not logged in");
    }

    #[test]
    fn ten_thousand_problems_cross_the_bridge_as_a_number() {
        let mut known = known(control::State::Attention);
        known.status.folders[0].errors = vec![problem("unreadable"); 10_000];
        let folder = &build(&known, Language::En).folders[0];
        assert_eq!(
            (folder.problems.len(), folder.problem_count),
            (LISTED, 10_000)
        );
    }
}
