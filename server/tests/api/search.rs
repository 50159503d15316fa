//! The three ways of searching, and their filters.

use super::world::World;
use cairn_wire::Page;
use cairn_wire::nodes::Node;
use serde_json::json;

fn names(page: &Page<Node>) -> Vec<&str> {
    page.content.iter().map(|node| node.name.as_str()).collect()
}

#[tokio::test]
async fn words_are_found_in_everything_that_is_written_about_a_node() {
    let world = World::new();
    let owner = world.owner();
    let invoice = owner.file(None, "Rechnung-März.pdf", "x").await;
    let note = owner.file(None, "note.txt", "y").await;
    let search = async |query: &str| {
        owner
            .get(&format!("/api/v1/search/?mode=content&query={query}"))
            .await
            .ok::<Page<Node>>()
    };
    assert_eq!(names(&search("marz").await), ["Rechnung-März.pdf"]);
    assert_eq!(names(&search("rech").await), ["Rechnung-März.pdf"]);
    assert!(
        search("chnung").await.content.is_empty(),
        "words, not parts of them"
    );
    owner
        .put(
            &format!("/api/v1/nodes/{}", note.id),
            &json!({"description": "about the landlord", "labels": {"project": "kitchen"}, "tags": ["urgent"]}),
        )
        .await
        .done(200);
    for word in [
        "landlord",
        "kitchen",
        "urgent",
        "about%20kitchen",
        "project",
    ] {
        assert_eq!(names(&search(word).await), ["note.txt"], "{word}");
    }
    let comments = format!("/api/v1/nodes/{}/comments", invoice.id);
    let comment: serde_json::Value = owner
        .post(&comments, &json!({"text": "paid the landlord"}))
        .await
        .ok();
    assert_eq!(search("landlord").await.total_elements, 2);
    owner
        .delete(&format!(
            "/api/v1/comments/{}",
            comment["id"].as_str().unwrap()
        ))
        .await
        .done(204);
    assert_eq!(names(&search("landlord").await), ["note.txt"]);
    owner
        .delete(&format!("/api/v1/nodes/{}", note.id))
        .await
        .done(200);
    assert!(search("landlord").await.content.is_empty());
    owner
        .post(&format!("/api/v1/trash/{}/restore", note.id), &json!({}))
        .await
        .done(200);
    assert_eq!(names(&search("landlord").await), ["note.txt"]);
    owner
        .delete(&format!("/api/v1/nodes/{}", note.id))
        .await
        .done(200);
    owner.delete("/api/v1/trash").await.done(200);
    assert!(search("landlord").await.content.is_empty());
    assert!(
        search("%22%20OR%20%22").await.content.is_empty(),
        "no text is a query language"
    );
    let other = world
        .outsider()
        .get("/api/v1/search/?mode=content&query=marz")
        .await;
    assert_eq!(other.ok::<Page<Node>>().total_elements, 0);
}

#[tokio::test]
async fn a_name_counts_more_than_a_comment() {
    let world = World::new();
    let owner = world.owner();
    let mentioned = owner.file(None, "a.txt", "x").await;
    owner
        .post(
            &format!("/api/v1/nodes/{}/comments", mentioned.id),
            &json!({"text": "see budget"}),
        )
        .await
        .done(201);
    owner.file(None, "budget.xlsx", "y").await;
    let found: Page<Node> = owner
        .get("/api/v1/search/?mode=content&query=budget")
        .await
        .ok();
    assert_eq!(names(&found), ["budget.xlsx", "a.txt"]);
}

