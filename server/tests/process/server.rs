//! A running `cairn-server`, and requests to it over real sockets.

use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// A started server; dropping it kills it.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

/// A response as it came over the wire.
#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl TestResponse {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }
}

/// The command line of the binary.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn-server"));
    command
        .args(args)
        .env_remove("CAIRN_SERVER_DATA")
        .env_remove("CAIRN_LOG");
    command
}

pub(crate) fn run(args: &[&str], stdin: &str) -> Output {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(stdin.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

impl Server {
    /// Starts a server and waits until it says that it listens.
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::spawn(command(&["--listen", "127.0.0.1:0"]).args(args))
    }

    /// The same; the log can be read once the server has ended.
    pub(crate) fn start_with_log(args: &[&str]) -> (Self, impl FnOnce() -> String + use<>) {
        let mut command = command(&["--listen", "127.0.0.1:0"]);
        let mut server = Self::spawn(command.args(args).stderr(Stdio::piped()));
        let stderr = server.child.stderr.take().unwrap();
        (server, move || std::io::read_to_string(stderr).unwrap())
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .strip_prefix("cairn-server listening on http://")
            .and_then(|rest| rest.strip_suffix('\n'))
            .unwrap_or_else(|| panic!("said {line:?}"))
            .to_owned();
        Self { child, address }
    }

    pub(crate) fn on(data: &Path) -> Self {
        Self::start(&["--dev", "--data", data.to_str().unwrap()])
    }

    /// Ends the process as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends the process as `kill` does, and tells whether it ended well.
    pub(crate) fn terminate(mut self) -> bool {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").arg(&pid).status().unwrap().success());
        self.child.wait().unwrap().success()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    /// Sends one request of the owner's on a connection of its own.
    pub(crate) fn call(&self, method: &str, path: &str, body: &[u8]) -> TestResponse {
        self.try_call(method, path, body).unwrap()
    }

    /// The same, for a server that may go away meanwhile.
    pub(crate) fn try_call(
        &self,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> std::io::Result<TestResponse> {
        request(&self.address, method, path, body)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail where it has ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Sends one request to an address and reads the response to its end.
pub(crate) fn request(
    address: &str,
    method: &str,
    path: &str,
    body: &[u8],
) -> std::io::Result<TestResponse> {
    let mut stream = TcpStream::connect(address)?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer ck_dev_owner\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    parse(&all)
}

fn parse(all: &[u8]) -> std::io::Result<TestResponse> {
    let cut = || std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the answer is cut short");
    let end = all
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .ok_or_else(cut)?;
    let head = String::from_utf8_lossy(&all[..end]).to_lowercase();
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|text| text.parse().ok())
        .ok_or_else(cut)?;
    let body = all[end + 4..].to_vec();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map(|n| n.parse::<usize>());
    if let Some(Ok(length)) = length
        && length != body.len()
    {
        return Err(cut());
    }
    Ok(TestResponse { status, body })
}
