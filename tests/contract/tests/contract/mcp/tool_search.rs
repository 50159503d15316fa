//! The search of clients that load tools as they are needed: they rank all tools by the words of a request, and
//! the right one is to be among the first.

use crate::mcp::sync::with_sync;
use crate::mcp::world::World;
use serde_json::{Value, json};
use std::collections::HashMap;

const REQUESTS: &str = include_str!("requests.txt");

/// The results that a client loads.
const FIRST: usize = 5;

/// Requests whose words say too little, and why.
const KNOWN_MISSES: &[(&str, &str)] = &[
    (
        "what is in my Projects folder",
        "`folder` is in many descriptions, the rest in none",
    ),
    (
        "make the folders 2026/clients/acme in one go",
        "names of folders only",
    ),
    (
        "open notes.txt and summarize it",
        "the name of a file looks like that of a path",
    ),
    (
        "download the report to ~/Downloads",
        "`report` is the word of report_user",
    ),
    (
        "download all photos of the album",
        "`photos` are files to every tool",
    ),
    ("which teams am I in", "eleven tools are about teams"),
    (
        "kick someone out of the team",
        "eleven tools are about teams",
    ),
    ("follow these fifteen people at once", "a number in words"),
    (
        "get a copy of the file on my disk",
        "`copy` is the word of copy_file",
    ),
];

/// Words that full-text searches of English leave out.
const STOP_WORDS: &str = "a an and are as at be by can did do does for from has have how i if in into is it \
                          its me my of on or that the this these those to was were what when where which who \
                          whom why will with you your";

/// The usual parameters of the ranking.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Returns the words of a text, as a full-text search of English stores them.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace("n't", "").replace("'s", "");
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && STOP_WORDS.split(' ').all(|stop| stop != *word))
        .map(stem)
        .collect()
}

/// Returns a word without its usual endings: `shares`, `shared` and `sharing` are one.
fn stem(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    for ending in ["ing", "ed", "es", "s", "e"] {
        let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() >= 3) else {
            continue;
        };
        let bytes = stem.as_bytes();
        let doubled = bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
        let is_verb = matches!(ending, "ing" | "ed");
        let end = stem.len() - usize::from(is_verb && doubled);
        return stem[..end].to_owned();
    }
    word.to_owned()
}

/// The tools, ranked by BM25 over name, description, and names and descriptions of parameters.
struct Ranking {
    tools: Vec<(String, Vec<String>)>,
    /// The number of tools in whose text a word is.
    frequency: HashMap<String, usize>,
    mean_length: f64,
}

impl Ranking {
    fn new(tools: &[Value]) -> Self {
        let tools: Vec<_> = tools.iter().map(name_and_words).collect();
        let mut frequency = HashMap::new();
        for (_, text) in &tools {
            let mut once = text.clone();
            once.sort();
            once.dedup();
            for word in once {
                *frequency.entry(word).or_default() += 1;
            }
        }
        let length: usize = tools.iter().map(|(_, text)| text.len()).sum();
        let mean_length = length as f64 / tools.len() as f64;
        Self {
            tools,
            frequency,
            mean_length,
        }
    }

    /// Returns the tools that have a word of the request, the most fitting first.
    fn find(&self, request: &str) -> Vec<&str> {
        let wanted = words(request);
        let mut found: Vec<(f64, &str)> = self
            .tools
            .iter()
            .map(|(name, text)| (self.score(&wanted, text), name.as_str()))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        // Stable: tools of one score stay in the order of the list.
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        found.into_iter().map(|(_, name)| name).collect()
    }

    fn score(&self, wanted: &[String], text: &[String]) -> f64 {
        let all = self.tools.len() as f64;
        let length = text.len() as f64 / self.mean_length;
        let of_word = |word: &String| {
            let times = text.iter().filter(|own| *own == word).count() as f64;
            let having = *self.frequency.get(word).unwrap_or(&0) as f64;
            let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            rarity * times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length))
        };
        wanted.iter().map(of_word).sum()
    }
}

/// Returns the name of a tool and the words by which it is found.
fn name_and_words(tool: &Value) -> (String, Vec<String>) {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let name = text(&tool["name"]);
    let mut indexed = format!("{name} {}", text(&tool["description"]));
    let properties = tool["inputSchema"]["properties"].as_object();
    for (param, schema) in properties.expect("properties") {
        indexed += &format!(" {param} {}", text(&schema["description"]));
    }
    let words = words(&indexed);
    (name, words)
}

#[tokio::test]
async fn the_tool_that_people_ask_for_is_among_the_first() {
    let world = World::start().await;
    let (mut session, _dir) = with_sync(&world).await;
    let list = session.request("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().expect("a list");
    let ranking = Ranking::new(tools);
    let requests: Vec<(&str, &str)> = REQUESTS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('\t').expect("tool, tab, request"))
        .collect();
    for tool in tools {
        let name = tool["name"].as_str().expect("a name");
        assert!(
            requests.iter().any(|(wanted, _)| *wanted == name),
            "no request asks for {name}"
        );
    }
    let mut missed = Vec::new();
    for (tool, request) in &requests {
        let found = ranking.find(request);
        let first = &found[..FIRST.min(found.len())];
        if !first.contains(tool) {
            missed.push(*request);
            let is_known = KNOWN_MISSES.iter().any(|(known, _)| known == request);
            assert!(is_known, "`{request}` finds {first:?} instead of {tool}");
        }
    }
    for (known, _) in KNOWN_MISSES {
        assert!(missed.contains(known), "`{known}` is found by now");
    }
    let share = 1.0 - missed.len() as f64 / requests.len() as f64;
    assert!(requests.len() >= 150 && share >= 0.95, "{share}");
}
