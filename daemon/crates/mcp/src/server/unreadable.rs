//! Lines that are no JSON that can be read: cut within a character, nested too deeply, with numbers beyond all bounds,
//! too long. A client waits for its time limit unless the error has the id of its request, so that it is looked for.

use rmcp::model::RequestId;

/// The longest id that is found, in bytes.
const MAX_ID: usize = 1024;

/// Looks for the id of a request in its bytes, however many there are. It follows texts and brackets, and nothing else
/// has to be right.
#[derive(Default)]
pub(super) struct IdFinder {
    depth: usize,
    in_text: bool,
    is_escaped: bool,
    /// The text or literal that is being read, at the top of the message.
    piece: Vec<u8>,
    key: Key,
    id: Option<Vec<u8>>,
    has_method: bool,
    has_ended: bool,
}

/// The name of the field that is being read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Key {
    /// The next text is one.
    #[default]
    Awaited,
    Id,
    Method,
    Other,
}

impl IdFinder {
    /// Reads the next bytes of the line.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.has_ended {
                return;
            }
            self.feed_one(*byte);
        }
    }

    /// Returns the id, if the line is a request so far. Nobody waits for an answer to anything else, and the id of a
    /// response is another's.
    pub(super) fn id(&self) -> Option<RequestId> {
        let id = self.id.as_ref().filter(|_| self.has_method)?;
        serde_json::from_slice(id).ok()
    }

    fn feed_one(&mut self, byte: u8) {
        if self.in_text {
            self.keep(byte);
            if std::mem::take(&mut self.is_escaped) {
                return;
            }
            match byte {
                b'\\' => self.is_escaped = true,
                b'"' => {
                    self.in_text = false;
                    self.end_piece();
                }
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.piece.clear();
                self.keep(byte);
                self.in_text = true;
            }
            b'{' | b'[' => {
                // A batch has no id of its own.
                self.has_ended = self.depth == 0 && byte == b'[';
                self.depth += 1;
                self.piece.clear();
            }
            b'}' | b']' => {
                self.end_piece();
                self.depth = self.depth.saturating_sub(1);
                self.has_ended = self.depth == 0;
            }
            b',' if self.depth == 1 => {
                self.end_piece();
                self.key = Key::Awaited;
            }
            b':' => {}
            byte if byte.is_ascii_whitespace() => self.end_piece(),
            byte => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.piece.len() < MAX_ID {
            self.piece.push(byte);
        }
    }

    /// Takes what was read at the top of the message for the name of a field, or its value.
    fn end_piece(&mut self) {
        let piece = std::mem::take(&mut self.piece);
        if self.depth != 1 || piece.is_empty() {
            return;
        }
        match self.key {
            Key::Awaited => {
                self.key = match piece.as_slice() {
                    b"\"id\"" => Key::Id,
                    b"\"method\"" => Key::Method,
                    _ => Key::Other,
                };
            }
            Key::Id => self.id = Some(piece),
            Key::Method => self.has_method = true,
            Key::Other => {}
        }
    }
}

/// Returns the id of the request in a line.
pub(super) fn find_id(line: &[u8]) -> Option<RequestId> {
    let mut finder = IdFinder::default();
    finder.feed(line);
    finder.id()
}

/// Returns the line with U+FFFD in place of each half of a character (a surrogate without the other one), which models
/// write where they cut an emoji; `None` if there is none.
pub(super) fn with_whole_characters(line: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(line.len());
    let (mut at, mut found) = (0, false);
    while let Some(byte) = line.get(at) {
        let taken = match (byte, escaped_unit(line, at)) {
            (_, Some(0xd800..=0xdbff)) => {
                let low = escaped_unit(line, at + 6);
                if matches!(low, Some(0xdc00..=0xdfff)) {
                    12
                } else {
                    0
                }
            }
            (_, Some(0xdc00..=0xdfff)) => 0,
            (_, Some(_)) => 6,
            // What is escaped begins no escape itself.
            (b'\\', None) => 2,
            (_, None) => 1,
        };
        if taken == 0 {
            whole.extend_from_slice(b"\\ufffd");
            at += 6;
            found = true;
        } else {
            let end = line.len().min(at + taken);
            whole.extend_from_slice(&line[at..end]);
            at = end;
        }
    }
    found.then_some(whole)
}

/// Returns the code unit of the escape, such as `\ud83d`, that begins here.
fn escaped_unit(line: &[u8], at: usize) -> Option<u16> {
    let escape = line.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(id: i64) -> Option<RequestId> {
        Some(RequestId::Number(id))
    }

    #[test]
    fn the_id_of_a_request_is_found_wherever_it_stands() {
        for line in [
            r#"{"jsonrpc":"2.0","id":7,"method":"a","params":{"n":1e400}}"#,
            r#"{"method":"a","params":{"id":8,"x":[{"id":9}],"n":1e400},"jsonrpc":"2.0","id":7}"#,
            r#"{ "method" : "a" , "params" : "{\"id\":8," , "id" : 7 }"#,
            r#"{"params":{"name":"\\\"id\":8"},"id":7,"method":"a"}"#,
            r#"{"id":7,"method":"a","params":{"#,
            r#"{"id":7,"method":"a"}{"id":8,"method":"b"}"#,
        ] {
            assert_eq!(find_id(line.as_bytes()), number(7), "{line}");
        }
        let text = br#"{"id":"a-1","method":"a","params":tru}"#;
        assert_eq!(find_id(text), Some(RequestId::String("a-1".into())));
        let deep = format!(
            r#"{{"method":"a","params":{}{},"id":7}}"#,
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        assert_eq!(find_id(deep.as_bytes()), number(7));
    }

    #[test]
    fn what_is_no_request_has_no_id_to_answer() {
        for line in [
            r#"{"id":7,"result":{"n":1e400}}"#,
            r#"{"method":"a","params":{"id":7,"n":1e400}}"#,
            r#"[{"id":7,"method":"a","params":1e400}]"#,
            // It may be cut within the number.
            r#"{"method":"a","id":7"#,
            r#"{"method":"a","id":{"id":7}}"#,
            "id 7, method a",
            "",
        ] {
            assert_eq!(find_id(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn halves_of_characters_are_replaced_and_nothing_else() {
        let replaced = |text: &str| {
            let whole = with_whole_characters(text.as_bytes());
            whole.map(|whole| String::from_utf8(whole).unwrap())
        };
        for (line, whole) in [
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ude00 \uD83D x""#, r#""\ufffd \ufffd x""#),
        ] {
            assert_eq!(replaced(line).as_deref(), Some(whole));
        }
        for whole in [
            r#""\ud83d\ude00 \u00e9""#,
            r#""\\ud83d""#,
            r#""\ud83""#,
            "plain",
            "\\",
        ] {
            assert_eq!(replaced(whole), None, "{whole}");
        }
    }
}
