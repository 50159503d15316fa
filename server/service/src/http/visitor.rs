//! The network address of a caller. It leaves this module only masked, or as the network for which requests are
//! counted.

use super::rate::Network;
use crate::error::Error;
use crate::state::AppState;
use axum::extract::{ConnectInfo, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use std::net::{IpAddr, SocketAddr};

/// The caller's address with its last part masked.
pub(crate) struct MaskedIp(pub(crate) String);

impl FromRequestParts<AppState> for MaskedIp {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, Error> {
        Ok(Self(masked_address(app, &parts.headers, &parts.extensions)))
    }
}

/// Returns the caller's address with its last part masked.
pub(super) fn masked_address(
    app: &AppState,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> String {
    address(app, headers, extensions).map_or_else(|| "unknown".to_owned(), mask)
}

/// Returns the network that a request comes from.
pub(super) fn network(app: &AppState, request: &Request) -> Network {
    address(app, request.headers(), request.extensions()).map_or(Network::UNKNOWN, Network::of)
}

/// The address of the peer, or behind a proxy the one that the proxy saw.
fn address(app: &AppState, headers: &HeaderMap, extensions: &Extensions) -> Option<IpAddr> {
    let forwarded = app.options.behind_proxy.then(|| {
        let last = headers.get_all("x-forwarded-for").iter().next_back()?;
        forwarded_address(last.to_str().ok()?.rsplit(',').next()?.trim())
    });
    let peer = extensions
        .get::<ConnectInfo<SocketAddr>>()
        .map(|ConnectInfo(peer)| peer.ip());
    forwarded.flatten().or(peer)
}

/// Reads an address as proxies write it: alone, in brackets, or with a port.
fn forwarded_address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse().ok().map(|address: SocketAddr| address.ip());
    let in_brackets = || {
        let inside = text.strip_prefix('[')?.strip_suffix(']')?;
        inside.parse().ok().map(IpAddr::V6)
    };
    text.parse().ok().or_else(with_port).or_else(in_brackets)
}

/// Masks the last octet of an IPv4 address, the last four groups of an IPv6 address.
fn mask(ip: IpAddr) -> String {
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            format!("{a}.{b}.{c}.xxx")
        }
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}:xxxx:xxxx:xxxx:xxxx")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{forwarded_address, mask};

    #[test]
    fn the_part_of_an_address_that_tells_a_machine_is_masked() {
        for (ip, masked) in [
            ("203.0.113.77", "203.0.113.xxx"),
            ("::ffff:203.0.113.77", "203.0.113.xxx"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:xxxx:xxxx:xxxx:xxxx"),
            ("::1", "0:0:0:0:xxxx:xxxx:xxxx:xxxx"),
        ] {
            assert_eq!(mask(ip.parse().unwrap()), masked);
        }
    }

    #[test]
    fn a_proxy_may_name_the_port_of_a_visitor() {
        for (text, ip) in [
            ("203.0.113.77", "203.0.113.77"),
            ("203.0.113.77:8080", "203.0.113.77"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
        ] {
            assert_eq!(forwarded_address(text), Some(ip.parse().unwrap()), "{text}");
        }
        for other in [
            "",
            "unknown",
            "_hidden",
            "203.0.113.77:",
            "203.0.113.77:99999",
            "[203.0.113.77]",
        ] {
            assert_eq!(forwarded_address(other), None, "{other}");
        }
    }
}
