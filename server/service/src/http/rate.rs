//! Token buckets per endpoint and account, or network where no valid token says who asks.
//!
//! The text of a token makes no bucket: whoever invents a new one for each request would else have a
//! full bucket each time, and the server one more to remember.

use crate::options::RateLimits;
use axum::http::Method;
use cairn_model::AccountId;
use cairn_store::Source;
use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter as Governor};
use sha2::{Digest as _, Sha256};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Buckets of accounts that are kept before the full ones among them are forgotten.
const MANY_BUCKETS: usize = 100_000;
/// The least time between two looks for full ones.
const SWEEP_MS: i64 = 1_000;

/// An IPv4 address, or the first half of an IPv6 address, because one subscriber has all of the other
/// half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Network([u8; 8]);

impl Network {
    pub(super) const UNKNOWN: Self = Self([0; 8]);

    pub(super) fn of(ip: IpAddr) -> Self {
        let mut network = [0; 8];
        match ip.to_canonical() {
            // As it stands at the end of an IPv6 address.
            IpAddr::V4(ip) => {
                network[2..4].fill(0xff);
                network[4..].copy_from_slice(&ip.octets());
            }
            IpAddr::V6(ip) => network.copy_from_slice(&ip.octets()[..8]),
        }
        Self(network)
    }
}

/// Whoever a request is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requester {
    Account(AccountId),
    Network(Network),
}

/// The server's own time, as governor wants it.
#[derive(Clone)]
struct ServerClock(Arc<Source>);

impl Clock for ServerClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::from(
            u64::try_from(self.0.now_ms())
                .unwrap_or(0)
                .saturating_mul(1_000_000),
        )
    }
}

/// First half of the SHA-256 over salt, era, method, route and requester.
type Key = [u8; 16];
type Buckets = Governor<Key, DashMapStateStore<Key>, ServerClock, StateInformationMiddleware>;

/// Kinds of endpoints; each has its own figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Read,
    Write,
    Content,
    Open,
}

impl Class {
    fn of(method: &Method, route: &str, requester: Requester) -> Self {
        if matches!(requester, Requester::Network(_)) {
            Self::Open
        } else if route.contains("/chunks/")
            || route.ends_with("/batch")
            || route.ends_with("/manifest")
        {
            Self::Content
        } else if *method == Method::GET || *method == Method::HEAD {
            Self::Read
        } else {
            Self::Write
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Content => "content",
            Self::Open => "open",
        }
    }
}

/// All buckets of the server.
pub(crate) struct RateLimiter {
    read: Buckets,
    write: Buckets,
    content: Buckets,
    open: Buckets,
    clock: ServerClock,
    /// Buckets of an earlier one are never found again.
    era: AtomicU64,
    /// Keeps strangers from choosing with whom they share a bucket.
    salt: [u8; 16],
    swept_at: AtomicI64,
}

/// Holds what a request found in its bucket.
pub(super) struct Admission {
    pub(super) class: Class,
    pub(super) per_minute: u32,
    pub(super) remaining: u32,
    /// Seconds until the next request is let through, if this one is not.
    pub(super) wait: Option<u64>,
}

impl RateLimiter {
    pub(crate) fn new(limits: &RateLimits, source: Arc<Source>) -> Self {
        let salt = source.bytes();
        let clock = ServerClock(source);
        let buckets = |per_minute: u32| {
            let quota = Quota::per_minute(NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN));
            Buckets::new(quota, DashMapStateStore::default(), clock.clone())
        };
        Self {
            read: buckets(limits.read),
            write: buckets(limits.write),
            content: buckets(limits.content),
            open: buckets(limits.open),
            clock,
            era: AtomicU64::new(0),
            salt,
            swept_at: AtomicI64::new(0),
        }
    }

    /// Begins with full buckets; the old ones would be out of reach once the clock has been put back.
    pub(crate) fn clear(&self) {
        self.era.fetch_add(1, Ordering::SeqCst);
    }

    /// Takes one request from its bucket.
    pub(super) fn check(&self, method: &Method, route: &str, requester: Requester) -> Admission {
        let class = Class::of(method, route, requester);
        let buckets = match class {
            Class::Read => &self.read,
            Class::Write => &self.write,
            Class::Content => &self.content,
            Class::Open => &self.open,
        };
        self.sweep(buckets);
        let key = self.key(method, route, requester);
        match buckets.check_key(&key) {
            Ok(state) => Admission {
                class,
                per_minute: state.quota().burst_size().get(),
                remaining: state.remaining_burst_capacity(),
                wait: None,
            },
            Err(until) => Admission {
                class,
                per_minute: until.quota().burst_size().get(),
                remaining: 0,
                wait: Some(
                    until
                        .wait_time_from(self.clock.now())
                        .as_millis()
                        .div_ceil(1000)
                        .max(1) as u64,
                ),
            },
        }
    }

    fn key(&self, method: &Method, route: &str, requester: Requester) -> Key {
        let hash = Sha256::new()
            .chain_update(self.salt)
            .chain_update(self.era.load(Ordering::SeqCst).to_le_bytes())
            .chain_update(method.as_str())
            .chain_update([0])
            .chain_update(route)
            .chain_update([0])
            .chain_update(match &requester {
                Requester::Account(account) => account.as_bytes().as_slice(),
                Requester::Network(network) => network.0.as_slice(),
            })
            .finalize();
        let mut key = [0; 16];
        match requester {
            Requester::Account(_) => key.copy_from_slice(&hash[..16]),
            // Anybody can have many networks: they share 65,536 buckets.
            Requester::Network(_) => key[..2].copy_from_slice(&hash[..2]),
        }
        key
    }

    /// Forgets full buckets if there are many.
    fn sweep(&self, buckets: &Buckets) {
        let now = self.clock.0.now_ms();
        let due = now - self.swept_at.load(Ordering::Relaxed) >= SWEEP_MS;
        if due && buckets.len() > MANY_BUCKETS {
            self.swept_at.store(now, Ordering::Relaxed);
            buckets.retain_recent();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_store::Clock;

    fn account(byte: u8) -> Requester {
        Requester::Account(AccountId::from_random_bytes([byte; 16]))
    }

    fn limiter() -> (Arc<Source>, RateLimiter) {
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
            open: 60,
        };
        (source.clone(), RateLimiter::new(&limits, source))
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
    fn networks_have_a_bounded_number_of_buckets() {
        let (_, limiter) = limiter();
        for i in 0..200_000_u64 {
            let network = Requester::Network(Network(i.to_le_bytes()));
            limiter.check(&Method::GET, "/a", network);
        }
        assert!(limiter.open.len() <= 1 << 16);
        assert!(limiter.read.is_empty());
    }

    #[test]
    fn a_subscriber_is_one_network() {
        let of = |text: &str| Network::of(text.parse().unwrap());
        assert_eq!(of("203.0.113.77"), of("::ffff:203.0.113.77"));
        assert_ne!(of("203.0.113.77"), of("203.0.113.78"));
        assert_eq!(of("2001:db8:1:2::3"), of("2001:db8:1:2:ffff::4"));
        assert_ne!(of("2001:db8:1:2::3"), of("2001:db8:1:3::3"));
    }
}
