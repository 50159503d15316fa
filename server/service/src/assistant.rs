//! The assistant: answers from the caller's own metadata, the same question always the same way.
//!
//! It needs no model and no network. It says what it can't answer, with what it can.

use cairn_model::Category;
use cairn_model::size::binary;
use cairn_store::{Facts, NamedFile};
use cairn_wire::account::Quota;
use cairn_wire::nodes::Node;
use std::collections::BTreeMap;

/// Tokens are counted as most models cut English: four characters each.
const CHARS_PER_TOKEN: usize = 4;
/// A file of this size is large, of the other small.
const LARGE: u64 = 100 * 1024 * 1024;
const SMALL: u64 = 1024 * 1024;

/// The subject of a question, by the words in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    Usage,
    Largest,
    Stale,
    Recent,
    Shares,
    Trash,
    Kinds,
    Count,
}

/// Asked for from the top: the first topic with a word in the question.
const TOPICS: [(Topic, &[&str]); 8] = [
    (
        Topic::Largest,
        &["largest", "biggest", "big files", "large"],
    ),
    (
        Topic::Stale,
        &["stale", "old", "unused", "untouched", "archive"],
    ),
    (Topic::Recent, &["recent", "latest", "new", "last"]),
    (Topic::Shares, &["share", "link", "public"]),
    (Topic::Trash, &["trash", "deleted", "bin"]),
    (
        Topic::Kinds,
        &[
            "kind",
            "type",
            "category",
            "categories",
            "photos",
            "documents",
        ],
    ),
    (
        Topic::Usage,
        &["usage", "space", "storage", "quota", "bandwidth", "full"],
    ),
    (Topic::Count, &["how many", "count", "files", "folders"]),
];

/// The number of tokens a text counts as.
pub(crate) fn tokens(text: &str) -> u64 {
    text.chars().count().div_ceil(CHARS_PER_TOKEN).max(1) as u64
}

fn list(files: &[NamedFile]) -> String {
    files
        .iter()
        .map(|file| {
            let day: String = file.modified_at.to_string().chars().take(10).collect();
            format!("\n- {} ({}, {day})", file.name, binary(file.size))
        })
        .collect()
}

fn plural(count: u64, one: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {one}s")
    }
}

/// Replies to a question, in the pieces in which the reply is streamed.
pub(crate) fn reply(question: &str, facts: &Facts, quota: &Quota) -> Vec<String> {
    let question = question.to_lowercase();
    let topic = TOPICS
        .iter()
        .find(|(_, words)| words.iter().any(|word| question.contains(word)))
        .map(|(topic, _)| *topic);
    let text = match topic {
        Some(Topic::Largest) if facts.largest.is_empty() => "You have no files yet.".to_owned(),
        Some(Topic::Largest) => format!("Your largest files are:{}", list(&facts.largest)),
        Some(Topic::Stale) if facts.stale.is_empty() => {
            "No file has been untouched for 90 days or more.".to_owned()
        }
        Some(Topic::Stale) => format!(
            "{} untouched for 90 days or more. The oldest:{}",
            plural(facts.stale_count, "file"),
            list(&facts.stale)
        ),
        Some(Topic::Recent) if facts.recent.is_empty() => "You have no files yet.".to_owned(),
        Some(Topic::Recent) => format!("What changed last:{}", list(&facts.recent)),
        Some(Topic::Shares) => format!(
            "You have {} that can be opened.",
            plural(facts.share_links, "active share link")
        ),
        Some(Topic::Trash) => format!(
            "There are {} in the trash. Emptying it frees what they use.",
            plural(facts.trashed, "file and folder")
                .replace("file and folders", "files and folders")
        ),
        Some(Topic::Kinds) => {
            let mut by_category: Vec<_> = facts.by_category.iter().collect();
            by_category.sort_by_key(|(category, _)| category.as_str());
            let kinds: String = by_category
                .into_iter()
                .map(|(kind, count)| format!("\n- {kind}: {count}"))
                .collect();
            format!("Your files by kind:{kinds}")
        }
        Some(Topic::Usage) => format!(
            "You use {} of {} of storage and {} of {} of this month's bandwidth.",
            binary(quota.storage_used),
            binary(quota.storage_limit),
            binary(quota.bandwidth_used),
            binary(quota.bandwidth_limit)
        ),
        Some(Topic::Count) => format!(
            "You have {} in {}; {} favorites.",
            plural(facts.files, "file"),
            plural(facts.folders, "folder"),
            facts.favorites
        ),
        None => "I answer questions about your files: how many there are and of which kind, the largest, \
                 the recent and the stale ones, storage and bandwidth, share links, the trash. I see names and \
                 sizes, never contents."
            .to_owned(),
    };
    pieces(&text)
}

/// A text cut behind its words, a few of them together.
fn pieces(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (number, word) in text.split_inclusive(' ').enumerate() {
        match out.last_mut() {
            Some(last) if number % 6 != 0 => last.push_str(word),
            Some(_) | None => out.push(word.to_owned()),
        }
    }
    out
}

/// Labels for a file, from its extension and metadata.
pub(crate) fn classify(node: &Node) -> BTreeMap<String, String> {
    let mut labels = node.labels.clone();
    let mut set = |key: &str, value: String| {
        labels.insert(key.to_owned(), value);
    };
    set(
        "category",
        node.category.unwrap_or(Category::Other).to_string(),
    );
    if let Some((_, extension)) = node.name.rsplit_once('.')
        && !extension.is_empty()
    {
        set("type", extension.to_lowercase());
    }
    let size = match node.size {
        LARGE.. => "large",
        SMALL.. => "medium",
        _ => "small",
    };
    set("size", size.to_owned());
    let time = node.modified_at.unwrap_or(node.updated_at).to_string();
    set("year", time.chars().take(4).collect());
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_wire::Timestamp;

    fn quota() -> Quota {
        Quota {
            storage_used: 1536,
            storage_limit: 1 << 30,
            bandwidth_used: 0,
            bandwidth_limit: 1 << 40,
            file_count: 2,
            file_count_limit: 10,
        }
    }

    #[test]
    fn the_same_question_has_one_answer_made_of_facts() {
        let facts = Facts {
            files: 2,
            folders: 1,
            largest: vec![NamedFile {
                name: "film.mp4".into(),
                size: 5 << 20,
                modified_at: Timestamp(0),
            }],
            ..Facts::default()
        };
        let ask = |question: &str| reply(question, &facts, &quota()).concat();
        assert_eq!(
            ask("What are my LARGEST files?"),
            "Your largest files are:\n- film.mp4 (5.0 MiB, 1970-01-01)"
        );
        assert_eq!(
            ask("How full is my storage?"),
            "You use 1.5 KiB of 1.0 GiB of storage and 0 B of 1.0 TiB of this month's bandwidth."
        );
        assert_eq!(
            ask("how many?"),
            "You have 2 files in 1 folder; 0 favorites."
        );
        assert!(ask("sing").starts_with("I answer questions"));
        assert!(reply("sing", &facts, &quota()).len() > 3);
    }

    #[test]
    fn tokens_are_counted() {
        assert_eq!((tokens(""), tokens("abcd"), tokens("abcde")), (1, 1, 2));
    }
}
