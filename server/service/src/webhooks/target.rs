//! The address that a webhook may point to: an `https` one on the public internet, in whatever
//! spelling.
//!
//! The text is checked when a webhook is made and before every attempt; the addresses that a name
//! resolves to are checked when the connection is made, and the connection goes to just those, so
//! that a name can't mean one thing to the check and another to the connection.

use crate::error::{Error, Result};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const MAX_URL: usize = 2_048;
/// The part that stands before the IPv4 address in an address of NAT64 (RFC 6052).
const NAT64: [u16; 6] = [0x64, 0xff9b, 0, 0, 0, 0];
/// IPv4 networks that are not the public internet (RFC 6890 and IANA's registry), with prefix lengths.
const SPECIAL_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// The addresses that webhooks may point to: any (`--allow-private-webhooks`), or the public internet only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressPolicy {
    Public,
    Anywhere,
}

impl AddressPolicy {
    pub(crate) fn of(allow_private: bool) -> Self {
        if allow_private {
            Self::Anywhere
        } else {
            Self::Public
        }
    }
}

/// Reads and checks an address.
///
/// # Errors
/// [`Error::Invalid`] with the rule that it breaks.
pub(crate) fn check(text: &str, policy: AddressPolicy) -> Result<Url> {
    let bad = |why: &str| Error::invalid(format!("`url`: {why}"));
    if text.len() > MAX_URL {
        return Err(bad(&format!("it has more than {MAX_URL} bytes")));
    }
    let url =
        Url::parse(text.trim()).map_err(|e| bad(&format!("it is not a valid address: {e}")))?;
    match (url.scheme(), policy) {
        ("https", _) | ("http", AddressPolicy::Anywhere) => {}
        (other, AddressPolicy::Public | AddressPolicy::Anywhere) => {
            return Err(bad(&format!("it has to begin with https://, not {other}:")));
        }
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("it can't hold a user name or a password"));
    }
    if url.fragment().is_some() {
        return Err(bad("it can't have a fragment"));
    }
    let host = url.host_str().ok_or_else(|| bad("it names no host"))?;
    if policy == AddressPolicy::Public {
        check_host(host).map_err(|why| bad(&why))?;
    }
    Ok(url)
}

/// `Url` has already turned every spelling of an IPv4 address (decimal, octal, hexadecimal, short)
/// into the usual one, and brackets stand around IPv6.
fn check_host(host: &str) -> std::result::Result<(), String> {
    let literal = host.trim_matches(['[', ']']).parse::<IpAddr>();
    if let Ok(address) = literal {
        return if is_public(address) {
            Ok(())
        } else {
            Err(format!("{address} is a private or reserved address"))
        };
    }
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let labels: Vec<&str> = name.split('.').collect();
    let first = labels.first().copied().unwrap_or_default();
    let last = labels.last().copied().unwrap_or_default();
    let inner = ["metadata", "internal", "localhost"].contains(&first)
        || [
            "localhost",
            "internal",
            "local",
            "localdomain",
            "lan",
            "home",
            "corp",
        ]
        .contains(&last)
        || name.ends_with(".home.arpa");
    if inner || labels.len() < 2 {
        return Err(format!("{host} is the name of something internal"));
    }
    Ok(())
}

/// Returns true if an address lies on the public internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    SPECIAL_V4.iter().all(|(network, length)| {
        let mask = u32::MAX << (32 - length);
        address.to_bits() & mask != network.to_bits()
    })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_public_v4(inner);
    }
    let segments = address.segments();
    if segments[..6] == NAT64 {
        let [.., a, b, c, d] = address.octets();
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    // Global unicast is 2000::/3; within it, Teredo and other protocol assignments (2001::/23),
    // documentation, and 6to4, whose IPv4 address could be any.
    let global = segments[0] & 0xe000 == 0x2000;
    let protocol = segments[0] == 0x2001 && segments[1] < 0x200;
    let documentation = (segments[0] == 0x2001 && segments[1] == 0xdb8)
        || (segments[0] == 0x3fff && segments[1] < 0x1000);
    let six_to_four = segments[0] == 0x2002;
    global && !protocol && !documentation && !six_to_four
}

/// Resolves names for deliveries and refuses those that lead inside.
pub(crate) struct Guard {
    pub(crate) policy: AddressPolicy,
}

/// One private address among several is enough to refuse them all.
fn check_addresses(
    name: &str,
    found: Vec<SocketAddr>,
    policy: AddressPolicy,
) -> std::result::Result<Vec<SocketAddr>, String> {
    let inside = found.iter().find(|address| !is_public(address.ip()));
    match inside {
        Some(address) if policy == AddressPolicy::Public => Err(format!(
            "{name} resolves to {}, a private or reserved address",
            address.ip()
        )),
        Some(_) | None => Ok(found),
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.policy;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let checked = check_addresses(name.as_str(), found, policy)?;
            Ok(Box::new(checked.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests;
