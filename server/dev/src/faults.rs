//! Fault rules: failures that a test asks the development server for: which, for which requests, how often.
//!
//! The first rule that applies to a request is the one that is applied. Faults act outside the
//! routes: a request whose response is a status never reaches its handler unless `processed` is set.

use super::patch;
use super::tampering::{Memory, Tampering};
use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use cairn_model::AccountId;
use cairn_service::{AppState, Error, Result, bearer, canonical_form, holder};
use cairn_store::Source;
use cairn_wire::ErrorBody;
use cairn_wire::headers::DEVICE_ID;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// The beginning of the paths of the development server's own interface.
pub(crate) const PATHS: &str = "/_dev/";

/// `POST /_dev/faults`: filters first, then effects, then how often.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Fault {
    /// With `*`: a glob over the whole path, where `*` also stands for slashes. Ending in `$`: the
    /// exact path. Otherwise: what the path begins with. The path is compared with and without a slash at its end.
    pub(crate) path_pattern: String,
    pub(crate) method: Option<String>,
    /// The only bearer token that it applies to.
    pub(crate) token: Option<String>,
    /// The only account that it applies to, by e-mail.
    pub(crate) account: Option<String>,
    /// The only `X-Device-Id` that it applies to.
    pub(crate) device: Option<String>,

    /// Waits before anything else.
    pub(crate) latency_ms: Option<u64>,
    /// Responds with this status; the handler does not run unless `processed`.
    pub(crate) status: Option<u16>,
    /// Seconds in `Retry-After`.
    pub(crate) retry_after: Option<u64>,
    /// With `status`: the handler runs, and only its response is lost.
    pub(crate) processed: bool,
    /// Breaks the connection after this many bytes of the response's body; the handler runs.
    pub(crate) cut_after_bytes: Option<u64>,
    /// Flips one bit of the byte in the middle of the response's body.
    pub(crate) corrupt: bool,
    /// Replaces parts of a JSON response: JSON pointer → value.
    pub(crate) set: BTreeMap<String, Value>,
    /// Changes what a JSON response says about nodes, or in which order.
    #[serde(rename = "lie")]
    pub(crate) tampering: Option<Tampering>,
    /// Panics inside the server.
    pub(crate) panic: bool,

    /// Lets this many matching requests pass first.
    pub(crate) skip: u64,
    /// Happens this many times; without it, always.
    pub(crate) count: Option<u64>,
    /// Happens with this probability, 0 to 1.
    pub(crate) probability: Option<f64>,
}

impl Fault {
    /// Returns true if the rule does something to the requests that it applies to.
    fn has_effect(&self) -> bool {
        self.latency_ms.is_some()
            || self.status.is_some()
            || self.cut_after_bytes.is_some()
            || self.corrupt
            || !self.set.is_empty()
            || self.tampering.is_some()
            || self.panic
    }
}

/// Returns true for a JSON pointer (RFC 6901).
fn is_pointer(text: &str) -> bool {
    text.is_empty() || text.starts_with('/')
}

/// A rule with its number and how often it has happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Rule {
    pub(crate) id: u64,
    pub(crate) hits: u64,
    /// Requests that the filters matched, whether or not the fault happened.
    pub(crate) matched: u64,
    #[serde(flatten)]
    pub(crate) fault: Fault,
    #[serde(skip)]
    account_id: Option<AccountId>,
    /// The memory of `tampering`.
    #[serde(skip)]
    memory: Memory,
}

#[derive(Default)]
struct Rules {
    last_id: u64,
    rules: Vec<Rule>,
}

/// All rules, in the order in which they were added.
#[derive(Default)]
pub(crate) struct Faults(Mutex<Rules>);

/// The parts of a request that a rule looks at.
struct Subject<'a> {
    path: &'a str,
    method: &'a Method,
    token: Option<&'a str>,
    device: Option<&'a str>,
    account: Option<AccountId>,
}

