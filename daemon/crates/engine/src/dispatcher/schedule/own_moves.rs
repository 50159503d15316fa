//! Moves of directories that the engine itself has made on this disk: a hint about a path from before such a move is
//! about the place after it, too.

use crate::observe::scan::Hinted;
use cairn_model::RelPath;
use std::time::Duration;
use tokio::time::Instant;

/// A watcher tells of what was before a move no later than this.
const KEPT: Duration = Duration::from_secs(30);
/// More of them are not followed one by one.
const MOST: usize = 1000;

/// The moves of the last while, in their order.
#[derive(Debug, Default)]
pub(super) struct OwnMoves(Vec<OwnMove>);

#[derive(Debug)]
struct OwnMove {
    from: RelPath,
    to: RelPath,
    at: Instant,
}

impl OwnMoves {
    /// Records a move. Returns whether these are too many to follow: then none is known any more, and everything is to
    /// be looked at.
    #[must_use]
    pub(super) fn record(&mut self, from: RelPath, to: RelPath, at: Instant) -> bool {
        self.0.push(OwnMove { from, to, at });
        let are_too_many = self.0.len() > MOST;
        if are_too_many {
            self.0.clear();
        }
        are_too_many
    }

    /// Adds to the hinted directories the places to which they have moved. The paths themselves stay: something else
    /// may be there by now.
    pub(super) fn follow(&mut self, hinted: &mut Hinted, now: Instant) {
        self.0.retain(|moved| now < moved.at + KEPT);
        for OwnMove { from, to, .. } in &self.0 {
            let elsewhere: Hinted = hinted
                .iter()
                .filter(|(dir, _)| dir.starts_with(from))
                .map(|(dir, names)| {
                    let below = dir.names().iter().skip(from.names().len());
                    let there = below.fold(to.clone(), |path, name| path.join(name.clone()));
                    (there, names.clone())
                })
                .collect();
            for (dir, names) in elsewhere {
                hinted.entry(dir).or_default().extend(names);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::Name;

    fn path(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    fn hinted(dirs: &[&str]) -> Hinted {
        let names = [Name::new("new".to_owned()).unwrap()];
        let dirs = dirs.iter().map(|dir| (path(dir), names.clone().into()));
        dirs.collect()
    }

    #[test]
    fn a_hint_from_before_moves_counts_where_they_lead_for_a_while() {
        let now = Instant::now();
        let mut moves = OwnMoves::default();
        for (from, to) in [("a", "between"), ("b", "a"), ("between", "b/c")] {
            assert!(!moves.record(path(from), path(to), now));
        }
        let mut both = hinted(&["a/x", "ab"]);
        moves.follow(&mut both, now);
        assert_eq!(both, hinted(&["a/x", "ab", "between/x", "b/c/x"]));

        let mut late = hinted(&["a/x"]);
        moves.follow(&mut late, now + KEPT);
        assert_eq!(late, hinted(&["a/x"]));
    }

    #[test]
    fn more_moves_than_can_be_followed_are_reported_once() {
        let now = Instant::now();
        let mut moves = OwnMoves::default();
        let overflows = (0..=MOST).map(|n| moves.record(path(&format!("d{n}")), path("e"), now));
        assert_eq!(overflows.filter(|is_over| *is_over).count(), 1);
    }
}
