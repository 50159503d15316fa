//! The history of a cluster as its clients saw it, and what has to hold for it.
//!
//! The revisions of a file are a register that is compared and set: each write names the revision that it replaces. The
//! service's own list of them is the order; the history is linearizable if that order fits what each client was told,
//! and when. The feed has to have each change once, in the order of its positions.

use std::collections::{HashMap, HashSet};

/// An operation on a file, with its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// The revision was made.
    Wrote {
        base: String,
        new: String,
    },
    /// Refused: the base was not the current revision.
    Refused {
        base: String,
    },
    Read {
        found: String,
    },
}

/// An operation from its first request to its last response, in microseconds since the beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) file: usize,
    pub(super) begun: u64,
    pub(super) ended: u64,
    pub(super) operation: Operation,
}

/// Returns what contradicts the order of a file's revisions, oldest first.
pub(super) fn contradictions(file: usize, order: &[String], events: &[Event]) -> Vec<String> {
    let mut found = Vec::new();
    let places: HashMap<&str, usize> = order
        .iter()
        .enumerate()
        .map(|(place, revision)| (revision.as_str(), place))
        .collect();
    if places.len() < order.len() {
        found.push(format!("file {file} has a revision twice"));
    }
    let mut events: Vec<&Event> = events.iter().filter(|event| event.file == file).collect();
    events.sort_by_key(|event| event.begun);
    let mut writes: HashMap<usize, &Event> = HashMap::new();
    for event in &events {
        if let Operation::Wrote { base, new } = &event.operation {
            match places.get(new.as_str()) {
                None => found.push(format!(
                    "file {file}: the revision {new} was acknowledged and is lost"
                )),
                Some(place) => {
                    let before = place.checked_sub(1).map(|place| order[place].as_str());
                    if before != Some(base) {
                        found.push(format!(
                            "file {file}: {new} replaced {before:?}, not {base}"
                        ));
                    }
                    writes.insert(*place, event);
                }
            }
        }
    }
    for (place, revision) in order.iter().enumerate().skip(1) {
        if !writes.contains_key(&place) {
            found.push(format!("file {file}: nobody made the revision {revision}"));
        }
    }
    found.extend(out_of_time(file, &places, &writes, &events));
    found
}

/// Returns what was seen before it was made, or after it was replaced.
fn out_of_time(
    file: usize,
    places: &HashMap<&str, usize>,
    writes: &HashMap<usize, &Event>,
    events: &[&Event],
) -> Vec<String> {
    let mut found = Vec::new();
    // The events by their ends, and the latest revision that one of those had which ended before another began.
    let mut ends: Vec<(u64, usize)> = Vec::new();
    for event in events {
        match &event.operation {
            Operation::Wrote { new: revision, .. } | Operation::Read { found: revision } => {
                let Some(place) = places.get(revision.as_str()).copied() else {
                    found.push(format!(
                        "file {file}: {revision} was read and is no revision"
                    ));
                    continue;
                };
                let made = writes.get(&place).filter(|made| made.begun > event.ended);
                if made.is_some() {
                    found.push(format!(
                        "file {file}: {revision} was read before it was written"
                    ));
                }
                ends.push((event.ended, place));
            }
            Operation::Refused { base } => {
                let next = places.get(base.as_str()).map(|place| place + 1);
                let replaced = next.and_then(|next| writes.get(&next));
                if replaced.is_none_or(|write| write.begun > event.ended) {
                    found.push(format!(
                        "file {file}: a write over {base} was refused, and it was current"
                    ));
                }
            }
        }
    }
    ends.sort_unstable();
    let (mut latest, mut ended) = (0, ends.iter().peekable());
    for event in events {
        while let Some((_, place)) = ended.next_if(|(end, _)| *end < event.begun) {
            latest = latest.max(*place);
        }
        let (revision, is_write) = match &event.operation {
            Operation::Wrote { new, .. } => (new, true),
            Operation::Read { found } => (found, false),
            Operation::Refused { .. } => continue,
        };
        let Some(place) = places.get(revision.as_str()) else {
            continue;
        };
        if *place < latest || is_write && *place == latest && latest > 0 {
            found.push(format!(
                "file {file}: {revision} was seen after a later revision"
            ));
        }
    }
    found
}

/// Returns what is wrong with a feed as a reader has read it, of which `made` have to be part.
pub(super) fn gaps(reader: &str, feed: &[(u64, String)], made: &HashSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    for pair in feed.windows(2) {
        if pair[1].0 <= pair[0].0 {
            found.push(format!(
                "{reader}: position {} came after {}",
                pair[1].0, pair[0].0
            ));
        }
    }
    let seen: HashSet<&str> = feed.iter().map(|(_, node)| node.as_str()).collect();
    let missed = made.iter().filter(|node| !seen.contains(node.as_str()));
    found.extend(missed.map(|node| format!("{reader}: never heard of {node}")));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(names: &str) -> Vec<String> {
        names.chars().map(String::from).collect()
    }

    fn event(begun: u64, ended: u64, operation: Operation) -> Event {
        Event {
            file: 0,
            begun,
            ended,
            operation,
        }
    }

    fn wrote(base: &str, new: &str) -> Operation {
        Operation::Wrote {
            base: base.into(),
            new: new.into(),
        }
    }

    fn read(found: &str) -> Operation {
        Operation::Read {
            found: found.into(),
        }
    }

    fn refused(base: &str) -> Operation {
        Operation::Refused { base: base.into() }
    }

    /// Two writes, and reads between and beside them.
    fn good() -> Vec<Event> {
        vec![
            event(0, 5, read("a")),
            event(10, 20, wrote("a", "b")),
            event(11, 12, read("a")),
            event(12, 30, read("b")),
            event(21, 22, read("b")),
            event(25, 60, wrote("b", "c")),
            event(40, 50, refused("a")),
            event(41, 51, refused("b")),
            event(61, 62, read("c")),
        ]
    }

    #[test]
    fn a_good_history_is_accepted() {
        assert_eq!(
            contradictions(0, &order("abc"), &good()),
            Vec::<String>::new()
        );
        assert_eq!(
            contradictions(1, &order("x"), &good()),
            Vec::<String>::new()
        );
    }

    #[test]
    fn each_kind_of_contradiction_is_found() {
        let with = |more: Event| [good(), vec![more]].concat();
        for (what, order_of, events) in [
            ("is lost", "ab", good()),
            ("twice", "abcb", good()),
            ("not a", "axbc", good()),
            ("nobody made", "abcd", good()),
            ("no revision", "abc", with(event(70, 71, read("z")))),
            ("before it was written", "abc", with(event(1, 9, read("b")))),
            ("after a later", "abc", with(event(23, 24, read("a")))),
            ("after a later", "abc", with(event(63, 64, read("b")))),
            ("it was current", "abc", with(event(65, 66, refused("c")))),
            ("it was current", "abc", with(event(1, 9, refused("a")))),
        ] {
            let found = contradictions(0, &order(order_of), &events);
            assert!(
                found.iter().any(|one| one.contains(what)),
                "{what}: {found:?}"
            );
        }
    }

    #[test]
    fn a_feed_without_a_change_or_out_of_order_is_found() {
        let feed = [(1, "a".to_owned()), (3, "b".to_owned())];
        let made = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert!(gaps("r", &feed, &made(&["a", "b"])).is_empty());
        assert_eq!(gaps("r", &feed, &made(&["c"])).len(), 1);
        let back = [feed[1].clone(), feed[0].clone()];
        assert_eq!(gaps("r", &back, &made(&[])).len(), 1);
    }
}