/// Returns true if the pattern matches the path in one of its forms: published paths have a slash at their end, which a
/// request may leave out.
fn matches_path(pattern: &str, path: &str) -> bool {
    matches_form(pattern, path) || matches_form(pattern, &format!("{path}/"))
}

fn matches_form(pattern: &str, path: &str) -> bool {
    if let Some(exact) = pattern.strip_suffix('$') {
        return path == exact;
    }
    if !pattern.contains('*') {
        return path.starts_with(pattern);
    }
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty()
}

impl Rule {
    fn concerns(&self, subject: &Subject<'_>) -> bool {
        let fault = &self.fault;
        matches_path(&fault.path_pattern, subject.path)
            && fault
                .method
                .as_ref()
                .is_none_or(|method| method.eq_ignore_ascii_case(subject.method.as_str()))
            && fault
                .token
                .as_ref()
                .is_none_or(|token| subject.token == Some(token))
            && fault.device.as_ref().is_none_or(|device| {
                subject
                    .device
                    .is_some_and(|own| device.eq_ignore_ascii_case(own))
            })
            && self
                .account_id
                .is_none_or(|account| subject.account == Some(account))
    }

    fn applies(&mut self, source: &Source) -> bool {
        self.matched += 1;
        let due = self.matched > self.fault.skip
            && self.fault.count.is_none_or(|count| self.hits < count)
            && self
                .fault
                .probability
                .is_none_or(|probability| source.chance(probability));
        self.hits += u64::from(due);
        due
    }
}

impl Faults {
    pub(crate) fn add(&self, mut fault: Fault, account_id: Option<AccountId>) -> Result<Rule> {
        if fault.path_pattern.is_empty() {
            return Err(Error::invalid(
                "`path_pattern` is missing; `/` matches every path",
            ));
        }
        if fault
            .status
            .is_some_and(|status| !(200..=599).contains(&status))
        {
            return Err(Error::invalid("`status` has to be 200 to 599"));
        }
        if fault
            .probability
            .is_some_and(|probability| !(0.0..=1.0).contains(&probability))
        {
            return Err(Error::invalid("`probability` has to be 0 to 1"));
        }
        if !fault.has_effect() {
            return Err(Error::invalid(
                "the rule does nothing; it needs `latency_ms`, `status`, `cut_after_bytes`, `corrupt`, `set`, `lie` or \
                 `panic`",
            ));
        }
        if let Some(pointer) = fault.set.keys().find(|key| !is_pointer(key)) {
            return Err(Error::invalid(format!(
                "`set` names `{pointer}`, which is no JSON pointer: that is empty or begins with `/`"
            )));
        }
        if let Some(renamed) = canonical_form(&fault.path_pattern, Some(PATHS))
            && fault.path_pattern.starts_with("/v2/")
        {
            fault.path_pattern = renamed;
        }
        let mut rules = self.0.lock();
        rules.last_id += 1;
        let rule = Rule {
            id: rules.last_id,
            hits: 0,
            matched: 0,
            fault,
            account_id,
            memory: Memory::default(),
        };
        rules.rules.push(rule.clone());
        Ok(rule)
    }

    pub(crate) fn list(&self) -> Vec<Rule> {
        self.0.lock().rules.clone()
    }

    pub(crate) fn clear(&self) {
        self.0.lock().rules.clear();
    }

    pub(crate) fn remove(&self, id: u64) -> bool {
        let mut rules = self.0.lock();
        let before = rules.rules.len();
        rules.rules.retain(|rule| rule.id != id);
        rules.rules.len() < before
    }

    fn wants_accounts(&self) -> bool {
        let rules = self.0.lock();
        rules.rules.iter().any(|rule| rule.account_id.is_some())
    }

    /// Returns the rule that applies to a request, if one does.
    fn matching_rule(&self, subject: &Subject<'_>, source: &Source) -> Option<Rule> {
        let mut rules = self.0.lock();
        for rule in &mut rules.rules {
            if rule.concerns(subject) && rule.applies(source) {
                return Some(rule.clone());
            }
        }
        None
    }
}

/// The id of the rule that was applied, for the recording.
#[derive(Clone, Copy)]
pub(crate) struct AppliedRule(pub(crate) u64);

