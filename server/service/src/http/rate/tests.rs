//! Buckets of accounts, networks and methods.

use super::*;
use cairn_store::Clock;

fn account(byte: u8) -> Requester {
    Requester::Account(AccountId::from_random_bytes([byte; 16]))
}

/// A limiter whose buckets are in memory.
struct Limiter {
    store: Store,
    limiter: RateLimiter,
}

impl Limiter {
    fn check(&self, method: &Method, route: &str, requester: Requester) -> Admission {
        self.limiter.check(&self.store, method, route, requester)
    }
}

impl std::ops::Deref for Limiter {
    type Target = RateLimiter;

    fn deref(&self) -> &RateLimiter {
        &self.limiter
    }
}

fn limiter() -> (Arc<Source>, Limiter) {
    let source = Arc::new(Source::new(
        Clock::Virtual {
            start_ms: 1_000_000,
        },
        Some(1),
    ));
    let limits = RateLimits {
        read: 60,
        write: 2,
        content: 60,
        logs: 1,
        open: 60,
    };
    let limiter = Limiter {
        store: Store::open(None, source.clone()).unwrap(),
        limiter: RateLimiter::new(&limits, source.clone(), [1; 16]),
    };
    (source, limiter)
}

#[test]
fn each_endpoint_and_account_has_its_own_bucket_and_time_fills_it() {
    let (source, limiter) = limiter();
    let post = |route: &str, by: u8| limiter.check(&Method::POST, route, account(by));
    assert_eq!((post("/a", 1).remaining, post("/a", 1).remaining), (1, 0));
    let refused = post("/a", 1);
    assert_eq!((refused.wait, refused.per_minute), (Some(30), 2));
    assert_eq!(post("/b", 1).wait, None);
    assert_eq!(post("/a", 2).wait, None);
    source.advance(29_000);
    assert_eq!(post("/a", 1).wait, Some(1));
    source.advance(1_000);
    assert_eq!(post("/a", 1).wait, None);
}

#[test]
fn a_look_at_the_headers_is_counted_like_the_reading() {
    let (_, limiter) = limiter();
    for left in (0..60).rev() {
        let method = if left % 2 == 0 {
            Method::GET
        } else {
            Method::HEAD
        };
        assert_eq!(limiter.check(&method, "/a", account(1)).remaining, left);
    }
    for method in [Method::GET, Method::HEAD] {
        assert!(
            limiter.check(&method, "/a", account(1)).wait.is_some(),
            "{method}"
        );
    }
}

#[test]
fn signed_logs_have_a_figure_of_their_own() {
    let (_, limiter) = limiter();
    let spaces = "/api/v1/spaces/{id}";
    let of = |method: &Method, rest: &str| {
        limiter
            .check(method, &format!("{spaces}/{rest}"), account(1))
            .per_minute
    };
    for rest in ["log", "proof", "snapshot"] {
        assert_eq!(of(&Method::GET, rest), 1, "{rest}");
    }
    assert_eq!(of(&Method::POST, "commits"), 1);
    assert_eq!(of(&Method::PUT, "objects/{object}"), 60);
}

/// An IPv4 address.
fn network(number: u32) -> Requester {
    Requester::Network(Network::of(std::net::Ipv4Addr::from(number).into()))
}

#[test]
fn networks_have_a_bounded_number_of_buckets() {
    let (_, limiter) = limiter();
    for number in 0..(MAX_BUCKETS as u32 + 100_000) {
        limiter.check(&Method::GET, "/a", network(number));
    }
    assert!(limiter.open.networks.governor.len() <= MAX_BUCKETS + (1 << (8 * SHARED)));
    assert!(limiter.read.governor.is_empty());
}

#[test]
fn nobody_shares_a_bucket_with_a_hundred_thousand_others() {
    let (_, limiter) = limiter();
    for number in 0..100_000 {
        limiter.check(&Method::GET, "/a", network(number));
    }
    let last = limiter.check(&Method::GET, "/a", network(100_000));
    assert_eq!(last.remaining, 59);
}

#[test]
fn a_range_of_networks_has_a_bucket_of_its_own() {
    let (_, limiter) = limiter();
    let from = |second: u16, third: u16| {
        let ip = std::net::Ipv6Addr::new(0x2001, 0xdb8, second, third, 0, 0, 0, 1);
        let network = Requester::Network(Network::of(ip.into()));
        limiter.check(&Method::GET, "/a", network).wait
    };
    assert!((0..60 * PER_RANGE).all(|n| from(1, u16::try_from(n).unwrap()).is_none()));
    assert!(
        from(1, 60_000).is_some(),
        "a network that asks for the first time"
    );
    assert!(from(2, 1).is_none(), "another range");
}

#[test]
fn a_low_limit_without_a_token_is_not_that_of_what_watches_the_server() {
    let (_, limiter) = limiter();
    let from = |route: &str, by: Requester| limiter.check(&Method::GET, route, by).per_minute;
    for route in ["/api/v1/health", "/api/v1/ready"] {
        assert_eq!(from(route, network(1)), 6_000, "{route}");
        assert_eq!(from(route, account(1)), 60, "{route}");
    }
    assert_eq!(from("/api/v1/keys", network(1)), 60);
}

#[test]
fn invented_methods_are_counted_together() {
    let (_, limiter) = limiter();
    let wait = |n: u32| {
        let method = Method::from_bytes(format!("M{n}").as_bytes()).unwrap();
        limiter.check(&method, "/a", network(1)).wait
    };
    assert!((0..60).all(|n| wait(n).is_none()));
    assert!(wait(60).is_some());
}

#[test]
fn a_subscriber_is_one_network() {
    let of = |text: &str| Network::of(text.parse().unwrap());
    assert_eq!(of("203.0.113.77"), of("::ffff:203.0.113.77"));
    assert_ne!(of("203.0.113.77"), of("203.0.113.78"));
    assert_eq!(of("2001:db8:1:2::3"), of("2001:db8:1:2:ffff::4"));
    assert_ne!(of("2001:db8:1:2::3"), of("2001:db8:1:3::3"));
}
