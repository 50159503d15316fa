//! Checks options before anything is opened: what can't work is refused at the start, with the name of the option.

use super::{ConnectionLimits, Options, RateLimits, RegisteredClient, TelemetryOptions};
use crate::error::{Error, Result};
use reqwest::Url;

/// Schemes that run or show what stands in the address itself, or lead to files.
const NO_REDIRECTS: [&str; 7] = [
    "about",
    "blob",
    "data",
    "file",
    "ftp",
    "javascript",
    "vbscript",
];

impl Options {
    /// Refuses what can't work.
    ///
    /// # Errors
    /// [`Error::Store`] with a configuration that names the option.
    pub(crate) fn check(&self) -> Result<()> {
        self.rate_limits.check()?;
        self.connections.check()?;
        self.metrics.check()?;
        self.cors.check()?;
        if let Some(url) = &self.public_url {
            check_public_url(url)?;
        }
        if let Some(telemetry) = &self.telemetry {
            telemetry.check()?;
        }
        self.clients.iter().try_for_each(RegisteredClient::check)?;
        let Some(mail) = &self.mail else {
            return Ok(());
        };
        mail.check()?;
        if self.public_url.is_none() {
            return Err(Error::config(
                "[mail] needs `public_url`: mails have links, and the address in them must not be what a request names",
            ));
        }
        Ok(())
    }
}

/// Refuses an address to which no path can be added, and one that has a path itself: the pages for people and the
/// identity provider are at the root.
fn check_public_url(text: &str) -> Result<()> {
    let is_base = Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
    });
    // The parser passes over spaces around it, and links would have them.
    if is_base && text.trim() == text {
        return Ok(());
    }
    Err(Error::config(format!(
        "public_url = \"{text}\" is no address that links can begin with; it has to be such as \
         https://files.example.com, without a path, a user, a query (?) or a fragment (#)"
    )))
}

/// Refuses 0, which elsewhere means that there is no limit: here nothing would be let through.
fn check_positive(limits: &[(&str, bool)]) -> Result<()> {
    match limits.iter().find(|(_, is_zero)| *is_zero) {
        None => Ok(()),
        Some((name, _)) => Err(Error::config(format!(
            "{name} = 0 would let nothing through; it has to be at least 1, and without the line the default holds"
        ))),
    }
}

impl RateLimits {
    fn check(&self) -> Result<()> {
        let Self {
            read,
            write,
            content,
            logs,
            open,
        } = *self;
        check_positive(&[
            ("[rate_limits] read", read == 0),
            ("[rate_limits] write", write == 0),
            ("[rate_limits] content", content == 0),
            ("[rate_limits] logs", logs == 0),
            ("[rate_limits] open", open == 0),
        ])
    }
}

impl ConnectionLimits {
    fn check(&self) -> Result<()> {
        check_positive(&[
            ("[connections] most", self.most == 0),
            ("[connections] streams", self.streams == 0),
            (
                "[connections] timeout",
                self.head.is_zero() || self.body.is_zero(),
            ),
        ])
    }
}

impl TelemetryOptions {
    fn check(&self) -> Result<()> {
        if (0.0..=1.0).contains(&self.ratio) {
            return Ok(());
        }
        Err(Error::config(format!(
            "[telemetry] ratio = {} is no part of the requests; it has to be 0.0 to 1.0",
            self.ratio
        )))
    }
}

impl RegisteredClient {
    fn check(&self) -> Result<()> {
        if self.redirect_uris.is_empty() {
            return Err(Error::config(format!(
                "[[clients]] id = \"{}\": `redirect_uris` is empty; without an address to go back to nobody can log in",
                self.id
            )));
        }
        match self.redirect_uris.iter().find(|uri| !can_redirect_to(uri)) {
            None => Ok(()),
            Some(uri) => Err(Error::config(format!(
                "[[clients]] id = \"{}\": `redirect_uris` has \"{uri}\"; an address has to begin with https://, with \
                 http:// and the name of this machine (localhost, 127.0.0.1, [::1]), or with a scheme of the \
                 application's own, and has no fragment (#)",
                self.id
            ))),
        }
    }
}

