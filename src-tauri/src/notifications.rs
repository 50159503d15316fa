//! Notifications: when to show one, and its text.
//!
//! One notification for many things of a kind; none twice; none for what was so at the start.

use crate::problem_text::problem_text;
use crate::settings::Notify;
use crate::strings::Language;
use crate::view::{ConnectionState, View};
use cairn_model::{ConfirmationKind, SyncState};
use std::time::{Duration, Instant};

/// The time after which an error is notified; many go away by themselves before.
const ERROR_DELAY: Duration = Duration::from_secs(20);
/// The number of changes from which the end of a burst is notified.
const BIG_BURST: u64 = 100;

/// The subject of a notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topic {
    Conflict,
    Confirmation,
    Error,
    Done,
}

/// A notification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notification {
    pub topic: Topic,
    pub title: String,
    pub body: String,
}

/// Decides what is notified; remembers what has been.
#[derive(Debug, Default)]
pub struct Notifier {
    has_started: bool,
    conflicts: usize,
    /// Folders in which deletions wait.
    confirmations: usize,
    /// Folders in which overwriting waits.
    overwriting: usize,
    /// The start of the present error, and true if it has been notified.
    error: Option<(Instant, bool)>,
    burst: u64,
}

impl Notifier {
    /// Processes a view and returns the notifications to show now.
    pub fn observe(
        &mut self,
        view: &View,
        now: Instant,
        wanted: Notify,
        language: Language,
    ) -> Vec<Notification> {
        if view.connection != ConnectionState::Up {
            return Vec::new();
        }
        let confirmations = count(view, ConfirmationKind::Deletion);
        let overwriting = count(view, ConfirmationKind::Overwriting);
        let mut notifications = Vec::new();
        let first = !std::mem::replace(&mut self.has_started, true);
        if !first {
            if wanted.conflict && view.conflicts.len() > self.conflicts {
                notifications.push(conflict(view, self.conflicts, language));
            }
            if wanted.question && confirmations > self.confirmations {
                notifications.push(notification(
                    Topic::Confirmation,
                    language.text("notification.confirmation", &[]),
                    language.text("notification.confirmation_body", &[]),
                ));
            }
            if wanted.question && overwriting > self.overwriting {
                notifications.push(notification(
                    Topic::Confirmation,
                    language.text("notification.overwriting", &[]),
                    language.text("notification.overwriting_body", &[]),
                ));
            }
        }
        self.conflicts = view.conflicts.len();
        self.confirmations = confirmations;
        self.overwriting = overwriting;
        notifications.extend(self.persistent_error(view, now, wanted, language));
        notifications.extend(self.big_burst(view, wanted, language));
        notifications
    }

    /// Returns the time at which [`Notifier::observe`] is to be called without a new view.
    #[must_use]
    pub fn due_at(&self) -> Option<Instant> {
        self.error
            .filter(|(_, notified)| !notified)
            .map(|(since, _)| since + ERROR_DELAY)
    }

    fn persistent_error(
        &mut self,
        view: &View,
        now: Instant,
        wanted: Notify,
        language: Language,
    ) -> Option<Notification> {
        if view.state != SyncState::Error {
            self.error = None;
            return None;
        }
        let (since, notified) = self.error.get_or_insert((now, false));
        if *notified || now.duration_since(*since) < ERROR_DELAY {
            return None;
        }
        *notified = true;
        let body = view.last_error.clone().unwrap_or_else(|| {
            let problem = view.folders.iter().find_map(|f| f.problems.first());
            problem.map_or_else(String::new, |problem| problem_text(problem, language))
        });
        wanted
            .error
            .then(|| notification(Topic::Error, language.text("notification.error", &[]), body))
    }

    fn big_burst(
        &mut self,
        view: &View,
        wanted: Notify,
        language: Language,
    ) -> Option<Notification> {
        if let Some(progress) = view.progress {
            self.burst = progress.total;
            return None;
        }
        if view.state != SyncState::Idle {
            return None;
        }
        let burst = std::mem::take(&mut self.burst);
        (wanted.done && burst >= BIG_BURST).then(|| {
            notification(
                Topic::Done,
                language.text("notification.done", &[]),
                language.count("notification.done_body", burst),
            )
        })
    }
}

/// Returns the number of questions of a kind.
fn count(view: &View, kind: ConfirmationKind) -> usize {
    let confirmations = view.folders.iter().flat_map(|f| &f.confirmations);
    confirmations.filter(|asked| asked.kind == kind).count()
}

