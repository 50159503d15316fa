//! Counts the requests that may change something at the service, so that a call that has ended early can tell whether any
//! was sent.

use cairn_api::{Method, Request, Response, Transport, TransportError};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of requests sent so far that may change something, by all calls together.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangesSent(Arc<AtomicU64>);

impl ChangesSent {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A transport that counts.
pub(crate) struct CountedTransport<T> {
    inner: T,
    sent: ChangesSent,
}

impl<T: Transport> CountedTransport<T> {
    pub(crate) fn new(inner: T, sent: ChangesSent) -> Self {
        Self { inner, sent }
    }
}

impl<T: Transport> Transport for CountedTransport<T> {
    fn send<'a, 'b>(&'a self, request: Request) -> BoxFuture<'b, Result<Response, TransportError>>
    where
        'a: 'b,
        Self: 'b,
    {
        if ![Method::GET, Method::HEAD].contains(&request.method) {
            self.sent.0.fetch_add(1, Ordering::Relaxed);
        }
        self.inner.send(request)
    }
}

#[cfg(test)]
mod tests {
    use crate::services::KeySource;
    use crate::test_services::silent_services;
    use crate::tool::Verb;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn a_look_changes_nothing_and_everything_else_may() {
        let services = silent_services(KeySource::Missing);
        let ask = |verb| {
            let asked = services.request(verb, &["webhooks"], &[], None);
            assert!(Box::pin(asked).now_or_never().is_none(), "nobody answers");
            services.changes_sent.count()
        };
        assert_eq!(ask(Verb::Get), 0);
        assert_eq!(ask(Verb::Delete), 1);
        assert_eq!(ask(Verb::Post), 2);
    }
}
