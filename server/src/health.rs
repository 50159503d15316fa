//! Asks a running server whether it is ready: the health check of a container that has no other program.

use anyhow::{Context as _, Result, bail};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The longest wait for the connection, and for the response.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The start of a response is enough: the head of a short one, and the reason in its body.
const MAX_RESPONSE: u64 = 4096;
const REQUEST: &[u8] =
    b"GET /api/v1/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Succeeds if the server at an address is ready for requests.
///
/// # Errors
/// There is no server, or it says why it is not ready.
pub(crate) fn ask(address: SocketAddr) -> Result<()> {
    let response = request(address)
        .with_context(|| format!("no server answers at {address}; check --address"))?;
    let status = response.split(' ').nth(1).unwrap_or_default();
    if status == "200" {
        return Ok(());
    }
    let (_, reason) = response.split_once("\r\n\r\n").unwrap_or_default();
    bail!("the server at {address} is not ready: {status} {reason}")
}

fn request(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.write_all(REQUEST)?;
    let mut response = Vec::new();
    stream.take(MAX_RESPONSE).read_to_end(&mut response)?;
    Ok(String::from_utf8_lossy(&response).into_owned())
}
