//! The console: a page of this program, on development servers alone.

use super::world::World;
use cairn_server::{Options, build, build_dev};

#[tokio::test]
async fn the_console_loads_nothing_but_its_own_parts() {
    let world = World::new();
    let nobody = world.nobody();
    let page = nobody.get("/console").await;
    page.done(200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert!(
        page.header("content-security-policy")
            .starts_with("default-src 'none'")
    );
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    let mut parts = 0;
    for (_, rest) in html
        .match_indices("/console/")
        .map(|(at, _)| html.split_at(at))
    {
        let path = rest.split('"').next().unwrap();
        nobody.get(path).await.done(200);
        parts += 1;
    }
    assert_eq!(parts, 3);
    nobody.get("/console/").await.done(200);
    nobody.get("/console/api.js").await.done(200);
    nobody.get("/console/other.js").await.failed(404);
    assert!(!html.contains("http://") && !html.contains("<script>"));
}

#[tokio::test]
async fn other_servers_have_no_console() {
    let app = build(Options {
        ..Options::ephemeral()
    });
    let world = World::around(app.unwrap());
    world.nobody().get("/console").await.failed(404);
    world.nobody().get("/_dev/clock").await.failed(404);
}

#[tokio::test]
async fn a_page_whose_name_leads_to_this_machine_reaches_nothing_of_a_development_server() {
    let world = World::around(build_dev(Options::ephemeral()).unwrap());
    let owner = world.owner();
    // The callers of these tests name another host, but for `/_dev`.
    for path in ["/api/v1/nodes", "/api/v1/health", "/oauth/jwks", "/s/code"] {
        let message = owner.get(path).await.failed(403);
        assert!(message.contains("cairn.test"), "{path}: {message}");
    }
    owner.get("/_dev/clock").await.done(200);
    let options = Options {
        public_url: Some("https://cairn.test:8443".into()),
        ..Options::ephemeral()
    };
    let world = World::around(build_dev(options).unwrap());
    world.owner().get("/api/v1/nodes").await.done(200);
}
