//! OAuth clients: applications that may ask people to log in, with their redirect addresses.

use crate::error::{Error, Result};
use crate::options::RegisteredClient;
use reqwest::Url;
use sha2::{Digest as _, Sha256};

/// The id of Cairn's own applications.
pub(crate) const CAIRN: &str = "cairn";

/// An OAuth client.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) id: String,
    pub(crate) name: String,
    redirects: Redirects,
    /// SHA-256 of the secret of a confidential client.
    secret: Option<[u8; 32]>,
}

#[derive(Clone, Debug)]
enum Redirects {
    /// The loopback interface of the person's machine, at any port (RFC 8252, section 7.3).
    Loopback,
    /// Exactly these; those on the loopback interface at any port.
    Listed(Vec<String>),
}

/// Returns the address without its port if it is one of the person's own machine: applications there listen at a free
/// port (RFC 8252, section 7.3).
fn loopback_at_any_port(address: &str) -> Option<Url> {
    let mut url = Url::parse(address).ok()?;
    let is_loopback =
        url.scheme() == "http" && matches!(url.host_str(), Some("127.0.0.1" | "[::1]"));
    if !is_loopback {
        return None;
    }
    url.set_port(None).ok()?;
    Some(url)
}

/// Returns true if a registered address allows one that a request names.
fn allows(registered: &str, asked: &str) -> bool {
    registered == asked
        || loopback_at_any_port(asked)
            .is_some_and(|asked| loopback_at_any_port(registered).is_some_and(|url| url == asked))
}

/// Returns Cairn's own client and those of the configuration.
///
/// # Errors
/// Two have one id: only the first would ever be found.
pub(crate) fn all_clients(registered: &[RegisteredClient]) -> Result<Vec<Client>> {
    let own = Client {
        id: CAIRN.into(),
        name: "Cairn".into(),
        redirects: Redirects::Loopback,
        secret: None,
    };
    let others = registered.iter().map(|client| Client {
        id: client.id.clone(),
        name: client.name.clone().unwrap_or_else(|| client.id.clone()),
        redirects: Redirects::Listed(client.redirect_uris.clone()),
        secret: client
            .secret
            .as_ref()
            .map(|text| Sha256::digest(text).into()),
    });
    let clients: Vec<Client> = std::iter::once(own).chain(others).collect();
    for (n, client) in clients.iter().enumerate() {
        if clients[..n].iter().any(|other| other.id == client.id) {
            return Err(Error::config(format!(
                "[[clients]]: the id `{}` is taken; choose another",
                client.id
            )));
        }
    }
    Ok(clients)
}

impl Client {
    /// Returns true if responses may go to an address.
    pub(crate) fn may_redirect_to(&self, uri: &str) -> bool {
        match &self.redirects {
            Redirects::Listed(uris) => uris.iter().any(|known| allows(known, uri)),
            Redirects::Loopback => Url::parse(uri).is_ok_and(|url| {
                let host = matches!(url.host_str(), Some("127.0.0.1" | "[::1]"));
                url.scheme() == "http"
                    && host
                    && url.path() == "/callback"
                    && url.query().is_none()
                    && url.fragment().is_none()
                    && url.username().is_empty()
                    && url.password().is_none()
            }),
        }
    }

    /// Returns true if a request came from the client: a public one has nothing to prove.
    pub(crate) fn is_proven_by(&self, secret: Option<&str>) -> bool {
        match (self.secret, secret) {
            (None, None) => true,
            // Comparing hashes tells nothing of how far a guess was right.
            (Some(known), Some(given)) => <[u8; 32]>::from(Sha256::digest(given)) == known,
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_client_redirects_to_the_loopback_interface_only() {
        let clients = all_clients(&[]).unwrap();
        for good in ["http://127.0.0.1:5000/callback", "http://[::1]:1/callback"] {
            assert!(clients[0].may_redirect_to(good), "{good}");
        }
        for bad in [
            "http://localhost:5000/callback",
            "https://127.0.0.1:5000/callback",
            "http://127.0.0.1.evil.test/callback",
            "http://evil@127.0.0.1/callback",
            "http://127.0.0.1:5000/other",
            "http://127.0.0.1:5000/callback?x=1",
            "http://127.0.0.1:5000/callback#x",
            "http://example.com/callback",
            "javascript:alert(1)",
            "",
        ] {
            assert!(!clients[0].may_redirect_to(bad), "{bad}");
        }
        assert!(clients[0].is_proven_by(None));
        assert!(!clients[0].is_proven_by(Some("x")));
    }

    #[test]
    fn an_id_belongs_to_one_client() {
        let client = |id: &str| RegisteredClient {
            id: id.into(),
            name: None,
            redirect_uris: vec![],
            secret: None,
        };
        assert!(all_clients(&[client("a"), client("b")]).is_ok());
        for taken in [vec![client(CAIRN)], vec![client("a"), client("a")]] {
            let error = all_clients(&taken).unwrap_err().to_string();
            assert!(error.contains("is taken"), "{error}");
        }
    }

    #[test]
    fn a_registered_address_on_the_loopback_interface_is_good_at_any_port() {
        let addresses = [
            "http://127.0.0.1/cb",
            "http://[::1]:7/cb?x=1",
            "http://localhost:5000/cb",
            "https://127.0.0.1/cb",
        ];
        let clients = all_clients(&[RegisteredClient {
            id: "native".into(),
            name: None,
            redirect_uris: addresses.map(str::to_owned).to_vec(),
            secret: None,
        }])
        .unwrap();
        let good = [
            "http://127.0.0.1:9999/cb",
            "http://127.0.0.1:80/cb",
            "http://[::1]/cb?x=1",
            "http://[::1]:9/cb?x=1",
        ];
        for good in good.iter().chain(&addresses) {
            assert!(clients[1].may_redirect_to(good), "{good}");
        }
        for bad in [
            "http://127.0.0.1:9999/other",
            "http://127.0.0.1:9999/cb?x=1",
            "http://127.0.0.1:9999/cb#x",
            "http://evil@127.0.0.1:9999/cb",
            "http://127.0.0.1.evil.test:9999/cb",
            "http://127.0.0.2:9999/cb",
            "http://[::1]:9/cb",
            // A name and TLS are compared as texts.
            "http://localhost:5001/cb",
            "https://127.0.0.1:9999/cb",
        ] {
            assert!(!clients[1].may_redirect_to(bad), "{bad}");
        }
    }

    #[test]
    fn a_registered_client_redirects_to_exactly_its_addresses_and_proves_itself() {
        let clients = all_clients(&[RegisteredClient {
            id: "app".into(),
            name: None,
            redirect_uris: vec!["https://app.test/back".into()],
            secret: Some("s3".into()),
        }])
        .unwrap();
        assert!(clients[1].may_redirect_to("https://app.test/back"));
        assert!(!clients[1].may_redirect_to("https://app.test/back/"));
        assert!(clients[1].is_proven_by(Some("s3")));
        assert!(!clients[1].is_proven_by(Some("s4")));
        assert!(!clients[1].is_proven_by(None));
    }
}
