//! Traces of requests for OpenTelemetry: one span a request, sent to a collector in batches (OTLP over HTTP).
//!
//! A span has the method, the route without the ids and names in it, the status, the duration and the request's id. It
//! has no path, address, account or text of an error.

use crate::error::{Error, Result};
use crate::options::TelemetryOptions;
use axum::http::{HeaderMap, Method, StatusCode};
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};
use std::thread;
use std::time::{Duration, SystemTime};

/// The time after which a collector that doesn't answer is given up, also when the server ends.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Sends a span for each request that is answered.
pub(crate) struct Traces {
    tracer: SdkTracer,
    // The last spans are sent when it is dropped.
    _provider: SdkTracerProvider,
}

/// An answered request.
pub(crate) struct AnsweredRequest<'a> {
    pub(crate) method: &'a Method,
    pub(crate) route: &'a str,
    pub(crate) status: StatusCode,
    pub(crate) id: &'a str,
    pub(crate) elapsed: Duration,
    /// The span of the caller, if it has sent one.
    pub(crate) parent: Context,
}

/// The headers of a request, as a source of the caller's span.
struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(|name| name.as_str()).collect()
    }
}

fn exporter(options: &TelemetryOptions) -> Result<SpanExporter, ExporterBuildError> {
    let base = options.endpoint.trim_end_matches('/');
    SpanExporter::builder()
        .with_http()
        .with_endpoint(format!("{base}/v1/traces"))
        .with_timeout(TIMEOUT)
        .build()
}

/// Checks that an address can be one of a collector.
fn check_endpoint(endpoint: &str) -> Result<()> {
    let uri: Option<axum::http::Uri> = endpoint.parse().ok();
    let is_http = uri.is_some_and(|uri| {
        uri.authority().is_some() && matches!(uri.scheme_str(), Some("http" | "https"))
    });
    if is_http {
        return Ok(());
    }
    Err(Error::config(format!(
        "[telemetry] endpoint = \"{endpoint}\" is no address such as http://127.0.0.1:4318"
    )))
}

impl Traces {
    /// Begins to send traces to a collector, which need not be there yet.
    ///
    /// # Errors
    /// An address that is none.
    pub(crate) fn begin(options: &TelemetryOptions) -> Result<Self> {
        check_endpoint(&options.endpoint)?;
        // The client that sends them has threads of its own, and can't be made on one of an async runtime.
        let made = thread::scope(|scope| scope.spawn(|| exporter(options)).join());
        let exporter = made
            .map_err(|_| Error::internal("the exporter of traces panicked"))?
            .map_err(|e| Error::config(format!("[telemetry]: {e}")))?;
        let sampler = Sampler::TraceIdRatioBased(options.ratio);
        let resource = Resource::builder()
            .with_service_name("cairn-server")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_sampler(Sampler::ParentBased(Box::new(sampler)))
            .with_resource(resource)
            .build();
        Ok(Self {
            tracer: provider.tracer("cairn-server"),
            _provider: provider,
        })
    }

    /// Reads the caller's span (`traceparent`).
    pub(crate) fn parent_of(headers: &HeaderMap) -> Context {
        TraceContextPropagator::new().extract_with_context(&Context::new(), &Headers(headers))
    }

    /// Records a request that was answered just now.
    pub(crate) fn record(&self, request: &AnsweredRequest<'_>) {
        let end = SystemTime::now();
        let status = i64::from(request.status.as_u16());
        let mut span = self
            .tracer
            .span_builder(format!("{} {}", request.method, request.route))
            .with_kind(SpanKind::Server)
            .with_start_time(end - request.elapsed)
            .with_attributes([
                KeyValue::new("http.request.method", request.method.to_string()),
                KeyValue::new("http.route", request.route.to_owned()),
                KeyValue::new("http.response.status_code", status),
                KeyValue::new("cairn.request_id", request.id.to_owned()),
            ])
            .start_with_context(&self.tracer, &request.parent);
        if request.status.is_server_error() {
            span.set_status(Status::error(""));
        }
        span.end_with_timestamp(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use opentelemetry::trace::TraceContextExt as _;

    #[test]
    fn a_collector_has_an_address_of_the_web() {
        for good in ["http://127.0.0.1:4318", "https://collect.example.com/otlp/"] {
            check_endpoint(good).unwrap();
        }
        for bad in [
            "",
            "localhost:4318",
            "grpc://h:4317",
            "http://",
            "/v1/traces",
        ] {
            let error = check_endpoint(bad).unwrap_err();
            assert!(
                error.to_string().contains("[telemetry]"),
                "{bad:?}: {error}"
            );
        }
    }

    #[test]
    fn a_callers_span_is_read_and_nonsense_is_none() {
        let parent = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("traceparent", HeaderValue::from_static(text));
            let context = Traces::parent_of(&headers);
            let span = context.span().span_context().clone();
            span.is_valid().then(|| span.trace_id().to_string())
        };
        let id = "4bf92f3577b34da6a3ce929d0e0e4736";
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(parent(good).as_deref(), Some(id));
        assert_eq!(parent("00-nonsense"), None);
    }
}
