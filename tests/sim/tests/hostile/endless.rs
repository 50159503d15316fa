//! A change feed that never ends: each page says that there are more.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The feed's pages as the honest server sent them.
type Pages = Arc<Mutex<Vec<Value>>>;

/// Lets the second device read two pages of the honest feed, and returns them.
async fn honest_pages(world: &World) -> Vec<Value> {
    let seen = Pages::default();
    let remember = Arc::clone(&seen);
    about_json(&world.devices[1], CHANGES, move |page| {
        if page["changes"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
        {
            remember.lock().expect("no panic").push(page.clone());
        }
    });
    for text in [b"v2", b"v3"] {
        world.devices[0].write("f", text);
        pass(world).await;
    }
    assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v3"));
    let pages = seen.lock().expect("no panic").clone();
    assert!(pages.len() >= 2, "{pages:?}");
    pages
}

/// Replies to each request for the feed with the next of these pages, for ever. Returns the number of requests.
fn serve_in_a_circle(device: &Device, pages: Vec<Value>) -> Arc<AtomicUsize> {
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    about_json(device, CHANGES, move |page| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        *page = pages[number % pages.len()].clone();
        page["has_more"] = json!(true);
    });
    requests
}

async fn check_that_it_ends(lie: impl Fn(&mut Vec<Value>)) {
    let world = world().await;
    let mut pages = honest_pages(&world).await;
    lie(&mut pages);
    let victim = &world.devices[1];
    let requests = serve_in_a_circle(victim, pages);
    pass(&world).await;
    let status = victim.engine().expect("it runs").status();
    let message = status.message.unwrap_or_default();
    assert!(message.contains("does not move on"), "{message}");
    // In ten minutes, with pauses of up to 30 s.
    let asked = requests.load(Ordering::Relaxed);
    assert!((10..100).contains(&asked), "{asked} requests");

    victim.line.lie(None);
    world.devices[0].write("f", b"v4");
    pass(&world).await;
    assert_eq!(content(victim, "f").as_deref(), Some("v4"));
    assert_eq!(problems(victim), []);
}

#[test]
fn a_feed_that_leads_in_a_circle_is_reported_and_left_alone() {
    simulate(check_that_it_ends(|pages| {
        let last = pages.len() - 2;
        pages.drain(..last);
    }));
}

#[test]
fn a_feed_of_empty_pages_is_reported_and_left_alone() {
    simulate(check_that_it_ends(|pages| {
        for page in pages {
            page["changes"] = json!([]);
        }
    }));
}
