//! Token buckets per endpoint and token.

use crate::options::RateLimits;
use axum::http::Method;
use cairn_store::Source;
use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter as Governor};
use sha2::{Digest as _, Sha256};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Buckets kept before the full ones among them are forgotten.
const MANY_BUCKETS: usize = 100_000;

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

/// First half of the SHA-256 over the era, method, route and token.
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
    fn of(method: &Method, route: &str, has_token: bool) -> Self {
        if !has_token {
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
        }
    }

    /// Begins with full buckets; the old ones would be out of reach once the clock has been put back.
    pub(crate) fn clear(&self) {
        self.era.fetch_add(1, Ordering::SeqCst);
    }

    /// Takes one request from its bucket.
    pub(super) fn check(&self, method: &Method, route: &str, token: Option<&str>) -> Admission {
        let class = Class::of(method, route, token.is_some());
        let buckets = match class {
            Class::Read => &self.read,
            Class::Write => &self.write,
            Class::Content => &self.content,
            Class::Open => &self.open,
        };
        if buckets.len() > MANY_BUCKETS {
            buckets.retain_recent();
        }
        let hash = Sha256::new()
            .chain_update(self.era.load(Ordering::SeqCst).to_le_bytes())
            .chain_update(method.as_str())
            .chain_update([0])
            .chain_update(route)
            .chain_update([0])
            .chain_update(token.unwrap_or_default())
            .finalize();
        let mut key = [0; 16];
        key.copy_from_slice(&hash[..16]);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_store::Clock;

    #[test]
    fn each_endpoint_and_token_has_its_own_bucket_and_time_fills_it() {
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
        let limiter = RateLimiter::new(&limits, source.clone());
        let post = |route: &str, token: &str| limiter.check(&Method::POST, route, Some(token));
        assert_eq!(
            (post("/a", "x").remaining, post("/a", "x").remaining),
            (1, 0)
        );
        let refused = post("/a", "x");
        assert_eq!((refused.wait, refused.per_minute), (Some(30), 2));
        assert_eq!(post("/b", "x").wait, None);
        assert_eq!(post("/a", "y").wait, None);
        source.advance(29_000);
        assert_eq!(post("/a", "x").wait, Some(1));
        source.advance(1_000);
        assert_eq!(post("/a", "x").wait, None);
    }
}