fn conflict(view: &View, before: usize, language: Language) -> Notification {
    let new = (view.conflicts.len() - before) as u64;
    // The daemon lists the oldest first.
    let body = match (new, view.conflicts.last()) {
        (1, Some(conflict)) => language.text(
            "notification.conflict_body",
            &[("path", conflict.path.as_str())],
        ),
        _ => language.count("notification.conflicts_body", new),
    };
    notification(
        Topic::Conflict,
        language.text("notification.conflict", &[]),
        body,
    )
}

fn notification(topic: Topic, title: String, body: String) -> Notification {
    Notification { topic, title, body }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{ConfirmationView, ConflictView, FolderView, SyncProgress};
    use cairn_model::Side;

    fn view(state: SyncState, conflicts: usize) -> View {
        let conflict = ConflictView {
            folder: "/f".into(),
            path: "report.txt".into(),
            copy: "report (2).txt".into(),
            kind: cairn_model::ConflictKind::Edit,
            device: "desk".into(),
            copy_device: String::new(),
            copy_made_here: None,
            at: String::new(),
        };
        View {
            connection: ConnectionState::Up,
            state,
            conflicts: vec![conflict; conflicts],
            ..View::default()
        }
    }

    struct World(Notifier, Instant);

    impl World {
        fn new() -> Self {
            Self(Notifier::default(), Instant::now())
        }

        fn observe(&mut self, view: &View) -> Vec<Notification> {
            self.0
                .observe(view, self.1, Notify::default(), Language::En)
        }
    }

    #[test]
    fn new_conflicts_are_notified_once_and_together() {
        let mut world = World::new();
        assert_eq!(
            world.observe(&view(SyncState::Attention, 1)),
            [],
            "was so before"
        );
        let shown = world.observe(&view(SyncState::Attention, 2));
        assert_eq!(shown.len(), 1);
        assert!(shown[0].body.contains("report.txt"), "{}", shown[0].body);
        assert_eq!(world.observe(&view(SyncState::Attention, 2)), []);
        let shown = world.observe(&view(SyncState::Attention, 9));
        assert!(shown.len() == 1 && shown[0].body.contains('7'), "{shown:?}");
    }

    #[test]
    fn overwriting_that_waits_is_notified_once() {
        let mut world = World::new();
        world.observe(&view(SyncState::Idle, 0));
        let mut asking = view(SyncState::Attention, 0);
        asking.folders = vec![FolderView {
            local: "/f".into(),
            name: "f".into(),
            remote: "/".into(),
            state: SyncState::Attention,
            mode: cairn_model::SyncMode::TwoWay,
            pending: 0,
            files: 40,
            bytes: 0,
            team: None,
            problems: vec![],
            confirmations: vec![ConfirmationView {
                kind: ConfirmationKind::Overwriting,
                side: Side::Remote,
                files: 40,
            }],
        }];
        let shown = world.observe(&asking);
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].topic, Topic::Confirmation);
        assert_eq!(shown[0].title, "Many files look encrypted");
        assert_eq!(world.observe(&asking), []);
    }

    #[test]
    fn an_error_is_notified_when_it_lasts() {
        let mut world = World::new();
        world.observe(&view(SyncState::Idle, 0));
        assert_eq!(world.observe(&view(SyncState::Error, 0)), []);
        assert_eq!(world.0.due_at(), Some(world.1 + ERROR_DELAY));
        world.1 += ERROR_DELAY;
        assert_eq!(
            world.observe(&view(SyncState::Error, 0))[0].topic,
            Topic::Error
        );
        world.1 += ERROR_DELAY;
        assert_eq!(world.observe(&view(SyncState::Error, 0)), []);
        assert_eq!(world.0.due_at(), None);
    }

    #[test]
    fn only_something_big_is_notified_when_done() {
        let mut world = World::new();
        for (total, notified) in [(5, 0), (340, 1)] {
            let mut busy = view(SyncState::Syncing, 0);
            busy.progress = Some(SyncProgress {
                done: 1,
                total,
                ..SyncProgress::default()
            });
            assert_eq!(world.observe(&busy), []);
            assert_eq!(
                world.observe(&view(SyncState::Idle, 0)).len(),
                notified,
                "{total}"
            );
        }
    }

    #[test]
    fn each_can_be_switched_off() {
        let mut notifier = Notifier::default();
        let off = Notify {
            conflict: false,
            ..Notify::default()
        };
        let now = Instant::now();
        notifier.observe(&view(SyncState::Idle, 0), now, off, Language::En);
        assert_eq!(
            notifier.observe(&view(SyncState::Idle, 1), now, off, Language::En),
            []
        );
    }
}
