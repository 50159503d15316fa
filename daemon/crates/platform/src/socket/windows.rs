//! Named pipes. The default access list lets only this user, administrators and the system write.

use crate::Home;
use interprocess::local_socket::tokio::prelude::*;
use interprocess::local_socket::{GenericNamespaced, ListenerOptions, Name};
use std::io;
use std::path::Path;

pub(super) type Stream = interprocess::local_socket::tokio::Stream;

#[derive(Debug)]
pub(super) struct Listener {
    listener: interprocess::local_socket::tokio::Listener,
}

impl Listener {
    pub(super) fn bind(path: &Path) -> io::Result<Self> {
        let listener = ListenerOptions::new().name(name(path)?).create_tokio()?;
        Ok(Self { listener })
    }

    pub(super) async fn accept(&self) -> io::Result<Option<Stream>> {
        self.listener.accept().await.map(Some)
    }
}

pub(super) async fn connect(path: &Path) -> io::Result<Stream> {
    Stream::connect(name(path)?).await
}

/// Pipes live in a flat space of names: the path is told by its hash.
fn name(path: &Path) -> io::Result<Name<'static>> {
    let dir = path.parent().unwrap_or(path);
    format!("cairn-{}", Home::at(dir).tag()).to_ns_name::<GenericNamespaced>()
}
