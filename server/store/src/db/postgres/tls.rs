//! TLS to the database, and the two kinds of connections that there are.

use super::super::error::{Error, Result};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, stream};
use rustls_platform_verifier::BuilderVerifierExt as _;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::{TlsConnector, client};

/// The messages of a connection, which carries its bytes as long as they are asked for.
pub(super) type Messages = BoxStream<'static, Result<AsyncMessage, tokio_postgres::Error>>;

/// Chooses a connection without TLS unless the address asks for it (`sslmode=require`): servers in private networks often
/// have certificates that nobody can check, and TLS without a checked certificate protects from nobody who can be in
/// between.
pub(super) fn choose(config: &mut Config) {
    if config.get_ssl_mode() != SslMode::Require {
        config.ssl_mode(SslMode::Disable);
    }
}

/// Connects to a database.
///
/// # Errors
/// A database that can't be reached or whose certificate is not for its name, or from nobody whom the system trusts.
pub(super) async fn connect(config: &Config) -> Result<(Client, Messages)> {
    if config.get_ssl_mode() == SslMode::Require {
        let (client, connection) = config.connect(Tls::new()?).await?;
        Ok((client, messages(connection)))
    } else {
        let (client, connection) = config.connect(NoTls).await?;
        Ok((client, messages(connection)))
    }
}

fn messages<S, T>(mut connection: Connection<S, T>) -> Messages
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    stream::poll_fn(move |context| connection.poll_message(context)).boxed()
}

/// Makes TLS connections that are checked as the system checks them.
#[derive(Clone)]
struct Tls(TlsConnector);

impl Tls {
    fn new() -> Result<Self> {
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_platform_verifier())
            .map_err(|error| Error::Connection(io::Error::other(error)))?;
        let config = config.with_no_client_auth();
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }
}

/// A TLS connection to a host.
struct ToHost(TlsConnector, ServerName<'static>);

impl<S> MakeTlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Secured<S>;
    type TlsConnect = ToHost;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<ToHost> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(ToHost(self.0.clone(), name))
    }
}

impl<S> TlsConnect<S> for ToHost
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Secured<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Secured<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let Self(connector, host) = self;
        Box::pin(async move { Ok(Secured(connector.connect(host, stream).await?)) })
    }
}

/// A connection with TLS.
struct Secured<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Secured<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Secured<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Secured<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use crate::db::{Begin, Connection};

    /// Returns true if a connection to the database of the tests has TLS.
    fn has_tls(url: &str) -> Result<bool, String> {
        let mut conn = Connection::postgres(url).map_err(|error| error.to_string())?;
        let tx = conn.transaction(Begin::Read).map_err(|e| e.to_string())?;
        let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        tx.query_row(sql, [], |row| row.get(0))
            .map_err(|error| error.to_string())
    }

    #[test]
    #[ignore = "needs PostgreSQL: `cargo xtask test --only PostgreSQL`"]
    fn tls_is_used_where_the_address_asks_for_it_and_its_certificate_is_checked() {
        // Its server has a certificate for 127.0.0.1, which `SSL_CERT_FILE` names.
        let url = std::env::var("CAIRN_TEST_POSTGRES_TLS").unwrap();
        assert_eq!(has_tls(&format!("{url}?sslmode=require")), Ok(true));
        assert_eq!(has_tls(&url), Ok(false));
        let other_name = url.replace("127.0.0.1", "localhost");
        let refusal = has_tls(&format!("{other_name}?sslmode=require")).unwrap_err();
        assert!(refusal.contains("certificate"), "{refusal}");
        assert_eq!(has_tls(&other_name), Ok(false));
    }
}
