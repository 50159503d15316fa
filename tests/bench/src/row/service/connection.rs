//! Connections that send one request after the other, as fast as they are answered.

use anyhow::{Result, bail};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// The connections at once.
const CONNECTIONS: usize = 16;
/// The time for which they ask.
pub(super) const SPAN: Duration = Duration::from_secs(5);

/// A kept connection to one server.
pub(super) struct Connection {
    /// One handle both to send and to read: ten thousand of them are open at once.
    responses: BufReader<TcpStream>,
    body: Vec<u8>,
}

impl Connection {
    pub(super) fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            responses: BufReader::new(stream),
            body: Vec::new(),
        })
    }

    /// Sends a request and returns the body of its answer.
    ///
    /// # Errors
    /// Any answer but a good one.
    pub(super) fn ask(&mut self, request: &[u8]) -> Result<&[u8]> {
        self.send(request)?;
        let length = self.head()?;
        self.body.clear();
        if !request.starts_with(b"HEAD ") {
            self.body.resize(length, 0);
            self.responses.read_exact(&mut self.body)?;
        }
        Ok(&self.body)
    }

    /// Reads the head of a good response; returns the length of its body.
    pub(super) fn head(&mut self) -> Result<usize> {
        let mut line = String::new();
        self.responses.read_line(&mut line)?;
        if !line.starts_with("HTTP/1.1 20") {
            let mut rest = vec![0; 4096];
            let length = self.responses.read(&mut rest)?;
            let rest = String::from_utf8_lossy(&rest[..length]).into_owned();
            bail!("the answer is `{}`: {rest}", line.trim());
        }
        let mut length = 0;
        loop {
            let line = self.line()?.trim().to_ascii_lowercase();
            if line.is_empty() {
                return Ok(length);
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
    }

    /// Reads a line of the answer.
    pub(super) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.responses.read_line(&mut line)? == 0 {
            bail!("the answer broke off");
        }
        Ok(line)
    }

    pub(super) fn send(&mut self, request: &[u8]) -> Result<()> {
        Ok(self.responses.get_mut().write_all(request)?)
    }
}

/// Returns a request without a body, of whoever has the key.
pub(super) fn request(key: &str, method: &str, path: &str) -> Vec<u8> {
    with_body(key, &format!("{method} {path} HTTP/1.1"), &[])
}

/// Returns a request with a body; `line` may be followed by lines of its own.
pub(super) fn with_body(key: &str, line: &str, body: &[u8]) -> Vec<u8> {
    let mut head = format!("{line}\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\n");
    if !body.is_empty() {
        head.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}

/// Runs `work` for each of the connections, which are spread over the ports, until all have ended; returns the sum of
/// what they return for each second. `work` has the number of its connection and the time at which it ends.
pub(super) fn per_second(
    ports: &[u16],
    work: impl Fn(&mut Connection, usize, Instant) -> Result<usize> + Sync,
) -> Result<f64> {
    let begun = Instant::now();
    let counts: Vec<Result<usize>> = thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = ports
            .iter()
            .cycle()
            .take(CONNECTIONS)
            .enumerate()
            .map(|(number, port)| {
                scope.spawn(move || work(&mut Connection::open(*port)?, number, begun + SPAN))
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| bail!("a client panicked")))
            .collect()
    });
    let took = begun.elapsed().as_secs_f64();
    let done: usize = counts.into_iter().sum::<Result<usize>>()?;
    Ok(done as f64 / took)
}
