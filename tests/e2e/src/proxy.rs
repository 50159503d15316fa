//! A TCP proxy on loopback that counts bytes and can be unplugged like a cable.

use anyhow::{Context, Result};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Forwards connections to an address, or to several in turn; stops accepting when dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    up: AtomicU64,
    down: AtomicU64,
    plugged: AtomicBool,
    stopped: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
    targets: Mutex<Vec<SocketAddr>>,
    turn: AtomicUsize,
}

impl Proxy {
    /// Listens on a free port and forwards to `target`.
    ///
    /// # Errors
    /// No port is free.
    pub fn start(target: SocketAddr) -> Result<Self> {
        Self::start_over(vec![target])
    }

    /// Listens on a free port and forwards each connection to the next of `targets`.
    ///
    /// # Errors
    /// No port is free.
    pub fn start_over(targets: Vec<SocketAddr>) -> Result<Self> {
        Self::start_at(IpAddr::V4(Ipv4Addr::LOCALHOST), targets)
    }

    /// Listens on a free port of another address of this machine.
    ///
    /// # Errors
    /// The machine has no such address, or no port is free.
    pub fn start_at(listen: IpAddr, targets: Vec<SocketAddr>) -> Result<Self> {
        let listener = TcpListener::bind((listen, 0)).context("no free port for a proxy")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            up: AtomicU64::new(0),
            down: AtomicU64::new(0),
            plugged: AtomicBool::new(true),
            stopped: AtomicBool::new(false),
            open: Mutex::new(Vec::new()),
            targets: Mutex::new(targets),
            turn: AtomicUsize::new(0),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming() {
                if accepting.stopped.load(Ordering::SeqCst) {
                    break;
                }
                if let Ok(client) = client
                    && accepting.plugged.load(Ordering::SeqCst)
                {
                    // A connection that can't be made is closed, as a dead server's would be.
                    let _ = forward(client, &accepting);
                }
            }
        });
        Ok(Self { address, shared })
    }

    /// Forwards the connections to come to other addresses.
    pub fn forward_to(&self, targets: Vec<SocketAddr>) {
        let mut all = self
            .shared
            .targets
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *all = targets;
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Bytes towards the server so far.
    #[must_use]
    pub fn up(&self) -> u64 {
        self.shared.up.load(Ordering::SeqCst)
    }

    /// Bytes from the server so far.
    #[must_use]
    pub fn down(&self) -> u64 {
        self.shared.down.load(Ordering::SeqCst)
    }

    /// Bytes both ways so far.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.up() + self.down()
    }

    /// Breaks all connections and refuses new ones until [`Proxy::plug`].
    pub fn unplug(&self) {
        self.shared.plugged.store(false, Ordering::SeqCst);
        let mut open = self
            .shared
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for stream in open.drain(..) {
            // It may have ended by itself.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Lets connections through again.
    pub fn plug(&self) {
        self.shared.plugged.store(true, Ordering::SeqCst);
    }
}

impl Shared {
    fn next_target(&self) -> io::Result<SocketAddr> {
        let turn = self.turn.fetch_add(1, Ordering::SeqCst);
        let targets = self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        let next = targets.get(turn % targets.len().max(1));
        next.copied()
            .ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.unplug();
        // Wakes the accepting thread, which then ends.
        let _ = TcpStream::connect(self.address);
    }
}

fn forward(client: TcpStream, shared: &Arc<Shared>) -> io::Result<()> {
    let server = TcpStream::connect(shared.next_target()?)?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    {
        let mut open = shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.push(client.try_clone()?);
        open.push(server.try_clone()?);
    }
    let (from, to, counted) = (client.try_clone()?, server.try_clone()?, Arc::clone(shared));
    thread::spawn(move || pump(from, to, &counted.up));
    let counted = Arc::clone(shared);
    thread::spawn(move || pump(server, client, &counted.down));
    Ok(())
}

fn pump(mut from: TcpStream, mut to: TcpStream, counter: &AtomicU64) {
    let mut piece = vec![0; 256 * 1024];
    while let Ok(read @ 1..) = from.read(&mut piece) {
        // Before they are passed on: whoever has the response finds the question counted.
        counter.fetch_add(read as u64, Ordering::SeqCst);
        if to.write_all(&piece[..read]).is_err() {
            break;
        }
    }
    // The other direction may be closed already.
    let _ = to.shutdown(Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_and_an_unplugged_proxy_lets_none_through() {
        let echo = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = echo.local_addr().unwrap();
        thread::spawn(move || {
            for stream in echo.incoming() {
                let mut stream = stream.unwrap();
                let mut bytes = [0; 4];
                while stream.read_exact(&mut bytes).is_ok() {
                    stream.write_all(b"answer").unwrap();
                }
            }
        });
        let proxy = Proxy::start(target).unwrap();
        let mut client = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
        client.write_all(b"ping").unwrap();
        let mut response = [0; 6];
        client.read_exact(&mut response).unwrap();
        assert_eq!((&response, proxy.up()), (b"answer", 4));
        proxy.unplug();
        assert!(matches!(client.read(&mut response), Ok(0) | Err(_)));
        let mut refused = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
        assert!(matches!(refused.read(&mut response), Ok(0) | Err(_)));
    }
}
