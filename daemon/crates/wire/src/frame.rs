//! Frames: a JSON head and raw bytes in one body, so that sealed chunks don't pay for base64.
//!
//! Layout: `u32` big-endian length of the head, the head as JSON, the payload to the end. The highest bit of the length
//! says that the head is compressed ([`crate::compression`]).

use crate::compression::{self, MIN_SIZE};
use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

/// The media type of a frame.
pub const MEDIA_TYPE: &str = "application/vnd.cairn.frame";

/// The largest head: 256 files with manifests of one chunk each need about 400 kB.
pub const MAX_HEAD: usize = 4 * 1024 * 1024;

/// The bit of the length that says that the head is compressed.
const COMPRESSED: u32 = 1 << 31;

/// Parts below this many bytes are cheaper to copy than to send one by one.
const SMALL_PIECE: usize = 8 * 1024;

/// The reason why a body is no frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("the frame is cut short")]
    Short,
    #[error("the frame's head has {0} bytes, at most {MAX_HEAD} are allowed")]
    TooLarge(usize),
    #[error("the frame's compressed head can't be read, or has more than {MAX_HEAD} bytes")]
    Compressed,
    #[error("the memory for a frame can't be had: {0}")]
    Memory(#[from] std::io::Error),
    #[error("the frame's head is not the JSON that belongs here: {0}")]
    Head(#[from] serde_json::Error),
}

/// The form of a head on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeadForm {
    Plain,
    /// Compressed, if that is worth it. Every server reads it; a client has to ask for it.
    Compressed,
}

/// Writes a head and the parts of a payload into one body.
///
/// # Errors
/// A head that is no JSON or too large.
pub fn encode<T: Serialize>(head: &T, payload: &[Bytes]) -> Result<Bytes, FrameError> {
    encode_as(head, payload, HeadForm::Plain)
}

/// Writes a frame whose head has this form.
///
/// # Errors
/// As for [`encode`].
pub fn encode_as<T: Serialize>(
    head: &T,
    payload: &[Bytes],
    form: HeadForm,
) -> Result<Bytes, FrameError> {
    let pieces = encode_pieces(head, payload, form)?;
    let mut out = Vec::with_capacity(pieces.iter().map(Bytes::len).sum());
    for piece in &pieces {
        out.extend_from_slice(piece);
    }
    Ok(out.into())
}

/// Writes a head and leaves the parts of a payload where they are: large ones are not copied, small
/// ones are gathered, because every piece costs a send.
///
/// # Errors
/// As for [`encode`].
pub fn encode_pieces<T: Serialize>(
    head: &T,
    payload: &[Bytes],
    form: HeadForm,
) -> Result<Vec<Bytes>, FrameError> {
    let mut head = serde_json::to_vec(head)?;
    if head.len() > MAX_HEAD {
        return Err(FrameError::TooLarge(head.len()));
    }
    let is_compressed = form == HeadForm::Compressed && head.len() >= MIN_SIZE;
    if is_compressed {
        head = compression::compress(&head)?;
    }
    let length = u32::try_from(head.len()).map_err(|_| FrameError::TooLarge(head.len()))?;
    let length = if is_compressed {
        length | COMPRESSED
    } else {
        length
    };
    let mut gathered = length.to_be_bytes().to_vec();
    gathered.append(&mut head);
    let mut pieces = Vec::new();
    for part in payload {
        if part.len() < SMALL_PIECE {
            gathered.extend_from_slice(part);
        } else {
            if !gathered.is_empty() {
                pieces.push(std::mem::take(&mut gathered).into());
            }
            pieces.push(part.clone());
        }
    }
    if !gathered.is_empty() {
        pieces.push(gathered.into());
    }
    Ok(pieces)
}

/// Splits a body into its head and its payload, without copying the payload.
///
/// # Errors
/// A body that is no frame, or a head of another shape.
pub fn decode<T: DeserializeOwned>(body: Bytes) -> Result<(T, Bytes), FrameError> {
    let (head, mut payload) = split(vec![body])?;
    let head = serde_json::from_slice(&head)?;
    Ok((head, payload.pop().unwrap_or_default()))
}