/// Returns true for an address that a code may be sent to: over TLS, or within the person's machine (RFC 8252,
/// sections 7 and 8.3).
fn can_redirect_to(uri: &str) -> bool {
    Url::parse(uri).is_ok_and(|url| {
        let is_safe = match url.scheme() {
            "https" => url.has_host(),
            "http" => matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")),
            scheme => !NO_REDIRECTS.contains(&scheme),
        };
        is_safe && url.fragment().is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn refusal(options: &Options) -> String {
        options.check().unwrap_err().to_string()
    }

    #[test]
    fn a_limit_that_lets_nothing_through_is_refused() {
        let zero = |change: fn(&mut Options)| {
            let mut options = Options::ephemeral();
            change(&mut options);
            refusal(&options)
        };
        for (refused, name) in [
            (zero(|o| o.rate_limits.read = 0), "[rate_limits] read = 0"),
            (zero(|o| o.rate_limits.write = 0), "[rate_limits] write = 0"),
            (
                zero(|o| o.rate_limits.content = 0),
                "[rate_limits] content = 0",
            ),
            (zero(|o| o.rate_limits.logs = 0), "[rate_limits] logs = 0"),
            (zero(|o| o.rate_limits.open = 0), "[rate_limits] open = 0"),
            (zero(|o| o.connections.most = 0), "[connections] most = 0"),
            (
                zero(|o| o.connections.streams = 0),
                "[connections] streams = 0",
            ),
            (
                zero(|o| o.connections.head = Duration::ZERO),
                "[connections] timeout = 0",
            ),
        ] {
            assert!(refused.contains(name), "{refused}");
        }
        assert!(Options::ephemeral().check().is_ok());
    }

    #[test]
    fn links_begin_with_a_whole_address() {
        let with = |url: &str| Options {
            public_url: Some(url.into()),
            ..Options::ephemeral()
        };
        for good in [
            "https://files.example.com",
            "https://files.example.com/",
            "http://127.0.0.1:8787",
        ] {
            assert!(with(good).check().is_ok(), "{good}");
        }
        for bad in [
            "",
            "files.example.com",
            "//files.example.com",
            "ftp://files.example.com",
            "https://",
            "https://example.com/cairn",
            "https://example.com//",
            "https://files.example.com?x=1",
            "https://files.example.com#x",
            "https://user@files.example.com",
            " https://files.example.com",
        ] {
            assert!(refusal(&with(bad)).contains("public_url"), "{bad}");
        }
    }

    #[test]
    fn an_application_has_an_address_that_a_code_may_go_to() {
        let with = |uris: &[&str]| Options {
            clients: vec![RegisteredClient {
                id: "reports".into(),
                name: None,
                redirect_uris: uris.iter().map(|uri| (*uri).to_owned()).collect(),
                secret: None,
            }],
            ..Options::ephemeral()
        };
        for good in [
            "https://reports.example.com/back",
            "http://localhost:5000/back",
            "http://127.0.0.1/back",
            "http://[::1]:7/back",
            "com.example.reports:/back",
        ] {
            assert!(with(&[good]).check().is_ok(), "{good}");
        }
        for bad in [
            "http://reports.example.com/back",
            "https://reports.example.com/back#x",
            "/back",
            "javascript:alert(1)",
            "data:text/html,x",
            "",
        ] {
            let refused = refusal(&with(&["https://reports.example.com/", bad]));
            assert!(
                refused.contains("redirect_uris") && refused.contains("reports"),
                "{refused}"
            );
        }
        assert!(refusal(&with(&[])).contains("empty"));
    }

    #[test]
    fn a_part_of_the_requests_is_between_none_and_all() {
        let with = |ratio: f64| Options {
            telemetry: Some(TelemetryOptions {
                endpoint: "http://127.0.0.1:4318".into(),
                ratio,
            }),
            ..Options::ephemeral()
        };
        for good in [0.0, 0.5, 1.0] {
            assert!(with(good).check().is_ok(), "{good}");
        }
        for bad in [-0.1, 1.5, 7.0, f64::NAN, f64::INFINITY] {
            assert!(refusal(&with(bad)).contains("ratio"), "{bad}");
        }
    }
}
