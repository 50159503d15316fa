//! Token buckets per endpoint and account, or network where no valid token says who asks.
//!
//! The text of a token makes no bucket, nor does that of a method that nobody knows: whoever invents a
//! new one for each request would else have a full bucket each time, and the server one more to
//! remember. A visitor with a whole range of IPv6 networks meets a second bucket, that of the range.
//!
//! Servers that share a database have their buckets in it.

mod allotment;
#[cfg(test)]
mod tests;

use self::allotment::{Allotments, Next};
use crate::options::RateLimits;
use axum::http::Method;
use cairn_model::AccountId;
use cairn_store::{Source, Store, Taken};
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

/// Buckets of a kind that are kept before the full ones among them are forgotten.
const SWEEP_THRESHOLD: usize = 100_000;
/// Buckets of a kind at most: beyond it, networks that come new share [`SHARED`] ones.
const MAX_BUCKETS: usize = 1 << 18;
/// Bytes of the key of a bucket that networks share: 65,536 buckets.
const SHARED: usize = 2;
/// The least time between two sweeps, in milliseconds.
const SWEEP_MS: i64 = 1_000;
/// The limit of a range of 65,536 IPv6 networks (a /48) as a multiple of that of one network: a provider may give one
/// network to each of its customers, or a whole range to one.
const PER_RANGE: u32 = 16;
/// The endpoints that monitoring and load balancers ask without a token. They have the default limit at least, so that
/// nobody takes a low one for a server that is down.
const WATCHED: [&str; 2] = ["/api/v1/health", "/api/v1/ready"];

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

    /// Returns the first 48 bits of an IPv6 network; an IPv4 address belongs to no range.
    fn range(self) -> Option<Self> {
        let Self([a, b, c, d, e, f, ..]) = self;
        let is_ipv4 = [a, b, c, d] == [0, 0, 0xff, 0xff];
        (!is_ipv4 && self != Self::UNKNOWN).then_some(Self([a, b, c, d, e, f, 0, 0]))
    }
}

/// The account or network that a request is counted for.
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

/// First half of the SHA-256 over salt, generation, method, route and requester.
type Key = [u8; 16];

/// Buckets of one size.
struct Buckets {
    governor: Governor<Key, DashMapStateStore<Key>, ServerClock, StateInformationMiddleware>,
    per_minute: NonZeroU32,
    clock: ServerClock,
    swept_at: AtomicI64,
    /// Requests that this server has taken in advance from buckets that servers share.
    allotments: Allotments,
}

impl Buckets {
    fn new(per_minute: u32, clock: &ServerClock) -> Self {
        let per_minute = NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_minute(per_minute);
        Self {
            governor: Governor::new(quota, DashMapStateStore::default(), clock.clone()),
            per_minute,
            clock: clock.clone(),
            swept_at: AtomicI64::new(0),
            allotments: Allotments::default(),
        }
    }

    /// Takes one request from a bucket of all servers on the database.
    fn take_shared(&self, store: &Store, key: &Key, class: Class) -> Admission {
        let per_minute = self.per_minute.get();
        let now = self.clock.0.now_ms();
        let admission = |remaining, wait| Admission {
            class,
            per_minute,
            remaining,
            wait,
        };
        let mut count = match self.allotments.next(key, now) {
            Next::Admitted { remaining } => return admission(remaining, None),
            Next::Take(count) => count,
        };
        let mut taken = store.take_requests(key, per_minute, count);
        if count > 1 && matches!(taken, Ok(Taken::No { .. })) {
            // Other servers have taken what seemed to be left.
            count = 1;
            taken = store.take_requests(key, per_minute, count);
        }
        match taken {
            Ok(Taken::Yes { remaining }) => {
                admission(self.allotments.note(*key, now, count, remaining), None)
            }
            Ok(Taken::No { wait_ms }) => admission(0, Some(wait_ms.div_ceil(1000).max(1))),
            // The request itself will say that the database can't be reached.
            Err(error) => {
                tracing::warn!(%error, "a request is not counted");
                admission(0, None)
            }
        }
    }