fn find(faults: &Faults, app: &AppState, request: &Request) -> Option<Rule> {
    let path = canonical_form(request.uri().path(), Some(PATHS))
        .unwrap_or_else(|| request.uri().path().to_owned());
    if path.starts_with("/_dev") {
        return None;
    }
    let token = bearer(request.headers());
    let account = token
        .filter(|_| faults.wants_accounts())
        .and_then(|token| holder(app, token).ok());
    let subject = Subject {
        path: &path,
        method: request.method(),
        token,
        device: request
            .headers()
            .get(DEVICE_ID)
            .and_then(|value| value.to_str().ok()),
        account: account.map(|holder| holder.account),
    };
    faults.matching_rule(&subject, &app.source)
}

fn retry_after(headers: &mut HeaderMap, fault: &Fault) {
    if let Some(seconds) = fault.retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
}

fn failure(fault: &Fault, status: u16) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = ErrorBody {
        code: status.as_u16(),
        message: "a fault rule of this development server says so".into(),
    };
    let mut response = (status, Json(body)).into_response();
    retry_after(response.headers_mut(), fault);
    response
}

/// Handles a request as the first rule that matches it says.
pub(crate) async fn inject(
    faults: &Faults,
    app: &AppState,
    request: Request,
    next: Next,
) -> Response {
    let Some(rule) = find(faults, app, &request) else {
        return next.run(request).await;
    };
    let fault = &rule.fault;
    if let Some(latency) = fault.latency_ms {
        tokio::time::sleep(Duration::from_millis(latency)).await;
    }
    assert!(!fault.panic, "fault rule {} panics", rule.id);
    let mut response = match fault.status {
        Some(status) if !fault.processed => failure(fault, status),
        Some(status) => {
            // The handler's response is read to its end before it is thrown away.
            let response = next.run(request).await;
            drop(axum::body::to_bytes(response.into_body(), usize::MAX).await);
            failure(fault, status)
        }
        None => next.run(request).await,
    };
    if !fault.set.is_empty() {
        response = patch::set(response, &fault.set).await;
    }
    if let Some(tampering) = fault.tampering {
        response = patch::json(response, |body| tampering.apply(body, &rule.memory)).await;
    }
    if fault.corrupt {
        response = patch::flip(response).await;
    }
    if let Some(bytes) = fault.cut_after_bytes {
        response = patch::cut(response, bytes);
    }
    response.extensions_mut().insert(AppliedRule(rule.id));
    response
}

#[cfg(test)]
mod tests {
    use super::matches_path;

    #[test]
    fn patterns_are_prefixes_globs_or_exact() {
        let yes = [
            ("/", "/api/v1/nodes"),
            ("/api/v1/nodes", "/api/v1/nodes/x"),
            ("/api/v1/nodes$", "/api/v1/nodes"),
            ("/api/v1/uploads/*/complete", "/api/v1/uploads/a/complete"),
            ("*/chunks/*", "/api/v1/uploads/a/chunks/b"),
            ("/a*", "/a"),
            ("/api/v1/teams/", "/api/v1/teams"),
            ("/api/v1/teams/", "/api/v1/teams/x"),
            ("/api/v1/teams/$", "/api/v1/teams"),
            ("/api/v1/webhooks/*", "/api/v1/webhooks"),
        ];
        for (pattern, path) in yes {
            assert!(matches_path(pattern, path), "{pattern} {path}");
        }
        let no = [
            ("/api/v1/nodes$", "/api/v1/nodes/x"),
            ("/api/v1/uploads/*/complete", "/api/v1/uploads/a/complete/b"),
            ("/api/*/x/*/y", "/api/x/y"),
            ("/b*", "/a"),
            ("/api/v1/teams/", "/api/v1/teamsters"),
            ("/api/v1/teams/$", "/api/v1/teams/x"),
        ];
        for (pattern, path) in no {
            assert!(!matches_path(pattern, path), "{pattern} {path}");
        }
    }
}
