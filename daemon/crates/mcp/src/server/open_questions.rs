//! The questions of the stateless protocol that wait for a reply. Each reply confirms one call, once.

use std::collections::VecDeque;

/// The questions that are remembered; one that was forgotten is asked again.
const MOST: usize = 1_000;

/// The questions that nobody has replied to yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct OpenQuestions {
    asked: u64,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    state: String,
    /// The hash of the call, of its question, and of what that is about.
    about: u64,
}

impl OpenQuestions {
    /// Adds a question, and returns the state that comes back with the reply to it.
    pub(super) fn add(&mut self, about: u64) -> String {
        self.asked += 1;
        if self.waiting.len() == MOST {
            self.waiting.pop_front();
        }
        // The number tells equal questions apart, and the hash those of another process.
        let state = format!("{}-{about:016x}", self.asked);
        self.waiting.push_back(Waiting {
            state: state.clone(),
            about,
        });
        state
    }

    /// Takes a question out, as a reply to it came; returns what it was about. `None` for one that has had its reply,
    /// or was never asked.
    pub(super) fn take(&mut self, state: &str) -> Option<u64> {
        let mut waiting = self.waiting.iter();
        let at = waiting.position(|waiting| waiting.state == state)?;
        self.waiting.remove(at).map(|waiting| waiting.about)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_one_reply() {
        let mut open = OpenQuestions::default();
        let (first, second) = (open.add(7), open.add(7));
        assert_ne!(first, second);
        assert_eq!(open.take(&first), Some(7));
        assert_eq!(open.take(&first), None);
        assert_eq!(open.take(&second), Some(7));
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut open = OpenQuestions::default();
        let (first, second) = (open.add(0), open.add(1));
        for about in 2..=MOST as u64 {
            open.add(about);
        }
        assert_eq!(open.waiting.len(), MOST);
        assert_eq!(open.take(&first), None);
        assert_eq!(open.take(&second), Some(1));
    }
}
