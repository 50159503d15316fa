//! Lists: pages, order, filters, search.

use super::world::World;
use cairn_wire::Page;
use cairn_wire::nodes::Node;
use serde_json::{Value, json};

fn names(page: &Page<Node>) -> Vec<&str> {
    page.content.iter().map(|node| node.name.as_str()).collect()
}

#[tokio::test]
async fn the_envelope_counts_and_pages_do_not_overlap() {
    let world = World::new();
    let owner = world.owner();
    for number in 0..25 {
        owner.folder(None, &format!("f{number:02}")).await;
    }
    let first: Value = owner.get("/api/v1/nodes").await.ok();
    assert_eq!(first["totalElements"], 25);
    assert_eq!(first["totalPages"], 2);
    assert_eq!(
        (first["page"].as_u64(), first["pageSize"].as_u64()),
        (Some(1), Some(20))
    );
    assert_eq!(first["content"].as_array().unwrap().len(), 20);
    let mut all = Vec::new();
    for page in 1..=4 {
        let page: Page<Node> = owner
            .get(&format!("/api/v1/nodes?page={page}&page_size=7"))
            .await
            .ok();
        assert_eq!((page.total_elements, page.total_pages), (25, 4));
        all.extend(page.content.into_iter().map(|node| node.name));
    }
    assert_eq!(all, (0..25).map(|n| format!("f{n:02}")).collect::<Vec<_>>());
    let beyond: Page<Node> = owner.get("/api/v1/nodes?page=99").await.ok();
    assert!(beyond.content.is_empty() && beyond.total_elements == 25);
    for bad in [
        "page=0",
        "page_size=0",
        "page_size=101",
        "page=-1",
        "sort_by=colour",
        "state=gone",
    ] {
        owner.get(&format!("/api/v1/nodes?{bad}")).await.failed(400);
    }
}

#[tokio::test]
async fn a_list_has_an_order_and_filters() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "d").await;
    owner.file(Some(folder.id), "b", "12").await;
    world.app.source().advance(10);
    owner.file(Some(folder.id), "a", "123").await;
    world.app.source().advance(10);
    owner.file(Some(folder.id), "c", "1").await;
    let list = async |query: &str| {
        owner
            .get(&format!("/api/v1/nodes?parent_id={}&{query}", folder.id))
            .await
            .ok::<Page<Node>>()
    };
    assert_eq!(names(&list("").await), ["a", "b", "c"]);
    assert_eq!(names(&list("sort_by=size").await), ["a", "b", "c"]);
    assert_eq!(names(&list("sort_by=date").await), ["c", "a", "b"]);
    assert_eq!(names(&list("name=b").await), ["b"]);
    let none = list("name=nope").await;
    assert!(none.content.is_empty() && none.total_elements == 0);
    let top: Page<Node> = owner.get("/api/v1/nodes").await.ok();
    assert_eq!(names(&top), ["d"]);
    owner
        .get(&format!(
            "/api/v1/nodes?parent_id={}",
            super::world::new_node()
        ))
        .await
        .failed(404);
}

#[tokio::test]
async fn search_finds_names_and_metadata_literally() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "Reports").await;
    let yearly = owner.file(Some(folder.id), "year_100%.txt", "x").await;
    owner.file(None, "yearX100.txt", "y").await;
    owner
        .put(
            &format!("/api/v1/nodes/{}", yearly.id),
            &json!({"tags": ["tax"]}),
        )
        .await
        .done(200);
    let search = async |query: &str| {
        owner
            .get(&format!("/api/v1/search/?query={query}"))
            .await
            .ok::<Page<Node>>()
    };
    assert_eq!(names(&search("report").await), ["Reports"]);
    assert_eq!(names(&search("year").await).len(), 2);
    assert_eq!(names(&search("r_1").await), ["year_100%.txt"]);
    assert_eq!(names(&search("0%25").await), ["year_100%.txt"]);
    assert_eq!(names(&search("tax").await), ["year_100%.txt"]);
    assert!(search("nothing").await.content.is_empty());
    owner
        .delete(&format!("/api/v1/nodes/{}", yearly.id))
        .await
        .done(200);
    assert!(
        search("tax").await.content.is_empty(),
        "the trash is not searched"
    );
    owner.get("/api/v1/search/").await.failed(400);
    owner
        .get("/api/v1/search/?query=a&page_size=500")
        .await
        .failed(400);
    assert_eq!(
        world
            .outsider()
            .get("/api/v1/search/?query=year")
            .await
            .ok::<Page<Node>>()
            .total_elements,
        0
    );
}
