//! Checks a request's body, JSON or a form, against the OpenAPI document, which says all that is demanded of it.
//!
//! The document is generated from the routes, which this module must not import: it is passed in at the start. JSON
//! is checked while it is parsed, without building a value of it: the list of all chunks of a large file is long.

mod rules;

use self::rules::{check_count, check_plain, number, text};
use crate::error::{Error, Result};
use serde::de::value::{Error as FormError, MapDeserializer};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::fmt;
use std::sync::OnceLock;

/// The key under which a rule is put in words, for messages.
pub(crate) const WORDS: &str = "x-rule";

static DOCUMENT: OnceLock<fn() -> &'static Value> = OnceLock::new();

/// Hands in the document that bodies are checked against.
pub(crate) fn use_document(document: fn() -> &'static Value) {
    DOCUMENT.get_or_init(|| document);
}

/// Checks the text of a body against a schema of the document. Types, required and unknown fields,
/// and what is no JSON at all, are the concern of whoever reads it.
///
/// # Errors
/// 400 that names the field and the rule.
pub(crate) fn body(schema: &str, text: &[u8]) -> Result<()> {
    let Some(document) = DOCUMENT.get() else {
        return Ok(());
    };
    let schemas = &document()["components"]["schemas"];
    let mut rules = Vec::new();
    collect(schemas, &schemas[schema], &mut rules);
    let mut json = serde_json::Deserializer::from_slice(text);
    check(schemas, &rules, &mut json).map_err(Error::invalid)
}

/// Checks the fields of a form against a schema of the document; without one, only what no text may have.
///
/// # Errors
/// 400 that names the field and the rule.
pub(crate) fn form(schema: Option<&str>, fields: &[(String, String)]) -> Result<()> {
    static NO_SCHEMAS: Value = Value::Null;
    let schemas = DOCUMENT
        .get()
        .map_or(&NO_SCHEMAS, |document| &document()["components"]["schemas"]);
    let mut rules = Vec::new();
    if let Some(schema) = schema {
        collect(schemas, &schemas[schema], &mut rules);
    }
    let fields = fields
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    let fields = MapDeserializer::<_, FormError>::new(fields);
    check(schemas, &rules, fields).map_err(Error::invalid)
}

type Checked = std::result::Result<(), String>;
type Rules = Map<String, Value>;

fn check<'de>(schemas: &Value, rules: &[&Rules], text: impl Deserializer<'de>) -> Checked {
    let broken = RefCell::new(None);
    let reader = Reader {
        schemas,
        rules,
        place: None,
        broken: &broken,
    };
    // Its own errors are those of the text, which whoever reads it meets as well.
    drop(reader.deserialize(text));
    broken.into_inner().map_or(Ok(()), Err)
}

/// Collects the rules of a schema: those of what it refers to come before its own.
fn collect<'s>(schemas: &'s Value, schema: &'s Value, rules: &mut Vec<&'s Rules>) {
    let Value::Object(own) = schema else {
        return;
    };
    if let Some(target) = own.get("$ref").and_then(Value::as_str) {
        let target = target.trim_start_matches("#/components/schemas/");
        collect(schemas, &schemas[target], rules);
    }
    let parts = own.get("allOf").and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        collect(schemas, part, rules);
    }
    // A nullable field is one of nothing and of something; a value of several kinds is left alone.
    let choices = own.get("oneOf").and_then(Value::as_array);
    let mut choices = choices
        .into_iter()
        .flatten()
        .filter(|one| one["type"] != "null");
    if let (Some(only), None) = (choices.next(), choices.next()) {
        collect(schemas, only, rules);
    }
    rules.push(own);
}

/// The place of a value: its field, and the object that this belongs to.
struct FieldPath<'a> {
    parent: Option<&'a FieldPath<'a>>,
    name: &'a str,
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            write!(f, "{parent}.")?;
        }
        f.write_str(self.name)
    }
}

/// Reads one value and checks it against its rules; the first rule that is broken ends it.
#[derive(Clone, Copy)]
struct Reader<'a, 's> {
    schemas: &'s Value,
    rules: &'a [&'s Rules],
    place: Option<&'a FieldPath<'a>>,
    broken: &'a RefCell<Option<String>>,
}