/// Splits a body that lies in the pieces in which it arrived into the JSON of its head and its
/// payload, of which no piece is empty.
///
/// # Errors
/// [`FrameError::Short`], [`FrameError::TooLarge`], [`FrameError::Compressed`].
pub fn split(body: Vec<Bytes>) -> Result<(Bytes, Vec<Bytes>), FrameError> {
    let mut pieces = body.into_iter();
    let mut start = pieces.next().unwrap_or_default();
    gather(&mut start, &mut pieces, 4)?;
    let prefix: [u8; 4] = start[..4].try_into().map_err(|_| FrameError::Short)?;
    let prefix = u32::from_be_bytes(prefix);
    let length = (prefix & !COMPRESSED) as usize;
    if length > MAX_HEAD {
        return Err(FrameError::TooLarge(length));
    }
    gather(&mut start, &mut pieces, 4 + length)?;
    let rest = start.split_off(4 + length);
    let payload = std::iter::once(rest)
        .chain(pieces)
        .filter(|piece| !piece.is_empty())
        .collect();
    let head = start.split_off(4);
    if prefix & COMPRESSED == 0 {
        return Ok((head, payload));
    }
    match compression::decompress(&head, MAX_HEAD) {
        Ok(head) => Ok((head.into(), payload)),
        Err(_) => Err(FrameError::Compressed),
    }
}

/// Joins pieces until the first has at least `least` bytes.
fn gather(
    start: &mut Bytes,
    pieces: &mut impl Iterator<Item = Bytes>,
    least: usize,
) -> Result<(), FrameError> {
    if start.len() >= least {
        return Ok(());
    }
    let mut whole = Vec::with_capacity(least);
    whole.extend_from_slice(start);
    while whole.len() < least {
        whole.extend_from_slice(&pieces.next().ok_or(FrameError::Short)?);
    }
    *start = whole.into();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_back_as_it_went() {
        let body = encode(
            &vec![1, 2],
            &[Bytes::from_static(b"ab"), Bytes::from_static(b"c")],
        )
        .unwrap();
        let (head, payload): (Vec<i32>, _) = decode(body.clone()).unwrap();
        assert_eq!((head, &payload[..]), (vec![1, 2], &b"abc"[..]));
        for cut in 0..body.len() - 3 {
            assert!(
                decode::<Vec<i32>>(body.slice(..cut)).is_err(),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn pieces_are_the_same_frame_however_they_are_cut() {
        let large = Bytes::from(vec![7; SMALL_PIECE]);
        let parts = [
            Bytes::from_static(b"ab"),
            large.clone(),
            Bytes::new(),
            Bytes::from_static(b"c"),
            Bytes::from_static(b"d"),
        ];
        let pieces = encode_pieces(&"head", &parts, HeadForm::Compressed).unwrap();
        assert_eq!(pieces.len(), 3, "small parts are gathered");
        assert_eq!(
            pieces[1].as_ptr(),
            large.as_ptr(),
            "large ones are not copied"
        );
        let whole = encode(&"head", &parts).unwrap();
        assert_eq!(pieces.concat(), whole);
        let payload = parts.concat();
        for size in [1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 1000, whole.len()] {
            let cut = (0..whole.len())
                .step_by(size)
                .map(|at| whole.slice(at..(at + size).min(whole.len())));
            let (head, got) = split(cut.collect()).unwrap();
            assert_eq!(
                (&head[..], got.concat()),
                (&b"\"head\""[..], payload.clone()),
                "{size}"
            );
        }
        assert!(split(Vec::new()).is_err());
    }

    #[test]
    fn a_long_head_is_compressed_where_that_is_wanted() {
        let head: Vec<String> = (0..1000).map(|n| format!("{n:032x}")).collect();
        let payload = [Bytes::from_static(b"content")];
        let plain = encode(&head, &payload).unwrap();
        let pieces = encode_pieces(&head, &payload, HeadForm::Compressed).unwrap();
        let compressed: Bytes = pieces.concat().into();
        assert!(compressed.len() * 4 < plain.len(), "{}", compressed.len());
        for body in [plain, compressed.clone()] {
            let (got, rest): (Vec<String>, _) = decode(body).unwrap();
            assert_eq!((got, &rest[..]), (head.clone(), &b"content"[..]));
        }
        for at in 4..compressed.len() - payload[0].len() {
            let mut damaged = compressed.to_vec();
            damaged[at] ^= 1;
            // Never a panic, and never more than the limit.
            drop(decode::<Vec<String>>(damaged.into()));
        }
    }

    #[test]
    fn a_huge_head_is_refused_before_it_is_read() {
        assert!(matches!(
            decode::<()>(Bytes::from_static(&[255; 8])),
            Err(FrameError::TooLarge(_))
        ));
    }
}