#[tokio::test]
async fn filters_narrow_and_pages_follow_them() {
    let world = World::new();
    let owner = world.owner();
    owner.folder(None, "trip").await;
    owner.file(None, "trip.jpg", "1").await;
    owner.file(None, "trip.pdf", "2").await;
    world.app.source().advance(86_400_000);
    owner.file(None, "trip2.JPG", "3").await;
    let search = async |rest: &str| {
        owner
            .get(&format!("/api/v1/search/?mode=filtered&query=trip{rest}"))
            .await
            .ok::<Page<Node>>()
    };
    assert_eq!(search("").await.total_elements, 4);
    assert_eq!(
        names(&search("&category=image").await),
        ["trip.jpg", "trip2.JPG"]
    );
    assert_eq!(names(&search("&category=folder").await), ["trip"]);
    assert_eq!(names(&search("&ext=.pdf").await), ["trip.pdf"]);
    assert_eq!(names(&search("&date_from=2026-01-02").await), ["trip2.JPG"]);
    assert_eq!(search("&date_to=2026-01-01").await.total_elements, 3);
    assert_eq!(
        names(&search("&ext=jpg&date_to=2026-01-01T12:00:00Z&include_teams=true").await),
        ["trip.jpg"]
    );
    let second = search("&category=image&page=2&page_size=1").await;
    assert_eq!(
        (names(&second), second.total_elements),
        (vec!["trip2.JPG"], 2)
    );
    for bad in ["&category=thing", "&date_from=soon", "&mode=deep"] {
        owner
            .get(&format!("/api/v1/search/?query=trip{bad}"))
            .await
            .failed(400);
    }
    owner.get("/api/v1/search/?query=a").await.failed(400);
    // SQLite ends a pattern at such a byte, and what is left of it finds everything.
    owner.get("/api/v1/search/?query=%00%00").await.failed(400);
}

#[tokio::test]
async fn words_are_found_in_any_order_and_place() {
    let world = World::new();
    let owner = world.owner();
    let node = owner.file(None, "Budget 2026.xlsx", "x").await;
    owner.file(None, "Budget 2025.xlsx", "x").await;
    let about = json!({"description": "for the board"});
    owner
        .put(&format!("/api/v1/nodes/{}", node.id), &about)
        .await
        .done(200);
    for query in [
        "2026%20budget",
        "budget%202026",
        "board%20026",
        "xlsx%20for%20%202026",
    ] {
        let found: Page<Node> = owner
            .get(&format!("/api/v1/search?query={query}"))
            .await
            .ok();
        assert_eq!(found.total_elements, 1, "{query}");
        assert_eq!(found.content[0].id, node.id);
    }
    let none: Page<Node> = owner
        .get("/api/v1/search?query=2026%20board%20x_y")
        .await
        .ok();
    assert_eq!(none.total_elements, 0);
}

#[tokio::test]
async fn letters_are_found_in_either_case_and_however_they_are_composed() {
    let world = World::new();
    let owner = world.owner();
    owner.file(None, "Übersicht.txt", "x").await;
    // As macOS writes it: the letter, then its accent.
    owner.file(None, "U\u{308}bergabe.txt", "x").await;
    owner.file(None, "STRASSE.txt", "x").await;
    owner.file(None, "ΛΌΓΟΣ.txt", "x").await;
    let tagged = owner.file(None, "a.txt", "x").await;
    let tags = json!({"tags": ["Ärger"], "description": "100 %_"});
    owner
        .put(&format!("/api/v1/nodes/{}", tagged.id), &tags)
        .await
        .done(200);
    let search = async |mode: &str, query: &str| {
        let found: Page<Node> = owner
            .get(&format!("/api/v1/search?mode={mode}&query={query}"))
            .await
            .ok();
        found.total_elements
    };
    for mode in ["quick", "content"] {
        // übersicht, ÜBERGABE, and both with an accent of its own.
        for query in [
            "%C3%BCbersicht",
            "u%CC%88bersicht",
            "%C3%9CBERGABE",
            "U%CC%88bergabe",
            "%C3%A4rger",
        ] {
            assert_eq!(search(mode, query).await, 1, "{mode}: {query}");
        }
    }
    assert_eq!(search("quick", "stra%C3%9Fe").await, 1);
    assert_eq!(search("quick", "%CE%BB%CF%8C%CE%B3%CE%BF%CF%82").await, 1);
    // No character stands for others.
    assert_eq!(search("quick", "%25_").await, 1);
    assert_eq!(search("quick", "a_txt").await, 0);
}
