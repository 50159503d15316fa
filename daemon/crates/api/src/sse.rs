//! Server-sent events (WHATWG HTML, section 9.2): bytes in, events out.

use crate::counters::Counters;
use crate::error::ApiError;
use crate::transport::{BodyStream, TransportError};
use bytes::{Buf as _, BytesMut};
use futures_util::StreamExt as _;
use std::sync::Arc;

/// One event with a page of 1,000 nodes stays far below it.
const MAX_EVENT: usize = 16 * 1024 * 1024;

/// One event that has data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// `message` unless the server named it.
    pub(crate) name: String,
    pub(crate) data: String,
}

/// The events of a response body.
pub(crate) struct Events {
    body: BodyStream,
    counters: Arc<Counters>,
    buffer: BytesMut,
    /// The index at which the search for the next line end goes on.
    searched: usize,
    name: String,
    data: String,
}

impl Events {
    pub(crate) fn new(body: BodyStream, counters: Arc<Counters>) -> Self {
        Self {
            body,
            counters,
            buffer: BytesMut::new(),
            searched: 0,
            name: String::new(),
            data: String::new(),
        }
    }

    /// Returns the next event; `None` when the body has ended.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, ApiError> {
        loop {
            while let Some(line) = self.line()? {
                if let Some(event) = self.add_line(&line) {
                    return Ok(Some(event));
                }
            }
            if self.buffer.len() + self.data.len() > MAX_EVENT {
                return Err(ApiError::Protocol(format!(
                    "an event has more than {MAX_EVENT} bytes"
                )));
            }
            match self.body.next().await {
                Some(Ok(part)) => {
                    self.counters.add_received(part.len());
                    self.buffer.extend_from_slice(&part);
                }
                Some(Err(
                    TransportError::Connect(text)
                    | TransportError::Interrupted(text)
                    | TransportError::Silent(text),
                )) => {
                    return Err(ApiError::Offline(text));
                }
                Some(Err(TransportError::Invalid(text))) => return Err(ApiError::Protocol(text)),
                None => return Ok(None),
            }
        }
    }

    /// Takes one line out of the buffer, without its end (LF or CR LF).
    fn line(&mut self) -> Result<Option<String>, ApiError> {
        let Some(found) = self.buffer[self.searched..]
            .iter()
            .position(|b| *b == b'\n')
        else {
            self.searched = self.buffer.len();
            return Ok(None);
        };
        let mut line = self.buffer.split_to(self.searched + found);
        self.buffer.advance(1);
        self.searched = 0;
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        String::from_utf8(line.to_vec())
            .map(Some)
            .map_err(|_| ApiError::Protocol("the event stream is not UTF-8".into()))
    }

    /// Adds one line; an empty one completes an event.
    fn add_line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let mut data = std::mem::take(&mut self.data);
            if data.is_empty() {
                return None;
            }
            data.pop();
            let name = if name.is_empty() {
                "message".to_owned()
            } else {
                name
            };
            return Some(Event { name, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            // Comments keep the connection alive; the id is in the data too.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn events(parts: &[&'static str]) -> Events {
        let parts: Vec<_> = parts
            .iter()
            .map(|p| Ok(Bytes::from_static(p.as_bytes())))
            .collect();
        Events::new(futures_util::stream::iter(parts).boxed(), Arc::default())
    }

    #[tokio::test]
    async fn events_survive_any_cut_of_the_stream() {
        let mut stream = events(&[
            ": hi\n\nev",
            "ent: change\r",
            "\nid: 7\ndata: {\"a\":\ndata:1}\r\n\r",
            "\ndata: x\n\n",
        ]);
        let first = stream.next().await.unwrap().unwrap();
        assert_eq!(
            first,
            Event {
                name: "change".into(),
                data: "{\"a\":\n1}".into()
            }
        );
        let second = stream.next().await.unwrap().unwrap();
        assert_eq!(
            second,
            Event {
                name: "message".into(),
                data: "x".into()
            }
        );
        assert_eq!(stream.next().await.unwrap(), None);
        assert_eq!(stream.counters.snapshot().received, 59);
    }

    #[tokio::test]
    async fn an_event_without_its_empty_line_is_none() {
        assert_eq!(events(&["data: half\n"]).next().await.unwrap(), None);
    }

    #[tokio::test]
    async fn an_endless_line_is_refused() {
        let part = Bytes::from(vec![b'x'; 1024 * 1024]);
        let endless = futures_util::stream::repeat_with(move || Ok(part.clone())).boxed();
        let mut stream = Events::new(endless, Arc::default());
        assert!(matches!(stream.next().await, Err(ApiError::Protocol(_))));
    }
}
