//! Pictures that the window shows: of few kinds, and no larger than a page can bear. Other people may have made them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imagesize::{ImageSize, ImageType};

/// The most bytes of a picture.
const MAX_BYTES: usize = 4_000_000;
/// The most pixels: a file of a few bytes can say that it has billions.
const MAX_PIXELS: u64 = 50_000_000;

/// Returns the address (`data:`) of a picture, from its bytes in base64; none if it isn't one that is shown. SVG is
/// not: it is a document, which can load others.
pub(crate) fn address(base64: &str) -> Option<String> {
    if base64.len() / 4 * 3 > MAX_BYTES + 3 {
        return None;
    }
    let bytes = STANDARD.decode(base64).ok()?;
    let kind = match imagesize::image_type(&bytes).ok()? {
        ImageType::Png => "png",
        ImageType::Jpeg => "jpeg",
        ImageType::Gif => "gif",
        ImageType::Webp => "webp",
        _ => return None,
    };
    let ImageSize { width, height } = imagesize::blob_size(&bytes).ok()?;
    let pixels = (width as u64).checked_mul(height as u64)?;
    (bytes.len() <= MAX_BYTES && pixels <= MAX_PIXELS)
        .then(|| format!("data:image/{kind};base64,{base64}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginning of a PNG file of these sizes.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend([8, 6, 0, 0, 0]);
        bytes
    }

    #[test]
    fn only_pictures_that_a_page_can_bear_are_shown() {
        let shown = |bytes: &[u8]| address(&STANDARD.encode(bytes));
        let small = shown(&png(3, 2)).expect("it is a picture");
        assert!(small.starts_with("data:image/png;base64,iVBOR"), "{small}");
        assert_eq!(shown(&png(u32::MAX, u32::MAX)), None);
        assert_eq!(shown(&png(10_000, 10_000)), None);
        let mut long = png(3, 2);
        long.resize(MAX_BYTES + 1, 0);
        assert_eq!(shown(&long), None);
        assert_eq!(shown(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), None);
        assert_eq!(
            shown(b"BM\x1e\0\0\0\0\0\0\0\x1a\0\0\0\x0c\0\0\0\x01\0\x01\0"),
            None
        );
        assert_eq!(shown(b""), None);
        assert_eq!(address("no base64!"), None);
    }
}
