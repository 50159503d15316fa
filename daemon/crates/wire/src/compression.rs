//! zstd (RFC 8878) for what is text on the wire: heads of frames, and JSON of the service's own routes for sync.
//!
//! Ids and sealed fields are written as text there, so a quarter to a half of the bytes is saved. Contents of files are
//! never compressed here: they are sealed, and were compressed before that.

use std::io;
use zstd::bulk::{Compressor, Decompressor as Whole};
use zstd::stream::raw::{Decoder, Operation as _};

/// The name of the coding in `Accept-Encoding` and `Content-Encoding`.
pub const ZSTD: &str = "zstd";
/// Texts below this many bytes are sent as they are: they fit into a packet anyway.
pub const MIN_SIZE: usize = 1024;

/// Fast: the network of a fast line must not wait for it.
const LEVEL: i32 = 1;
/// Bytes that [`Decompressor`] makes room for at once.
const STEP: usize = 64 * 1024;

/// Compresses a text.
///
/// # Errors
/// The memory for it can't be had.
pub fn compress(text: &[u8]) -> io::Result<Vec<u8>> {
    Compressor::new(LEVEL)?.compress(text)
}

/// Decompresses one whole frame of zstd that names its length.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] for anything else, and for more than `limit` bytes.
pub fn decompress(frame: &[u8], limit: usize) -> io::Result<Vec<u8>> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let length = Whole::upper_bound(frame).ok_or_else(invalid)?;
    if length > limit {
        return Err(invalid());
    }
    let text = zstd::bulk::decompress(frame, length);
    text.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Decompresses a body as it arrives.
pub struct Decompressor {
    decoder: Decoder<'static>,
    text: Box<[u8]>,
    is_whole: bool,
}

impl Decompressor {
    /// Returns a decompressor at the start of a body.
    ///
    /// # Errors
    /// The memory for it can't be had.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            decoder: Decoder::new()?,
            text: vec![0; STEP].into(),
            is_whole: false,
        })
    }

    /// Passes the text on that the next bytes of the body stand for, in parts of at most 64 KiB. It stops where
    /// `take` returns `false`.
    ///
    /// # Errors
    /// The bytes are no zstd.
    pub fn push(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
        let mut rest = bytes;
        loop {
            let done = self.decoder.run_on_buffers(rest, &mut self.text)?;
            rest = &rest[done.bytes_read..];
            // Without bytes it tells what the next frame would begin with: HTTP/2 ends bodies with an empty piece.
            if done.bytes_read > 0 || done.bytes_written > 0 {
                self.is_whole = done.remaining == 0;
            }
            let is_full = done.bytes_written == self.text.len();
            if done.bytes_written > 0 && !take(&self.text[..done.bytes_written]) {
                return Ok(());
            }
            if !is_full && (rest.is_empty() || done.bytes_read == 0) {
                return Ok(());
            }
        }
    }

    /// Returns `true` if the body may end here.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> Vec<u8> {
        (0..40_000_u32)
            .flat_map(|n| format!("{{\"id\":{n}}},").into_bytes())
            .collect()
    }

    #[test]
    fn a_text_comes_back_whole_and_within_its_limit() {
        let text = text();
        let frame = compress(&text).unwrap();
        assert!(frame.len() * 3 < text.len(), "{}", frame.len());
        assert_eq!(decompress(&frame, text.len()).unwrap(), text);
        assert!(
            decompress(&frame, text.len() - 1).is_err(),
            "beyond the limit"
        );
        assert!(
            decompress(&frame[..frame.len() - 1], text.len()).is_err(),
            "cut short"
        );
        assert!(decompress(b"{}", 100).is_err(), "no zstd");
    }

    #[test]
    fn a_body_is_decompressed_however_it_is_cut() {
        for text in [text(), vec![7; 2 * STEP]] {
            check_pieces(&text);
        }
    }

    fn check_pieces(text: &[u8]) {
        let frame = compress(text).unwrap();
        for size in [1, 7, 1000, frame.len()] {
            let mut decompressor = Decompressor::new().unwrap();
            let mut got = Vec::new();
            for (at, part) in frame.chunks(size).enumerate() {
                assert!(!decompressor.is_whole(), "{size}: before part {at}");
                let mut take = |bytes: &[u8]| {
                    got.extend_from_slice(bytes);
                    true
                };
                decompressor.push(part, &mut take).unwrap();
            }
            assert!(decompressor.is_whole(), "{size}");
            assert_eq!(got, text, "{size}");
            decompressor.push(&[], |_| true).unwrap();
            assert!(decompressor.is_whole(), "{size}: an empty piece at the end");
        }
    }

    #[test]
    fn a_body_that_grows_without_end_is_read_as_far_as_it_is_taken() {
        let frame = compress(&vec![0; 200 << 20]).unwrap();
        let mut decompressor = Decompressor::new().unwrap();
        let mut got = 0;
        let take = |bytes: &[u8]| {
            got += bytes.len();
            got < 1 << 20
        };
        decompressor.push(&frame, take).unwrap();
        assert!(got < 2 << 20, "{got}");
    }

    #[test]
    fn other_bytes_are_refused() {
        let mut decompressor = Decompressor::new().unwrap();
        assert!(decompressor.push(b"{\"no\": \"zstd\"}", |_| true).is_err());
    }
}
