//! The same server over HTTP, for protocol test suites that speak nothing else. It authenticates nobody,
//! so it is behind a feature that no released program enables.

use super::Server;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::io;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Pages of this machine; a page from elsewhere has another origin, whatever its name resolves to.
const ORIGINS: [&str; 2] = ["http://127.0.0.1:*", "http://localhost:*"];

impl Server {
    /// Serves every client that connects, in the protocol's streamable HTTP, until accepting fails.
    /// Requests for another host than this machine, or from another origin, are refused.
    ///
    /// # Errors
    /// The error of the listener.
    pub async fn serve_http(self, listener: TcpListener) -> io::Result<()> {
        let handler = Arc::new(self.handler);
        let service = TowerToHyperService::new(StreamableHttpService::new(
            move || Ok(handler.clone()),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default().with_allowed_origins(ORIGINS),
        ));
        loop {
            let (stream, _) = listener.accept().await?;
            let service = service.clone();
            tokio::spawn(async move {
                let builder = Builder::new(TokioExecutor::new());
                let served = builder
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
                if let Err(error) = served {
                    tracing::debug!(%error, "the connection ended with an error");
                }
            });
        }
    }
}
