//! When to tell a person something by a notification, and in which words.
//!
//! One notification for many things of a kind; nothing twice; nothing that was so at the start.

use crate::settings::Notify;
use crate::strings::Language;
use crate::view::{Link, StateView, View};
use std::time::{Duration, Instant};

/// An error that goes away by itself within this time is not worth a word.
const LASTING: Duration = Duration::from_secs(20);
/// A burst of this many changes is something big.
const BIG: u64 = 100;

/// Where a click on a notification leads, and what it is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topic {
    Conflict,
    Question,
    Error,
    Done,
}

/// A notification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    pub topic: Topic,
    pub title: String,
    pub body: String,
}

/// Remembers what has been told.
#[derive(Debug, Default)]
pub struct Notes {
    started: bool,
    conflicts: usize,
    questions: usize,
    /// Since when there is an error, and whether it was told.
    error: Option<(Instant, bool)>,
    burst: u64,
}

impl Notes {
    /// Takes in a view and says what to tell now.
    pub fn observe(
        &mut self,
        view: &View,
        now: Instant,
        wanted: Notify,
        language: Language,
    ) -> Vec<Note> {
        if view.link != Link::Up {
            return Vec::new();
        }
        let questions = view.folders.iter().map(|f| f.questions.len()).sum();
        let mut notes = Vec::new();
        let first = !std::mem::replace(&mut self.started, true);
        if !first {
            if wanted.conflict && view.conflicts.len() > self.conflicts {
                notes.push(conflict(view, self.conflicts, language));
            }
            if wanted.question && questions > self.questions {
                notes.push(note(
                    Topic::Question,
                    language.text("note.question", &[]),
                    language.text("note.question_body", &[]),
                ));
            }
        }
        self.conflicts = view.conflicts.len();
        self.questions = questions;
        notes.extend(self.lasting(view, now, wanted, language));
        notes.extend(self.big(view, wanted, language));
        notes
    }

    /// When [`Notes::observe`] has something to say without anything new having come.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.error
            .filter(|(_, told)| !told)
            .map(|(since, _)| since + LASTING)
    }

    fn lasting(
        &mut self,
        view: &View,
        now: Instant,
        wanted: Notify,
        language: Language,
    ) -> Option<Note> {
        if view.state != StateView::Error {
            self.error = None;
            return None;
        }
        let (since, told) = self.error.get_or_insert((now, false));
        if *told || now.duration_since(*since) < LASTING {
            return None;
        }
        *told = true;
        let body = view.trouble.clone().unwrap_or_else(|| {
            let problem = view.folders.iter().find_map(|f| f.problems.first());
            problem.map_or_else(String::new, |p| format!("{}. {}", p.message, p.hint))
        });
        wanted
            .error
            .then(|| note(Topic::Error, language.text("note.error", &[]), body))
    }

    fn big(&mut self, view: &View, wanted: Notify, language: Language) -> Option<Note> {
        if let Some(share) = view.share {
            self.burst = share.total;
            return None;
        }
        if view.state != StateView::Idle {
            return None;
        }
        let burst = std::mem::take(&mut self.burst);
        (wanted.done && burst >= BIG).then(|| {
            note(
                Topic::Done,
                language.text("note.done", &[]),
                language.count("note.done_body", burst),
            )
        })
    }
}

fn conflict(view: &View, before: usize, language: Language) -> Note {
    let new = (view.conflicts.len() - before) as u64;
    // The daemon lists the oldest first.
    let body = match (new, view.conflicts.last()) {
        (1, Some(conflict)) => {
            language.text("note.conflict_body", &[("path", conflict.path.as_str())])
        }
        _ => language.count("note.conflicts_body", new),
    };
    note(Topic::Conflict, language.text("note.conflict", &[]), body)
}

fn note(topic: Topic, title: String, body: String) -> Note {
    Note { topic, title, body }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Share;
    use crate::view::ConflictView;

    fn view(state: StateView, conflicts: usize) -> View {
        let conflict = ConflictView {
            folder: "/f".into(),
            path: "report.txt".into(),
            copy: "report (2).txt".into(),
            kind: "edit".into(),
            device: "desk".into(),
            at: String::new(),
        };
        View {
            link: Link::Up,
            state,
            conflicts: vec![conflict; conflicts],
            ..View::default()
        }
    }

    struct World(Notes, Instant);

    impl World {
        fn new() -> Self {
            Self(Notes::default(), Instant::now())
        }

        fn see(&mut self, view: &View) -> Vec<Note> {
            self.0
                .observe(view, self.1, Notify::default(), Language::En)
        }
    }

    #[test]
    fn new_conflicts_are_told_once_and_together() {
        let mut world = World::new();
        assert_eq!(
            world.see(&view(StateView::Attention, 1)),
            [],
            "was so before"
        );
        let told = world.see(&view(StateView::Attention, 2));
        assert_eq!(told.len(), 1);
        assert!(told[0].body.contains("report.txt"), "{}", told[0].body);
        assert_eq!(world.see(&view(StateView::Attention, 2)), []);
        let told = world.see(&view(StateView::Attention, 9));
        assert!(told.len() == 1 && told[0].body.contains('7'), "{told:?}");
    }

    #[test]
    fn an_error_is_told_when_it_lasts() {
        let mut world = World::new();
        world.see(&view(StateView::Idle, 0));
        assert_eq!(world.see(&view(StateView::Error, 0)), []);
        assert_eq!(world.0.due(), Some(world.1 + LASTING));
        world.1 += LASTING;
        assert_eq!(world.see(&view(StateView::Error, 0))[0].topic, Topic::Error);
        world.1 += LASTING;
        assert_eq!(world.see(&view(StateView::Error, 0)), []);
        assert_eq!(world.0.due(), None);
    }

    #[test]
    fn only_something_big_is_told_when_done() {
        let mut world = World::new();
        for (total, told) in [(5, 0), (340, 1)] {
            let mut busy = view(StateView::Syncing, 0);
            busy.share = Some(Share { done: 1, total });
            assert_eq!(world.see(&busy), []);
            assert_eq!(world.see(&view(StateView::Idle, 0)).len(), told, "{total}");
        }
    }

    #[test]
    fn each_can_be_switched_off() {
        let mut notes = Notes::default();
        let off = Notify {
            conflict: false,
            ..Notify::default()
        };
        let now = Instant::now();
        notes.observe(&view(StateView::Idle, 0), now, off, Language::En);
        assert_eq!(
            notes.observe(&view(StateView::Idle, 1), now, off, Language::En),
            []
        );
    }
}
