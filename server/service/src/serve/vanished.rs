//! Ends connections whose client has vanished: the one place of the service that asks for the system.
//!
//! Nothing says that a device was switched off or left its network. On its own the system goes on for a quarter of an
//! hour with what it has sent, and for ever if it has sent nothing; the connection and its stream keep their places.

use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::time::Duration;
use tokio::net::TcpStream;

/// The time without a sign of a client after which the system asks whether it is there.
const SILENCE: Duration = Duration::from_secs(60);
const PROBE_EVERY: Duration = Duration::from_secs(15);

/// Has the system give up a connection whose client says nothing, or confirms nothing. `limit` is the time that a write
/// may wait.
pub(super) fn give_up(stream: &TcpStream, limit: Duration) -> io::Result<()> {
    let socket = SockRef::from(stream);
    let probes = TcpKeepalive::new()
        .with_time(SILENCE)
        .with_interval(PROBE_EVERY);
    socket.set_tcp_keepalive(&probes)?;
    // A client that takes nothing is given up by the same clock, which must not come before the limit.
    end_unconfirmed(&socket, limit.max(SILENCE))
}

/// Has a connection end on which sent bytes are confirmed by nobody for so long.
#[cfg(target_os = "linux")]
fn end_unconfirmed(socket: &SockRef<'_>, after: Duration) -> io::Result<()> {
    socket.set_tcp_user_timeout(Some(after))
}

/// Leaves it to the system how long it repeats what nobody confirms.
#[cfg(not(target_os = "linux"))]
fn end_unconfirmed(_: &SockRef<'_>, _: Duration) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn the_system_looks_after_a_client_that_says_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await;
        for (limit, expected) in [(1, 60), (90, 90)] {
            let stream = client.as_ref().unwrap();
            give_up(stream, Duration::from_secs(limit)).unwrap();
            let socket = SockRef::from(stream);
            assert!(socket.keepalive().unwrap());
            assert_eq!(socket.tcp_keepalive_time().unwrap(), SILENCE);
            let expected = Duration::from_secs(expected);
            assert_eq!(socket.tcp_user_timeout().unwrap(), Some(expected));
        }
    }
}
