//! Metrics of the running server, for Prometheus.
//!
//! The values of labels come from fixed lists: requests are counted by the route that they matched, never
//! by their path, so that nobody who asks can add a series.

use crate::background::Task;
use crate::error::{Error, Result};
use axum::http::{Method, StatusCode};
use cairn_store::{ServerStats, Store};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use std::time::Duration;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    /// `2xx` and so on.
    status: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteLabels {
    method: &'static str,
    route: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct TaskLabel {
    task: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct VersionLabel {
    version: &'static str,
}

/// From a millisecond to eight seconds.
fn durations() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 14))
}

/// All metrics of a server.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram, fn() -> Histogram>,
    pub(crate) received: Counter,
    pub(crate) sent: Counter,
    /// Chunks that came in and were stored.
    pub(crate) chunks: Counter,
    subscribers: Gauge,
    accounts: Family<StateLabel, Gauge>,
    deliveries: Family<StateLabel, Gauge>,
    stored: Gauge,
    files: Gauge,
    uploads: Gauge,
    damaged: Gauge,
    database: Gauge,
    last_run: Family<TaskLabel, Gauge>,
    last_success: Family<TaskLabel, Gauge>,
    failures: Family<TaskLabel, Counter>,
    removed: Family<TaskLabel, Counter>,
}

/// Counts one open stream of changes until it is dropped.
pub(crate) struct Subscriber(Gauge);

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Returns the class of a status, such as `2xx`.
fn class(status: StatusCode) -> &'static str {
    match status.as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("cairn"),
            requests: Family::default(),
            durations: Family::new_with_constructor(durations),
            received: Counter::default(),
            sent: Counter::default(),
            chunks: Counter::default(),
            subscribers: Gauge::default(),
            accounts: Family::default(),
            deliveries: Family::default(),
            stored: Gauge::default(),
            files: Gauge::default(),
            uploads: Gauge::default(),
            damaged: Gauge::default(),
            database: Gauge::default(),
            last_run: Family::default(),
            last_success: Family::default(),
            failures: Family::default(),
            removed: Family::default(),
        };
        metrics.register_requests();
        metrics.register_sums();
        metrics.register_tasks();
        metrics
    }
}

impl Metrics {
    fn register_requests(&mut self) {
        let registry = &mut self.registry;
        let build = Family::<VersionLabel, Gauge>::default();
        let version = VersionLabel {
            version: env!("CARGO_PKG_VERSION"),
        };
        build.get_or_create(&version).set(1);
        registry.register("build_info", "The version of the server", build);
        registry.register(
            "http_requests",
            "Requests that were answered",
            self.requests.clone(),
        );
        registry.register_with_unit(
            "http_request_duration",
            "Time until the head of the response",
            Unit::Seconds,
            self.durations.clone(),
        );
        registry.register_with_unit(
            "http_received",
            "Bytes in bodies of requests",
            Unit::Bytes,
            self.received.clone(),
        );
        registry.register_with_unit(
            "http_sent",
            "Bytes in bodies of responses",
            Unit::Bytes,
            self.sent.clone(),
        );
        registry.register(
            "chunks_stored",
            "Chunks that came in and were stored",
            self.chunks.clone(),
        );
        registry.register(
            "stream_subscribers",
            "Open streams of changes",
            self.subscribers.clone(),
        );
    }

    fn register_sums(&mut self) {
        let registry = &mut self.registry;
        registry.register("accounts", "Accounts", self.accounts.clone());
        registry.register(
            "webhook_deliveries",
            "Deliveries that wait, and those of the last 30 days that failed",
            self.deliveries.clone(),
        );
        registry.register_with_unit(
            "stored",
            "Bytes that count for storage quotas",
            Unit::Bytes,
            self.stored.clone(),
        );
        registry.register(
            "files",
            "Files, with those in the trash",
            self.files.clone(),
        );
        registry.register("open_uploads", "Uploads in progress", self.uploads.clone());
        registry.register(
            "damaged_chunks",
            "Stored chunks that are missing or have other bytes than were sent",
            self.damaged.clone(),
        );
        registry.register_with_unit(
            "database",
            "Size of the database",
            Unit::Bytes,
            self.database.clone(),
        );
    }

    /// Registers what background work reports. Each task is there from the start, so that one that
    /// never runs is seen.
    fn register_tasks(&mut self) {
        for task in Task::ALL {
            let label = TaskLabel { task: task.name() };
            drop(self.last_run.get_or_create(&label));
            drop(self.last_success.get_or_create(&label));
            drop(self.failures.get_or_create(&label));
            drop(self.removed.get_or_create(&label));
        }
        let registry = &mut self.registry;
        registry.register_with_unit(
            "background_last_run_timestamp",
            "When background work last ran; 0 for never",
            Unit::Seconds,
            self.last_run.clone(),
        );
        registry.register_with_unit(
            "background_last_success_timestamp",
            "When background work last ran without an error; 0 for never",
            Unit::Seconds,
            self.last_success.clone(),
        );
        registry.register(
            "background_failures",
            "Runs of background work that failed",
            self.failures.clone(),
        );
        registry.register(
            "background_removed",
            "Things that background work removed or finished",
            self.removed.clone(),
        );
    }

    /// Counts a response.
    pub(super) fn count(
        &self,
        method: &Method,
        route: &str,
        status: StatusCode,
        elapsed: Duration,
    ) {
        let method = super::rate::method_name(method);
        let route = route.to_owned();
        let labels = RequestLabels {
            method,
            route: route.clone(),
            status: class(status),
        };
        self.requests.get_or_create(&labels).inc();
        self.durations
            .get_or_create(&RouteLabels { method, route })
            .observe(elapsed.as_secs_f64());
    }

    /// Counts a stream of changes for as long as the result lives.
    pub(crate) fn subscribe(&self) -> Subscriber {
        self.subscribers.inc();
        Subscriber(self.subscribers.clone())
    }

    /// Notes a run of background work, and how many things it removed.
    pub(crate) fn note_run(&self, task: Task, now_ms: i64, removed: &Result<u64>) {
        let label = TaskLabel { task: task.name() };
        let now = now_ms.div_euclid(1000);
        self.last_run.get_or_create(&label).set(now);
        match removed {
            Ok(removed) => {
                self.last_success.get_or_create(&label).set(now);
                self.removed.get_or_create(&label).inc_by(*removed);
            }
            Err(_) => {
                self.failures.get_or_create(&label).inc();
            }
        }
    }

    /// Returns all metrics in the OpenMetrics text format, which Prometheus reads.
    ///
    /// # Errors
    /// A database that fails.
    pub(crate) fn text(&self, store: &Store) -> Result<String> {
        let ServerStats {
            active_accounts,
            disabled_accounts,
            stored_bytes,
            files,
            open_uploads,
            pending_deliveries,
            failed_deliveries,
            damaged_chunks,
            database_bytes,
        } = store.server_stats()?;
        for (family, state, count) in [
            (&self.accounts, "active", active_accounts),
            (&self.accounts, "disabled", disabled_accounts),
            (&self.deliveries, "pending", pending_deliveries),
            (&self.deliveries, "failed", failed_deliveries),
        ] {
            family.get_or_create(&StateLabel { state }).set(count);
        }
        self.stored.set(stored_bytes);
        self.files.set(files);
        self.uploads.set(open_uploads);
        self.damaged.set(damaged_chunks);
        self.database.set(database_bytes);
        let mut text = String::new();
        encode(&mut text, &self.registry)
            .map_err(|e| Error::internal(format!("the metrics can't be written: {e}")))?;
        Ok(text)
    }
}
