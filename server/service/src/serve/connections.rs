//! Connections: how many at once, and how long one may say or take nothing.
//!
//! HTTP/1.1 only: telling it from HTTP/2 without TLS would mean to wait for a first line without a
//! limit. A proxy in front speaks HTTP/2 with the world.

use super::head_errors::{Connection, InFlight};
use super::writes::WriteLimit;
use super::{bodies, vanished};
use crate::state::AppState;
use axum::extract::ConnectInfo;
use axum::middleware::from_fn_with_state;
use axum::{Extension, Router};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::Layer as _;
use tower::util::MapResponse;

/// The longest head of a request that is read.
const MAX_HEAD: usize = 64 * 1024;
/// After an error that is not the connection's, such as too many open files.
const PAUSE: Duration = Duration::from_millis(200);

/// Serves connections until `closing` says so and all requests on their way are answered.
pub(super) async fn serve(listener: TcpListener, router: Router, state: AppState) {
    let (limits, mut closing) = (state.options.connections, state.closing.subscribe());
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(MAX_HEAD);
    let router = router.layer(from_fn_with_state(limits.body, bodies::limit));
    let places = Arc::new(Semaphore::new(limits.most.min(Semaphore::MAX_PERMITS)));
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &places, limits.body) => accepted,
            // An error means that the app is gone, which is an end, too.
            _ = closing.wait_for(|closing| *closing) => break,
        };
        let Some((stream, peer, place)) = accepted else {
            continue;
        };
        let in_flight = InFlight::default();
        let writes = WriteLimit::new(limits.body);
        let source = state.source.clone();
        let stream = Connection::new(stream, writes, in_flight.clone(), source);
        let service = Extension(ConnectInfo(peer)).layer(router.clone());
        let service = MapResponse::new(service, move |response| in_flight.watch(response));
        let service = TowerToHyperService::new(service);
        let connection = builder
            .serve_connection(TokioIo::new(stream), service)
            .into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke");
            }
            drop(place);
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

/// Waits for a place, then for a connection: beyond the most at once, the system's queue holds them.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
    limit: Duration,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "can't set TCP_NODELAY");
            }
            if let Err(error) = vanished::give_up(&stream, limit) {
                tracing::debug!(%error, "can't set how long a client may be silent");
            }
            Some((stream, peer, place))
        }
        Err(error) if is_the_peers(&error) => None,
        Err(error) => {
            tracing::warn!(%error, "can't accept a connection");
            tokio::time::sleep(PAUSE).await;
            None
        }
    }
}

fn is_the_peers(error: &io::Error) -> bool {
    [
        io::ErrorKind::ConnectionRefused,
        io::ErrorKind::ConnectionAborted,
        io::ErrorKind::ConnectionReset,
    ]
    .contains(&error.kind())
}
