//! The port on this machine that a browser comes back to after a login (RFC 8252, section 7.3).
//!
//! It serves one address, accepts the request with the right `state`, and ends.

use crate::failure::{CommandResult, Context as _, Exit, Failure};
use std::io;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The head of a browser's request is shorter.
const MAX_HEAD: usize = 16 * 1024;
const DONE: &str = "You are logged in. You can close this page and go back to Cairn.";
const REFUSED: &str = "The login did not succeed. Go back to Cairn to see why.";
const UNKNOWN: &str = "There is nothing here.";

/// A listening port.
pub(super) struct Callback {
    listener: TcpListener,
    address: String,
}

/// A request to the port.
enum Visit {
    Code(String),
    Refused(String),
    /// A favicon, a scanner, an old tab.
    Other,
}

impl Callback {
    pub(super) async fn listen() -> CommandResult<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .context("listen for the browser (use --device-code instead)")?;
        let port = listener
            .local_addr()
            .context("listen for the browser")?
            .port();
        Ok(Self {
            listener,
            address: format!("http://127.0.0.1:{port}/callback"),
        })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Waits for the browser to come back, and returns the code that it brings.
    pub(super) async fn authorization_code(
        &self,
        state: &str,
        issuer: &str,
    ) -> CommandResult<String> {
        loop {
            let (mut stream, _) = self
                .listener
                .accept()
                .await
                .context("listen for the browser")?;
            // One that says nothing must not keep the browser waiting.
            let reading =
                tokio::time::timeout(std::time::Duration::from_secs(5), head(&mut stream));
            let Ok(Ok(head)) = reading.await else {
                continue;
            };
            let visit = visit(&head, state, issuer);
            let (status, text) = match &visit {
                Visit::Code(_) => ("200 OK", DONE),
                Visit::Refused(_) => ("400 Bad Request", REFUSED),
                Visit::Other => ("404 Not Found", UNKNOWN),
            };
            // The browser may have gone away; what it brought counts all the same.
            drop(respond(&mut stream, status, text).await);
            match visit {
                Visit::Code(code) => return Ok(code),
                Visit::Refused(why) => {
                    let text = format!("can't log in: {why}");
                    return Err(Failure::new(Exit::NotLoggedIn, text));
                }
                Visit::Other => {}
            }
        }
    }
}

async fn head(stream: &mut TcpStream) -> io::Result<String> {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|part| part == b"\r\n\r\n") {
        if bytes.len() > MAX_HEAD || stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::Error::other("no request"));
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn visit(head: &str, state: &str, issuer: &str) -> Visit {
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    let (Some("GET"), Some(target)) = (words.next(), words.next()) else {
        return Visit::Other;
    };
    let Some(query) = target.strip_prefix("/callback?") else {
        return Visit::Other;
    };
    let Ok(pairs) = cairn_api::query_pairs(query) else {
        return Visit::Other;
    };
    let value = |name: &str| {
        let found = pairs.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    };
    // Anyone can send the browser here; who does not know the state was not sent by us.
    if value("state") != Some(state) {
        return Visit::Other;
    }
    if value("iss").is_some_and(|other| other != issuer) {
        return Visit::Refused("the response came from another server".into());
    }
    match (value("code"), value("error")) {
        (Some(code), None) => Visit::Code(code.to_owned()),
        (_, Some("access_denied")) => Visit::Refused("it was cancelled in the browser".into()),
        (_, error) => {
            let text: String = value("error_description")
                .or(error)
                .unwrap_or("the response is empty")
                .chars()
                .filter(|c| !c.is_control())
                .take(200)
                .collect();
            Visit::Refused(text)
        }
    }
}

async fn respond(stream: &mut TcpStream, status: &str, text: &str) -> io::Result<()> {
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Cairn</title></head>\
         <body><p>{text}</p></body></html>"
    );
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Content-Security-Policy: default-src 'none'\r\nReferrer-Policy: no-referrer\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n",
        page.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(page.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn browse(callback: &Callback, target: &str) -> String {
        let address = callback.address.trim_start_matches("http://");
        let place = address.trim_end_matches("/callback");
        let mut stream = TcpStream::connect(place).await.unwrap();
        let request = format!("GET {target} HTTP/1.1\r\nHost: {place}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response.split(' ').nth(1).unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn only_the_response_with_our_state_counts() {
        let callback = Callback::listen().await.unwrap();
        let visits = async {
            let mut seen = Vec::new();
            for target in [
                "/favicon.ico",
                "/callback?code=stolen",
                "/callback?code=stolen&state=guessed",
                "/callback?code=c%2Fd&state=s&iss=http%3A%2F%2Fx",
            ] {
                seen.push(browse(&callback, target).await);
            }
            seen
        };
        let (code, seen) = tokio::join!(callback.authorization_code("s", "http://x"), visits);
        assert_eq!(code.unwrap(), "c/d");
        assert_eq!(seen, ["404", "404", "404", "200"]);
    }

    #[tokio::test]
    async fn a_refusal_or_another_servers_response_ends_the_login() {
        for (target, words) in [
            ("/callback?error=access_denied&state=s", "cancelled"),
            ("/callback?error=x&error_description=a%0Ab&state=s", "ab"),
            (
                "/callback?code=c&state=s&iss=http%3A%2F%2Fevil",
                "another server",
            ),
            ("/callback?state=s", "empty"),
        ] {
            let callback = Callback::listen().await.unwrap();
            let (response, seen) = tokio::join!(
                callback.authorization_code("s", "http://x"),
                browse(&callback, target)
            );
            assert_eq!(seen, "400");
            let reported = response.unwrap_err().to_string();
            assert!(reported.contains(words), "{reported}");
        }
    }
}
