//! A recording of the requests as they came, and of what they cost on the wire.
//!
//! Bodies are counted, not kept. Requests to `/_dev` are not recorded.

use super::faults::AppliedRule;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use cairn_service::{AppState, Observer, observe};
use cairn_wire::Timestamp;
use cairn_wire::headers::DEVICE_ID;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};

/// The oldest entries go when there are more.
const MAX_ENTRIES: usize = 200_000;

/// One request while it is being handled and afterwards.
struct Entry {
    id: u64,
    at: i64,
    method: String,
    path: String,
    query: Option<String>,
    device: Option<String>,
    status: AtomicU16,
    fault: AtomicU64,
    request_bytes: AtomicU64,
    response_bytes: AtomicU64,
    finished: AtomicBool,
}

/// One request as `GET /_dev/requests` shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct RequestRecord {
    id: u64,
    at: Timestamp,
    method: String,
    path: String,
    query: Option<String>,
    /// 0 until it is answered.
    status: u16,
    /// Body bytes that the server has read.
    request_bytes: u64,
    /// Body bytes that have gone out.
    response_bytes: u64,
    device: Option<String>,
    /// The fault rule that was applied to it.
    fault: Option<u64>,
    /// True if the response has ended, or broken off.
    finished: bool,
}

/// `GET /_dev/requests`: which requests, oldest first.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Filter {
    /// The id after which requests are listed.
    after: Option<u64>,
    /// The beginning of the paths that are listed.
    path: Option<String>,
    method: Option<String>,
    device: Option<String>,
}

/// The response of `GET /_dev/requests`.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Recorded {
    requests: Vec<RequestRecord>,
    count: u64,
    request_bytes: u64,
    response_bytes: u64,
}

#[derive(Default)]
struct Log {
    last_id: u64,
    entries: VecDeque<Arc<Entry>>,
}

/// All recorded requests.
#[derive(Default)]
pub(crate) struct Recording(Mutex<Log>);

impl Recording {
    fn begin(&self, request: &Request, at: i64) -> Arc<Entry> {
        let mut log = self.0.lock();
        log.last_id += 1;
        let entry = Arc::new(Entry {
            id: log.last_id,
            at,
            method: request.method().to_string(),
            path: request.uri().path().to_owned(),
            query: request.uri().query().map(str::to_owned),
            device: request
                .headers()
                .get(DEVICE_ID)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned),
            status: AtomicU16::new(0),
            fault: AtomicU64::new(0),
            request_bytes: AtomicU64::new(0),
            response_bytes: AtomicU64::new(0),
            finished: AtomicBool::new(false),
        });
        if log.entries.len() >= MAX_ENTRIES {
            log.entries.pop_front();
        }
        log.entries.push_back(entry.clone());
        entry
    }

    pub(crate) fn list(&self, filter: &Filter) -> Recorded {
        let log = self.0.lock();
        let requests: Vec<RequestRecord> = log
            .entries
            .iter()
            .filter(|entry| {
                filter.after.is_none_or(|after| entry.id > after)
                    && filter
                        .path
                        .as_ref()
                        .is_none_or(|path| entry.path.starts_with(path))
                    && filter
                        .method
                        .as_ref()
                        .is_none_or(|method| entry.method.eq_ignore_ascii_case(method))
                    && filter.device.as_ref().is_none_or(|device| {
                        let own = entry.device.as_ref();
                        own.is_some_and(|own| device.eq_ignore_ascii_case(own))
                    })
            })
            .map(|entry| entry.to_record())
            .collect();
        Recorded {
            count: requests.len() as u64,
            request_bytes: requests.iter().map(|request| request.request_bytes).sum(),
            response_bytes: requests.iter().map(|request| request.response_bytes).sum(),
            requests,
        }
    }

    pub(crate) fn clear(&self) {
        self.0.lock().entries.clear();
    }
}

impl Entry {
    fn to_record(&self) -> RequestRecord {
        let fault = self.fault.load(Ordering::SeqCst);
        RequestRecord {
            id: self.id,
            at: Timestamp(self.at),
            method: self.method.clone(),
            path: self.path.clone(),
            query: self.query.clone(),
            status: self.status.load(Ordering::SeqCst),
            request_bytes: self.request_bytes.load(Ordering::SeqCst),
            response_bytes: self.response_bytes.load(Ordering::SeqCst),
            device: self.device.clone(),
            fault: (fault > 0).then_some(fault),
            finished: self.finished.load(Ordering::SeqCst),
        }
    }
}

/// The direction of a counted body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    In,
    Out,
}

/// Counts what passes of a body.
struct Passing {
    entry: Arc<Entry>,
    way: Direction,
}

impl Observer for Passing {
    fn on_poll(&mut self, data: Option<&Bytes>) {
        let counter = match self.way {
            Direction::In => &self.entry.request_bytes,
            Direction::Out => &self.entry.response_bytes,
        };
        if let Some(data) = data {
            counter.fetch_add(data.len() as u64, Ordering::SeqCst);
        }
    }

    fn on_end(&mut self) {
        if self.way == Direction::Out {
            self.entry.finished.store(true, Ordering::SeqCst);
        }
    }
}

/// Records a request.
pub(crate) async fn record(
    recording: &Recording,
    app: &AppState,
    request: Request,
    next: Next,
) -> Response {
    if request.uri().path().starts_with("/_dev") {
        return next.run(request).await;
    }
    let entry = recording.begin(&request, app.source.now_ms());
    let counted = |inner, way| {
        let entry = entry.clone();
        observe(inner, Passing { entry, way })
    };
    let response = next
        .run(request.map(|body| counted(body, Direction::In)))
        .await;
    entry
        .status
        .store(response.status().as_u16(), Ordering::SeqCst);
    if let Some(AppliedRule(rule)) = response.extensions().get() {
        entry.fault.store(*rule, Ordering::SeqCst);
    }
    response.map(|body| counted(body, Direction::Out))
}
