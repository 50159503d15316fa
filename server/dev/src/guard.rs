//! Keeps web pages away from `/_dev`: a page that a developer has open may send requests to this
//! machine, and with a host name of its own even read the responses.

use crate::DevAccess;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use cairn_service::{Error, Result};

/// Returns the host of `host[:port]`, without the brackets of an IPv6 address.
fn host_name(authority: &str) -> &str {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    authority.split(':').next().unwrap_or_default()
}

fn is_loopback(authority: &str) -> bool {
    let name = host_name(authority);
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or(""))
}

/// Checks the host that a request names and the page that it comes from. Browsers send `Origin` with
/// every request of a foreign page that changes something, and can't be made to leave it out.
///
/// # Errors
/// 403 for a foreign `Host` or `Origin`.
fn check(access: DevAccess, headers: &HeaderMap) -> Result<()> {
    let host = text(headers, &header::HOST);
    if access == DevAccess::Loopback
        && let Some(host) = host
        && !is_loopback(host)
    {
        return Err(Error::forbidden(format!(
            "`{host}` is not this machine; use localhost or 127.0.0.1"
        )));
    }
    if let Some(origin) = text(headers, &header::ORIGIN) {
        let from = origin.split_once("://").map(|(_, authority)| authority);
        if from.is_none() || from != host {
            return Err(Error::forbidden(format!(
                "pages of {origin} may not use the development interface"
            )));
        }
    }
    Ok(())
}

/// Lets a request to `/_dev` through, or refuses it.
pub(crate) async fn guard(
    State(access): State<DevAccess>,
    request: Request,
    next: Next,
) -> Response {
    match check(access, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn is_allowed(access: DevAccess, fields: &[(header::HeaderName, &'static str)]) -> bool {
        let headers = fields
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)))
            .collect();
        check(access, &headers).is_ok()
    }

    #[test]
    fn a_foreign_host_or_origin_is_refused() {
        let local = DevAccess::Loopback;
        for host in ["localhost:8787", "127.0.0.1", "[::1]:8787", "127.0.0.9:1"] {
            assert!(is_allowed(local, &[(header::HOST, host)]), "{host}");
        }
        for host in [
            "rebind.example",
            "192.168.0.2:8787",
            "localhost.example",
            "",
        ] {
            assert!(!is_allowed(local, &[(header::HOST, host)]), "{host}");
            assert!(
                is_allowed(DevAccess::Anyone, &[(header::HOST, host)]),
                "{host}"
            );
        }
        let from = |origin| [(header::HOST, "localhost:8787"), (header::ORIGIN, origin)];
        assert!(is_allowed(local, &from("http://localhost:8787")));
        for origin in ["http://evil.example", "http://localhost:3000", "null"] {
            assert!(!is_allowed(local, &from(origin)), "{origin}");
            assert!(!is_allowed(DevAccess::Anyone, &from(origin)), "{origin}");
        }
    }
}
