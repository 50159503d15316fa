//! The weight of JSON text: what it may cost an assistant in tokens (o200k), estimated from above. The tokenizer cuts
//! text where its kind changes: after a word, before a capital inside of one, between digits and letters, and at most
//! three digits belong together. A piece that is no common word costs more, by its length.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// A bit for each character up to U+FFFF that is one token of o200k by itself, the lowest bit first, in Base64.
const SINGLE_TOKENS: &str = include_str!("token_weight/single_tokens.b64");

static SINGLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let text: String = SINGLE_TOKENS.split_whitespace().collect();
    STANDARD.decode(text).unwrap_or_default()
});

/// The weight of one token.
pub(crate) const TOKEN: usize = 20;

/// Weights of the first letter of a word, and of each further one.
const WORD: usize = 22;
const LETTER: usize = 9;
/// The weight of a letter in a word that is longer than words are.
const LATE_LETTER: usize = 11;
const LONG_WORD: usize = 8;
const CAPITAL: usize = 13;
const DIGIT: usize = 2;
const DIGITS_TOGETHER: usize = 3;
const FURTHER_SIGN: usize = 15;
const SPACE: usize = 4;
/// The weight of a character between texts: several of them are one token.
const STRUCTURE: usize = 6;
/// The further weight of what follows a value that is no text: a comma behind a quotation mark is one token with it,
/// and one behind a digit or a letter is a token of its own.
const AFTER_LITERAL: usize = TOKEN - STRUCTURE;

/// The kind of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Small,
    Capital,
    Digit,
    Space,
    Sign,
    /// Beyond ASCII.
    Far,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' => Self::Small,
            'A'..='Z' => Self::Capital,
            '0'..='9' => Self::Digit,
            ' ' => Self::Space,
            c if c.is_ascii() => Self::Sign,
            _ => Self::Far,
        }
    }
}

/// Adds up the weights of the characters in a text, each of which depends on those before it.
pub(crate) struct Weigher {
    before: Class,
    /// The characters since the last one of another kind.
    run: usize,
}

impl Default for Weigher {
    fn default() -> Self {
        Self {
            before: Class::Sign,
            run: 0,
        }
    }
}

impl Weigher {
    /// Returns the weight of the next character inside of a text, as JSON writes it.
    pub(crate) fn next(&mut self, c: char) -> usize {
        match c {
            '"' | '\\' | '\n' | '\r' | '\t' => {
                self.begin(Class::Sign);
                TOKEN
            }
            c if c.is_control() => {
                self.begin(Class::Sign);
                4 * TOKEN
            }
            c => self.next_plain(c),
        }
    }

    fn next_plain(&mut self, c: char) -> usize {
        let class = Class::of(c);
        let (before, run) = (self.before, self.run);
        let goes_on = match class {
            Class::Small => matches!(before, Class::Small | Class::Capital),
            Class::Digit => before == Class::Digit && run < DIGITS_TOGETHER,
            Class::Capital | Class::Sign | Class::Space | Class::Far => before == class,
        };
        if goes_on {
            self.before = class;
            self.run += 1;
        } else {
            self.begin(class);
        }
        match (class, goes_on) {
            (Class::Small | Class::Capital, false) => WORD,
            (Class::Small, true) if self.run > LONG_WORD => LATE_LETTER,
            (Class::Small, true) => LETTER,
            (Class::Capital, true) => CAPITAL,
            (Class::Digit, true) => DIGIT,
            // A space belongs to the word after it, and to no number.
            (Class::Digit, false) if before == Class::Space => TOKEN + TOKEN - SPACE,
            (Class::Digit | Class::Sign, false) => TOKEN,
            (Class::Sign, true) => FURTHER_SIGN,
            (Class::Space, _) => SPACE,
            (Class::Far, _) => {
                let tokens = far_tokens(c);
                // A space belongs to a common character after it, and to no rare one.
                let stands_alone = before == Class::Space && tokens > 1;
                tokens * TOKEN + usize::from(stands_alone) * (TOKEN - SPACE)
            }
        }
    }

    fn begin(&mut self, class: Class) {
        self.before = class;
        self.run = 1;
    }
}

/// Returns the most tokens of a character beyond ASCII. One that is no token by itself is cut into bytes, some of which
/// belong together where the script or the kind of sign is a common one.
fn far_tokens(c: char) -> usize {
    let code = u32::from(c);
    let byte = usize::try_from(code / 8).ok().and_then(|at| SINGLE.get(at));
    if byte.is_some_and(|byte| byte & (1 << (code % 8)) != 0) {
        return 1;
    }
    match code {
        ..=0x7ff
        | 0x900..=0xfbf
        | 0x1000..=0x10ff
        | 0x1200..=0x137f
        | 0x1780..=0x17ff
        | 0x1e00..=0x233f
        | 0x2440..=0x26bf
        | 0x2700..=0x27bf
        | 0x3000..=0x30ff
        | 0xff00..=0xffef => 2,
        ..=0xffff | 0x1d400..=0x1ffff => 3,
        _ => 4,
    }
}

