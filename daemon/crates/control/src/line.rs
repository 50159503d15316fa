//! One JSON document per line, with a bound on its length.

use serde::{Serialize, de::DeserializeOwned};
use std::io;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// A status of thousands of problems fits; an endless line doesn't.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// Reads one line; `None` at the end.
pub(crate) async fn read<T: DeserializeOwned>(
    from: &mut (impl AsyncBufRead + Unpin),
) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    loop {
        let part = from.fill_buf().await?;
        if part.is_empty() {
            // A line that was cut short is none.
            return Ok(None);
        }
        let (taken, complete) = match part.iter().position(|b| *b == b'\n') {
            Some(end) => (end, true),
            None => (part.len(), false),
        };
        if line.len() + taken > MAX_LINE {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a line is too long",
            ));
        }
        line.extend_from_slice(&part[..taken]);
        from.consume(taken + usize::from(complete));
        if complete {
            return serde_json::from_slice(&line)
                .map(Some)
                .map_err(io::Error::from);
        }
    }
}

/// Writes one line.
pub(crate) async fn write<T: Serialize>(
    to: &mut (impl AsyncWrite + Unpin),
    value: &T,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line).await?;
    to.flush().await
}
