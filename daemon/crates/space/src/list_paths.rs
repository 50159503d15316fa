//! A list of paths as the text of a message.

/// Paths that a message lists; the rest is counted.
const LISTED: usize = 10;

/// Returns paths as one text: the first ten, and the number of the others.
pub fn list_paths(mut paths: impl ExactSizeIterator<Item = String>) -> String {
    let first: Vec<String> = paths.by_ref().take(LISTED).collect();
    let first = first.join(", ");
    match paths.len() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut() {
        let list = |count: usize| list_paths((0..count).map(|n| format!("/{n}")));
        assert_eq!(list(2), "/0, /1");
        assert!(list(10).ends_with("/8, /9"));
        assert!(list(12).ends_with("/9 and 2 more"));
    }
}
