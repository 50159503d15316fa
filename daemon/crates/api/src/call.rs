//! One call of an endpoint before it is sent: its address, headers and body, and whether it may be sent again.

use crate::error::{ApiError, quote};
use crate::retry::Retry;
use crate::transport::Payload;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde::Serialize;

/// The advice for an address without a scheme.
const SCHEME_HINT: &str = "it must start with https:// or http://, e.g. https://localhost";
/// The largest JSON response, in bytes: enough for a page of 1,000 nodes with all their fields.
const MAX_JSON_BYTES: usize = 32 * 1024 * 1024;

/// An address that requests may go to, with the origin that tokens are bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaseUrl {
    pub(crate) text: String,
    pub(crate) origin: String,
}

impl BaseUrl {
    pub(crate) fn parse(text: &str) -> Result<Self, ApiError> {
        let bad = |why: &str| {
            ApiError::Protocol(format!("`{}` is not a server address: {why}", quote(text)))
        };
        let url = reqwest::Url::parse(text.trim()).map_err(|_| bad(SCHEME_HINT))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(bad(SCHEME_HINT));
        }
        let has_user = !url.username().is_empty() || url.password().is_some();
        if url.query().is_some() || url.fragment().is_some() || has_user {
            return Err(bad("it can't have a user, a query or a fragment"));
        }
        let origin = url.origin().ascii_serialization();
        Ok(Self {
            text: url.as_str().trim_end_matches('/').to_owned(),
            origin,
        })
    }

    /// Returns whether requests leave this machine unencrypted: plain http to another host.
    fn is_unprotected(&self) -> bool {
        let Ok(url) = reqwest::Url::parse(&self.text) else {
            return true;
        };
        url.scheme() == "http" && !is_loopback(&url)
    }
}

/// Returns whether a URL names this machine: `localhost` or an address of the loopback network. Any other name,
/// also one below `.localhost`, may resolve to another machine.
pub(crate) fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Returns whether requests to an address, with their tokens, would leave this machine unencrypted.
///
/// # Errors
/// [`ApiError::Protocol`] for a text that is not an address.
pub fn is_unprotected(address: &str) -> Result<bool, ApiError> {
    Ok(BaseUrl::parse(address)?.is_unprotected())
}

/// One call of an endpoint, before it is sent.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) base: Option<BaseUrl>,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Payload,
    pub(crate) retry: Retry,
    /// The largest response body, in bytes.
    pub(crate) limit: usize,
}

impl Call {
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Self {
        let retry = if method == Method::GET {
            Retry::Idempotent
        } else {
            Retry::OnlyUnsent
        };
        Self {
            method,
            base: None,
            path: path.into(),
            headers: HeaderMap::new(),
            body: Payload::default(),
            retry,
            limit: MAX_JSON_BYTES,
        }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    /// Adds a query; an empty one leaves the path as it is.
    pub(crate) fn query<Q: Serialize>(mut self, query: &Q) -> Result<Self, ApiError> {
        let text = serde_urlencoded::to_string(query)
            .map_err(|e| ApiError::Protocol(format!("the query can't be written: {e}")))?;
        if !text.is_empty() {
            let separator = if self.path.contains('?') { '&' } else { '?' };
            self.path = format!("{}{separator}{text}", self.path);
        }
        Ok(self)
    }

    pub(crate) fn json<B: Serialize>(self, body: &B) -> Result<Self, ApiError> {
        let body = serde_json::to_vec(body)
            .map_err(|e| ApiError::Protocol(format!("the request can't be written: {e}")))?;
        Ok(self.body(Bytes::from(body), "application/json"))
    }

    pub(crate) fn body(mut self, body: impl Into<Payload>, media_type: &'static str) -> Self {
        self.body = body.into();
        self.headers
            .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        self
    }

    /// Adds a header.
    ///
    /// # Errors
    /// [`ApiError::Protocol`] for a value that HTTP does not allow.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Result<Self, ApiError> {
        let value = HeaderValue::from_str(value)
            .map_err(|_| ApiError::Protocol(format!("the header {name} can't be written")))?;
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(self)
    }

    /// Makes the change fail if the node no longer has this metadata version (`If-Match`).
    pub(crate) fn if_match(self, version: u64) -> Result<Self, ApiError> {
        self.header("if-match", &format!("\"{version}\""))
    }

    /// Marks the call as idempotent: it may be sent again.
    pub(crate) fn mark_idempotent(mut self) -> Self {
        self.retry = Retry::Idempotent;
        self
    }

    /// Sends the request to another address than the client's.
    pub(crate) fn with_base(mut self, base: BaseUrl) -> Self {
        self.base = Some(base);
        self
    }

    /// Sets the most bytes that the response may have.
    pub(crate) fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_safe_only_within_the_machine() {
        for (address, unprotected) in [
            ("https://cloud.example.org", false),
            ("http://localhost:8080", false),
            ("http://127.0.0.5", false),
            ("http://[::1]:9", false),
            ("http://cairn.localhost", true),
            ("http://192.168.1.2", true),
            ("http://localhost.example.org", true),
            ("http://cloud.example.org", true),
        ] {
            assert_eq!(is_unprotected(address), Ok(unprotected), "{address}");
        }
    }

    #[test]
    fn a_name_alone_is_not_an_address() {
        let text = is_unprotected("localhost").unwrap_err().to_string();
        assert!(text.contains("must start with https://"), "{text}");
    }

    #[test]
    fn an_address_has_neither_user_nor_password() {
        for address in [
            "https://me@host",
            "https://:secret@host",
            "https://me:secret@host",
        ] {
            assert!(BaseUrl::parse(address).is_err(), "{address}");
        }
        assert!(BaseUrl::parse("https://host:8443/cairn").is_ok());
    }
}