/// Returns the weight of the JSON of a value.
pub(crate) fn weigh(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => TOKEN + AFTER_LITERAL,
        Value::Number(number) => weigh_chars(&number.to_string()) + AFTER_LITERAL,
        Value::String(text) => weigh_text(text),
        Value::Array(items) => {
            let items: usize = items.iter().map(|item| weigh(item) + STRUCTURE).sum();
            items + 2 * STRUCTURE
        }
        Value::Object(fields) => weigh_fields(fields),
    }
}

/// Returns the weight of the JSON of an object with these fields.
pub(crate) fn weigh_fields(fields: &Map<String, Value>) -> usize {
    let fields = fields.iter();
    let fields: usize = fields
        .map(|(name, field)| weigh_text(name) + weigh(field) + 2 * STRUCTURE)
        .sum();
    fields + 2 * STRUCTURE
}

fn weigh_text(text: &str) -> usize {
    weigh_chars(text) + 2 * STRUCTURE
}

fn weigh_chars(text: &str) -> usize {
    let mut weigher = Weigher::default();
    text.chars().map(|c| weigher.next(c)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with the tokens (o200k) that they have, as the tokenizer itself counts them.
    #[test]
    fn no_text_is_taken_for_shorter_than_it_is() {
        for (text, tokens) in SAMPLES {
            let weight = weigh(&Value::String((*text).to_owned())) / TOKEN;
            assert!(weight + 3 >= *tokens, "{text}: {weight} for {tokens}");
        }
    }

    /// The tokenizer joins neither a sign with a digit nor more than three digits, so that these can be counted by hand.
    #[test]
    fn lists_of_numbers_are_not_taken_for_shorter_than_they_are() {
        for (number, tokens) in [("7", 2), ("0.5", 4), ("123456", 3), ("1.25", 4)] {
            let list = format!("[{}]", vec![number; 1_000].join(","));
            let list: Value = serde_json::from_str(&list).unwrap();
            let weight = weigh(&list) / TOKEN;
            assert!(weight >= tokens * 1_000, "{number}: {weight}");
            assert!(weight < 2 * tokens * 1_000, "{number}: {weight}");
        }
    }

    /// Names with the tokens (o200k) that they have.
    #[test]
    fn ordinary_names_in_other_scripts_cost_at_most_twice_what_they_are() {
        for (text, tokens) in [
            ("契約書_最終版.pdf", 8),
            ("2026年11月の売上報告", 10),
            ("見積書(株式会社山田商事)", 10),
            ("会議の議事録", 6),
            ("合同最终版", 3),
            ("계약서 최종", 5),
        ] {
            let weight = weigh_chars(text) / TOKEN;
            assert!(
                (tokens..=2 * tokens).contains(&weight),
                "{text}: {weight} for {tokens}"
            );
        }
    }

    /// The tokens (o200k) of the characters of each range, one after the other.
    #[test]
    fn rare_characters_are_not_taken_for_shorter_than_they_are() {
        for (from, to, tokens) in RANGES {
            let text: String = (*from..=*to).filter_map(char::from_u32).collect();
            let weight = weigh_chars(&text) / TOKEN;
            assert!(weight >= *tokens, "{from:x}: {weight} for {tokens}");
            assert!(weight <= 2 * tokens, "{from:x}: {weight} for {tokens}");
            let apart: Vec<_> = text.chars().map(String::from).collect();
            let apart = weigh_chars(&apart.join(" ")) / TOKEN;
            assert!(apart >= *tokens, "{from:x}: {apart}");
        }
    }

    #[test]
    fn ordinary_english_costs_at_most_three_times_what_it_is() {
        let text = "The quick brown fox jumps over the lazy dog, and nobody minds. ".repeat(50);
        // Fourteen tokens a sentence.
        let weight = weigh(&Value::String(text)) / TOKEN;
        assert!(weight < 3 * 14 * 50, "{weight}");
    }

    const RANGES: &[(u32, u32, usize)] = &[
        (0xa0, 0xff, 97),
        (0x100, 0x24f, 581),
        (0x250, 0x36f, 551),
        (0x386, 0x3ff, 177),
        (0x400, 0x52f, 472),
        (0x5d0, 0x5ea, 18),
        (0x620, 0x64a, 41),
        (0x905, 0x939, 59),
        (0xe01, 0xe2e, 50),
        (0x1200, 0x1350, 674),
        (0x1e00, 0x1eff, 428),
        (0x2190, 0x22ff, 720),
        (0x3041, 0x3096, 98),
        (0x30a1, 0x30fa, 102),
        (0x3400, 0x34ff, 758),
        (0x4e00, 0x4fff, 864),
        (0x9f00, 0x9fa5, 323),
        (0xac00, 0xaeff, 1597),
        (0x1f300, 0x1f4ff, 1016),
        (0x1f900, 0x1f9ff, 636),
        (0x20000, 0x200ff, 957),
    ];

    const SAMPLES: &[(&str, usize)] = &[
        (
            "phozrnwxbzffzbjabryvtbqmfxbudastwvvtaidrjhuiwofmokhvpjspkogcpnlhlcufdwpqygmkqrgeqahutljnghvhpbwrlevhflujakczhopxszgfmkun",
            64,
        ),
        (
            "YUNXKPXMITXWEGIBDRVGOHEPQXXGRDVIISCVJHPMOYLZBPQEPTPBXMLVTEXICFBTTPAKVLEFEPPIRDWCZDGCRLRABADMBZIDFIMNZSPEHUTMCSTBCIFGQOWO",
            70,
        ),
        (
            "SAgHABOZGJTrVzTXWTCbKeFbXaSRcwfAcrkwOOWsQCAgDBeoaiqpBZBEVWWDMehyWHbjNOLPvclIJxGmpaTWfurOTfkfJqAZmJZYHJERHCPAfoZSZIhIoZGk",
            74,
        ),
        (
            "YnEtBbJrVdPpOeMjErHdCvNwWyFyElHpCcLeYrRbPlEdQbPwRoDfCcAaOcLaXdIcZtAlVeFyZmTpVrRjUdJzYhEiOsJrXpWrMdXkIdHtXpQuGxOkAgNjRyHa",
            75,
        ),
        (
            "zasdjVkkMkO-6UxNSQSUbdbyq8s65xQmu6UJNHysw_cAWb7UUzeNCiFjq17tkoeTLRvJcEJwaUzjyFukvxU4QCt7hkWJRaoQtXNZpGv6ZR7xNBdkcAVQt7YZ",
            80,
        ),
        (
            "*-=>!].*<+%#+.-&$:%+.-.@.)[}](<._>^!(#$/>^]-;:>#(#&]:^?;)#]*,(:-?-.!!/(<;.@>.^;&=)<|;->=.;>%_#{{.[|:-!$/_>|||=}(}%^^<_[(",
            80,
        ),
        (
            "I/6I^4mp7Pq,Bj-#jEB?wBiio8%I3<S,nefDd]@swE,>4hL)Wst^-<;@oA&Gc:+2U)#:#whq$[Il?Sq2T!AMNra*!gBaHod+u^p%GS.ZBG*?h{k{1#%P3:r3",
            91,
        ),
        (
            "(s=s.g#l@k%u[n~x_m/f;j]o)x;n.m[z*u)q@w/k(m}f*v[e+l>z$z/k.h+w.o!m]x@l%l]x$q%k,w/p[e$n}h*i@q@l%d&e-o#a#d{e{a-a%f[z=d?n]z,m",
            86,
        ),
        (
            "s8u1q7v7u3y6q9n8c4c5z7w6h5i7o5r2v3r4q5b9g9m0x2a4z4u5f2w2d0t9n0m5f4o1c6x9c3a4y5i0k9y8a6n2j1r0o5k7t3y7n4n1z2x1g4b5t2b2l6h4",
            121,
        ),
        (
            ")8.2!7+4*8~3,6^4%2;6]2^3#6<7-1=3.3+9:4;4[8(1#1;2&3!1^7*2$5;4.2@5+8*4@4[7!7_3-9%9]7&9:5(7{0^8$3!5[8)4/4~0;7~2]4[3^0?0[6)8",
            121,
        ),
        (
            "zzvve gtsmh spqob sqfat vlnfy ygwqq ihhzx zjhal xknyq hkesn lfeta ubkhn qytjd fxuoa yiwss zptse iugjm qyntc idosh rqraj",
            57,
        ),
        (
            "NAI WTA IPR FJV BYX OKD STU SEA ZSQ SQX YPV WWX RTI TIV PMH BYK HUE ACR KUV TQI IPG VVU PTD TSN RLC WZC QAM WEI AEU UGY",
            62,
        ),
        (
            "xUGp CMDO bwnG uGuL Aeht AYlY vkqz yafz LgYl KJoo SFde AIqA JJiw KBDC pwAy jXhZ IUkr AVQV bKHH KUIG Fzud mWQo mqJJ hiVQ",
            64,
        ),
        (
            "2 6 9 6 3 8 0 2 5 0 3 2 9 4 6 9 8 9 6 5 0 0 5 0 8 4 8 7 3 1 3 6 7 7 6 5 5 1 9 9 4 1 3 1 0 1 0 1 2 9 9 4 4 7 4 7 5 5 7 9",
            121,
        ),
    ];
}