impl<'s> Reader<'_, 's> {
    /// Checks the value against each of its rules.
    fn all<E: serde::de::Error>(&self, check: impl Fn(&Rules) -> Checked) -> Result<(), E> {
        for rules in self.rules {
            if let Err(rule) = check(rules) {
                return Err(self.refuse(&rule));
            }
        }
        Ok(())
    }

    /// Notes the rule that the value breaks, and returns the error that ends the reading.
    fn refuse<E: serde::de::Error>(&self, rule: &str) -> E {
        let named = match self.place {
            Some(place) => format!("`{place}`"),
            None => "the body".to_owned(),
        };
        *self.broken.borrow_mut() = Some(format!("{named}: {rule}"));
        E::custom("a rule is broken")
    }

    /// Refuses a text with a NUL, whatever it is for.
    fn refuse_nul<E: serde::de::Error>(&self, text: &str) -> Result<(), E> {
        match text.contains('\0') {
            true => Err(self.refuse("it has a NUL, which no text may have")),
            false => Ok(()),
        }
    }

    /// Checks the name of a field against the rules for names, which maps have.
    fn check_name<E: serde::de::Error>(&self, name: &str) -> Result<(), E> {
        self.refuse_nul::<E>(name)?;
        self.all(|rules| match rules.get("propertyNames") {
            Some(Value::Object(rules)) => text(rules, name),
            Some(_) | None => Ok(()),
        })
    }

    /// Returns the rules of what the value holds, by the schema that each of its own gives for it.
    fn inner_rules(&self, schema: impl Fn(&'s Rules) -> Option<&'s Value>) -> Vec<&'s Rules> {
        let mut rules = Vec::new();
        for schema in self.rules.iter().filter_map(|&rules| schema(rules)) {
            collect(self.schemas, schema, &mut rules);
        }
        rules
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.all(|rules| check_plain(rules, &value.into()))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.all(|rules| number(rules, &value.into()))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.all(|rules| number(rules, &value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.all(|rules| number(rules, &value.into()))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.refuse_nul::<E>(value)?;
        self.all(|rules| text(rules, value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let rules = self.inner_rules(|rules| rules.get("items"));
        let mut count = 0;
        let each = Reader {
            rules: &rules,
            ..self
        };
        while values.next_element_seed(each)?.is_some() {
            count += 1;
        }
        self.all(|rules| check_count(rules, ["minItems", "maxItems"], count, "elements"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut count = 0;
        while let Some(name) = fields.next_key::<String>()? {
            count += 1;
            self.check_name::<A::Error>(&name)?;
            let rules = self.inner_rules(|rules| {
                let described = rules.get("properties").and_then(|all| all.get(&name));
                described.or_else(|| rules.get("additionalProperties"))
            });
            let place = FieldPath {
                parent: self.place,
                name: &name,
            };
            fields.next_value_seed(Reader {
                rules: &rules,
                place: Some(&place),
                ..self
            })?;
        }
        self.all(|rules| check_count(rules, ["minProperties", "maxProperties"], count, "fields"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check_text(text: &str) -> Checked {
        let schemas = json!({
            "Chunk": {"type": "object", "properties": {"size": {"minimum": 1, "maximum": 5}}},
            "Body": {
                "properties": {
                    "chunks": {"type": "array", "maxItems": 2, "items": {"$ref": "#/components/schemas/Chunk"}},
                    "kind": {"oneOf": [{"type": "null"}, {"enum": ["a", "b"]}]},
                    "note": {
                        "additionalProperties": {"maxLength": 3, "x-rule": "it is too long"},
                        "propertyNames": {"maxLength": 5},
                    },
                },
                "minProperties": 1,
            },
        });
        let mut rules = Vec::new();
        collect(&schemas, &schemas["Body"], &mut rules);
        let mut json = serde_json::Deserializer::from_str(text);
        check(&schemas, &rules, &mut json)
    }

    #[test]
    fn no_field_of_a_form_has_a_nul() {
        let broken = |name: &str, text: &str| {
            let fields = [
                ("plan".to_owned(), "a".to_owned()),
                (name.into(), text.into()),
            ];
            form(None, &fields).err().map(|error| error.body().message)
        };
        assert_eq!(broken("coupon", "a\u{1b}\r\n"), None);
        let text = broken("coupon", "a\0");
        assert_eq!(
            text.as_deref(),
            Some("`coupon`: it has a NUL, which no text may have")
        );
        let name = broken("a\0", "");
        assert_eq!(
            name.as_deref(),
            Some("the body: it has a NUL, which no text may have")
        );
    }

    #[test]
    fn the_first_broken_rule_is_named_with_its_field() {
        for (text, rule) in [
            (
                r#"{"chunks": [{"size": 5}], "kind": null, "other": [1]}"#,
                None,
            ),
            (
                r#"{"chunks": [{"size": 1}, {"size": 6}]}"#,
                Some("`chunks.size`: it is 6; it has to be at most 5"),
            ),
            (
                r#"{"chunks": [{}, {}, {}]}"#,
                Some("`chunks`: it has 3 elements; at most 2 are allowed"),
            ),
            (
                r#"{"kind": "c"}"#,
                Some("`kind`: it has to be one of `a`, `b`"),
            ),
            (
                r#"{"note": {"x": "four"}}"#,
                Some("`note.x`: it is too long"),
            ),
            (
                r#"{"note": {"longer": "x"}}"#,
                Some("`note`: it has 6 characters; at most 5 are allowed"),
            ),
            (
                r#"{"other": "a\u0000b"}"#,
                Some("`other`: it has a NUL, which no text may have"),
            ),
            (
                r#"{"note": {"a\u0000": "x"}}"#,
                Some("`note`: it has a NUL, which no text may have"),
            ),
            (
                "{}",
                Some("the body: it has 0 fields; it has to have at least 1"),
            ),
            // For whoever reads it.
            ("", None),
            ("{", None),
            (r#"{"chunks": 7, "kind": {}}"#, None),
        ] {
            assert_eq!(
                check_text(text),
                rule.map_or(Ok(()), |rule| Err(rule.to_owned())),
                "{text}"
            );
        }
    }
}
