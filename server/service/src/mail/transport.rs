//! The connection to the mail server.

use super::MailOptions;
use crate::error::{Error, Result};
use lettre::transport::smtp::AsyncSmtpTransportBuilder;
use lettre::{AsyncSmtpTransport, Tokio1Executor};
use reqwest::Url;
use std::net::Ipv4Addr;
use std::time::Duration;

/// The time for making the connection; the dispatcher bounds the rest.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(super) type Transport = AsyncSmtpTransport<Tokio1Executor>;

/// Makes the client of a mail server, within the runtime that its connections run in; nothing is connected yet.
///
/// # Errors
/// As [`check`].
pub(super) fn transport(options: &MailOptions) -> Result<Transport> {
    check(options).map(AsyncSmtpTransportBuilder::build)
}

/// Checks the address of a mail server, which needs no runtime.
///
/// # Errors
/// A configuration with an address that can't be used, or that would send mails in clear over a network.
pub(super) fn check(options: &MailOptions) -> Result<AsyncSmtpTransportBuilder> {
    let refuse = |why: &str| {
        Error::config(format!(
            "[mail] url {why}; write smtps://USER:PASSWORD@HOST, or smtp://HOST?tls=required"
        ))
    };
    let url = Url::parse(&options.url).map_err(|_| refuse("is not an address"))?;
    let host = url.host_str().unwrap_or_default();
    match url.scheme() {
        "smtps" => {}
        "smtp" if demands_tls(&url) || is_this_machine(host) => {}
        "smtp" => return Err(refuse("would send mails and the password in clear")),
        _ => return Err(refuse("is no address of a mail server")),
    }
    Ok(Transport::from_url(&options.url)
        .map_err(|_| refuse("is not an address of a mail server"))?
        .timeout(Some(TIMEOUT)))
}

fn demands_tls(url: &Url) -> bool {
    let mut tls = url.query_pairs().filter(|(name, _)| name == "tls");
    // The library goes by the first one.
    tls.next().is_some_and(|(_, value)| value == "required")
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_go_in_clear_to_this_machine_only() {
        for (url, good) in [
            ("smtps://u:p@mail.example.com", true),
            ("smtp://mail.example.com:587?tls=required", true),
            ("smtp://127.0.0.1:2525", true),
            ("smtp://[::1]:2525", false),
            (
                "smtp://mail.example.com?tls=opportunistic&tls=required",
                false,
            ),
            ("smtp://localhost", true),
            ("smtp://mail.example.com", false),
            ("smtp://mail.example.com?tls=opportunistic", false),
            ("smtp://10.0.0.1", false),
            ("https://mail.example.com", false),
            ("mail.example.com", false),
        ] {
            let options = MailOptions {
                url: url.into(),
                from: "a@b.example".into(),
            };
            assert_eq!(check(&options).is_ok(), good, "{url}");
        }
    }
}
