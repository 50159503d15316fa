//! Frames: a JSON head and raw bytes in one body, so that sealed chunks don't pay for base64.
//!
//! Layout: `u32` big-endian length of the head, the head as JSON, the payload to the end.

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

/// The media type of a frame.
pub const MEDIA_TYPE: &str = "application/vnd.cairn.frame";

/// The largest head: 256 files with manifests of one chunk each need about 400 kB.
pub const MAX_HEAD: usize = 4 * 1024 * 1024;

/// Why a body is no frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("the frame is cut short")]
    Short,
    #[error("the frame's head has {0} bytes, at most {MAX_HEAD} are allowed")]
    TooLarge(usize),
    #[error("the frame's head is not the JSON that belongs here: {0}")]
    Head(#[from] serde_json::Error),
}

/// Writes a head and the parts of a payload into one body.
///
/// # Errors
/// A head that is no JSON or too large.
pub fn encode<T: Serialize>(head: &T, payload: &[Bytes]) -> Result<Bytes, FrameError> {
    let head = serde_json::to_vec(head)?;
    let length = u32::try_from(head.len())
        .ok()
        .filter(|_| head.len() <= MAX_HEAD)
        .ok_or(FrameError::TooLarge(head.len()))?;
    let total = 4 + head.len() + payload.iter().map(Bytes::len).sum::<usize>();
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&head);
    for part in payload {
        out.extend_from_slice(part);
    }
    Ok(out.into())
}

/// Splits a body into its head and its payload, without copying the payload.
///
/// # Errors
/// A body that is no frame, or a head of another shape.
pub fn decode<T: DeserializeOwned>(mut body: Bytes) -> Result<(T, Bytes), FrameError> {
    let prefix: [u8; 4] = body
        .get(..4)
        .and_then(|p| p.try_into().ok())
        .ok_or(FrameError::Short)?;
    let length = u32::from_be_bytes(prefix) as usize;
    if length > MAX_HEAD {
        return Err(FrameError::TooLarge(length));
    }
    if body.len() < 4 + length {
        return Err(FrameError::Short);
    }
    let payload = body.split_off(4 + length);
    Ok((serde_json::from_slice(&body[4..])?, payload))
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
    fn a_huge_head_is_refused_before_it_is_read() {
        assert!(matches!(
            decode::<()>(Bytes::from_static(&[255; 8])),
            Err(FrameError::TooLarge(_))
        ));
    }
}