    /// Takes one request from a bucket. If there are too many buckets, networks share some.
    fn take(&self, store: &Store, mut key: Key, class: Class) -> Admission {
        if store.is_shared() {
            return self.take_shared(store, &key, class);
        }
        self.sweep();
        if class == Class::Open && self.governor.len() >= MAX_BUCKETS {
            key[SHARED..].fill(0);
        }
        match self.governor.check_key(&key) {
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

    /// Forgets full buckets if there are many.
    fn sweep(&self) {
        let now = self.clock.0.now_ms();
        let due = now - self.swept_at.load(Ordering::Relaxed) >= SWEEP_MS;
        if due && self.governor.len() > SWEEP_THRESHOLD {
            self.swept_at.store(now, Ordering::Relaxed);
            self.governor.retain_recent();
        }
    }
}

/// Buckets of requests without a valid token.
struct OpenBuckets {
    networks: Buckets,
    /// The buckets of ranges of networks.
    ranges: Buckets,
}

impl OpenBuckets {
    fn new(per_minute: u32, clock: &ServerClock) -> Self {
        Self {
            networks: Buckets::new(per_minute, clock),
            ranges: Buckets::new(per_minute.saturating_mul(PER_RANGE), clock),
        }
    }
}

impl Requester {
    /// Returns the account, if it is one.
    pub(super) fn account(self) -> Option<AccountId> {
        match self {
            Self::Account(account) => Some(account),
            Self::Network(_) => None,
        }
    }
}

/// Returns the name of a method for its bucket and for metrics: all that nobody knows are one.
pub(super) fn method_name(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        "PATCH" => "PATCH",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

/// Kinds of endpoints; each has its own figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Read,
    Write,
    Content,
    /// Signed logs of spaces.
    Logs,
    /// Without a valid token.
    Open,
}

impl Class {
    fn of(method: &Method, route: &str, requester: Requester) -> Self {
        if matches!(requester, Requester::Network(_)) {
            Self::Open
        } else if route.contains("/spaces/") && !route.contains("/objects/") {
            Self::Logs
        } else if route.contains("/chunks/")
            || route.contains("/objects/")
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
            Self::Logs => "logs",
            Self::Open => "open",
        }
    }
}

/// All buckets of the server.
pub(crate) struct RateLimiter {
    read: Buckets,
    write: Buckets,
    content: Buckets,
    logs: Buckets,
    open: OpenBuckets,
    /// The buckets of [`WATCHED`].
    watched: OpenBuckets,
    /// Buckets of an earlier one are never found again.
    generation: AtomicU64,
    /// Keeps clients from choosing with whom they share a bucket.
    salt: [u8; 16],
}

/// The decision on one request.
pub(super) struct Admission {
    pub(super) class: Class,
    pub(super) per_minute: u32,
    pub(super) remaining: u32,
    /// Seconds until the next request is let through, if this one is not.
    pub(super) wait: Option<u64>,
}

impl RateLimiter {
    /// Makes full buckets. `salt` is the same for all servers that share them.
    pub(crate) fn new(limits: &RateLimits, source: Arc<Source>, salt: [u8; 16]) -> Self {
        let clock = ServerClock(source);
        Self {
            read: Buckets::new(limits.read, &clock),
            write: Buckets::new(limits.write, &clock),
            content: Buckets::new(limits.content, &clock),
            logs: Buckets::new(limits.logs, &clock),
            open: OpenBuckets::new(limits.open, &clock),
            watched: OpenBuckets::new(limits.open.max(RateLimits::default().open), &clock),
            generation: AtomicU64::new(0),
            salt,
        }
    }

    /// Begins with full buckets; the old ones would be out of reach once the clock has been put back.
    pub(crate) fn clear(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// Takes one request from its bucket.
    pub(super) fn check(
        &self,
        store: &Store,
        method: &Method,
        route: &str,
        requester: Requester,
    ) -> Admission {
        let class = Class::of(method, route, requester);
        let open = if WATCHED.contains(&route) {
            &self.watched
        } else {
            &self.open
        };
        // First, so that the networks of a range that has to wait make no buckets.
        if let Requester::Network(network) = requester
            && let Some(range) = network.range()
        {
            let key = self.key(method, route, Requester::Network(range));
            let admission = open.ranges.take(store, key, class);
            if admission.wait.is_some() {
                return admission;
            }
        }
        let buckets = match class {
            Class::Read => &self.read,
            Class::Write => &self.write,
            Class::Content => &self.content,
            Class::Logs => &self.logs,
            Class::Open => &open.networks,
        };
        buckets.take(store, self.key(method, route, requester), class)
    }

    fn key(&self, method: &Method, route: &str, requester: Requester) -> Key {
        let hash = Sha256::new()
            .chain_update(self.salt)
            .chain_update(self.generation.load(Ordering::SeqCst).to_le_bytes())
            // A HEAD does what a GET does.
            .chain_update(match method_name(method) {
                "HEAD" => "GET",
                name => name,
            })
            .chain_update([0])
            .chain_update(route)
            .chain_update([0])
            .chain_update(match &requester {
                Requester::Account(account) => account.as_bytes().as_slice(),
                Requester::Network(network) => network.0.as_slice(),
            })
            .finalize();
        let mut key = [0; 16];
        key.copy_from_slice(&hash[..16]);
        key
    }
}
