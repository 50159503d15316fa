//! A text as a QR code, drawn as an image that stands in the page itself.

use qrcode::{Color, EcLevel, QrCode};

/// Modules that stay empty on each side; the standard asks for four.
const MARGIN: usize = 4;

/// Returns a QR code as SVG, black on white whatever the colours of the page are; `None` for a text that is too long.
pub(crate) fn svg(text: &str, label: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    let width = code.width();
    let mut path = String::new();
    for (row, colors) in code.to_colors().chunks(width).enumerate() {
        for (column, color) in colors.iter().enumerate() {
            if *color == Color::Dark {
                path += &format!("M{},{}h1v1h-1z", column + MARGIN, row + MARGIN);
            }
        }
    }
    let side = width + 2 * MARGIN;
    Some(format!(
        "<svg class=\"qr\" viewBox=\"0 0 {side} {side}\" role=\"img\" aria-label=\"{label}\" \
         shape-rendering=\"crispEdges\"><rect width=\"{side}\" height=\"{side}\" fill=\"#fff\"/>\
         <path d=\"{path}\" fill=\"#000\"/></svg>"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Returns the dark modules that an image draws.
    fn dark_modules(svg: &str) -> BTreeSet<(usize, usize)> {
        let (_, path) = svg.split_once("d=\"").unwrap();
        let (path, _) = path.split_once('"').unwrap();
        path.split_terminator("h1v1h-1z")
            .map(|start| {
                let (column, row) = start.trim_start_matches('M').split_once(',').unwrap();
                (column.parse().unwrap(), row.parse().unwrap())
            })
            .collect()
    }

    #[test]
    fn an_image_has_the_three_corners_and_its_margin() {
        let uri = "otpauth://totp/Cairn:owner@example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Cairn";
        let image = svg(uri, "QR code").unwrap();
        let dark = dark_modules(&image);
        let code = QrCode::with_error_correction_level(uri, EcLevel::M).unwrap();
        let width = code.width();
        assert!(image.contains(&format!("viewBox=\"0 0 {0} {0}\"", width + 8)));
        let last = MARGIN + width - 7;
        for (left, top) in [(MARGIN, MARGIN), (last, MARGIN), (MARGIN, last)] {
            for at in 0..7 {
                assert!(dark.contains(&(left + at, top)), "{left} {top}");
                assert!(dark.contains(&(left, top + at)), "{left} {top}");
            }
            assert!(!dark.contains(&(left + 1, top + 1)));
            assert!(dark.contains(&(left + 3, top + 3)));
        }
        let inside = MARGIN..MARGIN + width;
        assert!(
            dark.iter()
                .all(|(column, row)| inside.contains(column) && inside.contains(row))
        );
        let number = code
            .to_colors()
            .iter()
            .filter(|color| **color == Color::Dark)
            .count();
        assert_eq!(dark.len(), number);
    }

    #[test]
    fn a_text_that_is_too_long_has_no_image() {
        assert!(svg(&"x".repeat(5_000), "QR code").is_none());
    }
}
