//! Keeps web pages away from a development server: a page that a developer has open may send requests to this
//! machine, and with a host name of its own even read the responses. The keys of the accounts are known to all.

use crate::DevAccess;
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};
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

/// Returns true if an authority has the host of a public address, such as `https://files.example.com`.
fn is_public(authority: &str, public_url: Option<&str>) -> bool {
    let public = public_url
        .and_then(|url| url.parse::<Uri>().ok())
        .and_then(|url| url.authority().map(ToString::to_string));
    public.is_some_and(|public| host_name(&public).eq_ignore_ascii_case(host_name(authority)))
}

/// Checks the hosts that a request names, whatever it asks for. A page of another site whose name leads to this
/// machine can read responses, but can't name another host than its own.
///
/// # Errors
/// 403 for one that is neither this machine nor that of the server's public address.
pub(crate) fn check_host(
    access: DevAccess,
    public_url: Option<&str>,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<()> {
    if access == DevAccess::Anyone {
        return Ok(());
    }
    let in_uri = uri.authority().map(Authority::as_str);
    let named = text(headers, &header::HOST).into_iter().chain(in_uri);
    for host in named {
        if !is_loopback(host) && !is_public(host, public_url) {
            return Err(Error::forbidden(format!(
                "`{host}` is not this machine; use localhost or 127.0.0.1, or set `public_url`"
            )));
        }
    }
    Ok(())
}

/// Checks the page that a request to `/_dev` comes from. Browsers send `Origin` with every request of a foreign
/// page that changes something, and can't be made to leave it out.
///
/// # Errors
/// 403 for a foreign `Origin`.
fn check_origin(headers: &HeaderMap) -> Result<()> {
    let host = text(headers, &header::HOST);
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
pub(crate) async fn guard(request: Request, next: Next) -> Response {
    match check_origin(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    const PUBLIC: Option<&str> = Some("https://files.example.com:8443");

    fn is_allowed(access: DevAccess, host: &str, uri: &str) -> bool {
        let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_str(host).unwrap())]);
        check_host(access, PUBLIC, &uri.parse().unwrap(), &headers).is_ok()
    }

    #[test]
    fn a_foreign_host_is_refused() {
        let local = DevAccess::Loopback;
        for host in [
            "localhost:8787",
            "127.0.0.1",
            "[::1]:8787",
            "127.0.0.9:1",
            "Files.example.com",
        ] {
            assert!(is_allowed(local, host, "/"), "{host}");
        }
        for host in [
            "rebind.example",
            "192.168.0.2:8787",
            "localhost.example",
            "files.example.com.example",
            "",
        ] {
            assert!(!is_allowed(local, host, "/"), "{host}");
            assert!(is_allowed(DevAccess::Anyone, host, "/"), "{host}");
        }
        assert!(!is_allowed(local, "localhost", "http://rebind.example/"));
        assert!(is_allowed(local, "localhost", "http://localhost/"));
        let public = check_host(local, None, &Uri::from_static("/"), &HeaderMap::new());
        assert!(
            public.is_ok(),
            "a request that names no host is no browser's"
        );
    }

    #[test]
    fn a_foreign_origin_is_refused() {
        let is_allowed = |origin: &'static str| {
            let headers = HeaderMap::from_iter([
                (header::HOST, HeaderValue::from_static("localhost:8787")),
                (header::ORIGIN, HeaderValue::from_static(origin)),
            ]);
            check_origin(&headers).is_ok()
        };
        assert!(is_allowed("http://localhost:8787"));
        for origin in ["http://evil.example", "http://localhost:3000", "null"] {
            assert!(!is_allowed(origin), "{origin}");
        }
    }
}
