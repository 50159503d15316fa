//! Values in the types of PostgreSQL. A column is read where it lies in the answer; a parameter takes the type that
//! the statement gives it.

use super::super::value::ValueRef;
use bytes::{BufMut as _, BytesMut};
use std::error::Error;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

type Result<T> = std::result::Result<T, Box<dyn Error + Sync + Send>>;

/// A parameter.
#[derive(Debug)]
pub(super) struct Parameter<'a>(pub(super) ValueRef<'a>);

/// A column of an answer.
pub(super) struct Column<'a>(pub(super) ValueRef<'a>);

impl ToSql for Parameter<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull> {
        match self.0 {
            ValueRef::Null => return Ok(IsNull::Yes),
            ValueRef::Integer(number) => return integer(number, kind, out),
            ValueRef::Text(text) if is_text(kind) => out.put_slice(text),
            ValueRef::Blob(bytes) if *kind == Type::BYTEA => out.put_slice(bytes),
            ValueRef::Text(_) | ValueRef::Blob(_) => return Err(type_error(kind)),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn integer(number: i64, kind: &Type, out: &mut BytesMut) -> Result<IsNull> {
    match *kind {
        Type::INT8 => number.to_sql(kind, out),
        Type::INT4 => i32::try_from(number)?.to_sql(kind, out),
        Type::INT2 => i16::try_from(number)?.to_sql(kind, out),
        Type::BOOL => (number != 0).to_sql(kind, out),
        _ => Err(type_error(kind)),
    }
}

fn is_text(kind: &Type) -> bool {
    matches!(*kind, Type::TEXT | Type::VARCHAR | Type::NAME | Type::JSON)
}

fn type_error(kind: &Type) -> Box<dyn Error + Sync + Send> {
    format!("the statement takes a value of the type {kind}").into()
}

impl<'a> FromSql<'a> for Column<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self> {
        Ok(Self(match *kind {
            Type::BYTEA => ValueRef::Blob(raw),
            Type::INT8 => ValueRef::Integer(i64::from_sql(kind, raw)?),
            Type::INT4 => ValueRef::Integer(i32::from_sql(kind, raw)?.into()),
            Type::INT2 => ValueRef::Integer(i16::from_sql(kind, raw)?.into()),
            Type::BOOL => ValueRef::Integer(bool::from_sql(kind, raw)?.into()),
            // Sums of whole numbers.
            Type::NUMERIC => {
                ValueRef::Integer(whole_number(raw).ok_or("a number that is not whole")?)
            }
            _ if is_text(kind) => ValueRef::Text(raw),
            _ => return Err(format!("a column of the type {kind}").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self> {
        Ok(Self(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Returns a `numeric` that is whole and no longer than 64 bits: its digits, to the base of 10,000, after their
/// number, the weight of the first, the sign and the number of decimals, each of 16 bits.
fn whole_number(raw: &[u8]) -> Option<i64> {
    let mut words = raw
        .chunks_exact(2)
        .map(|word| Some(i16::from_be_bytes(word.try_into().ok()?)));
    let mut next = || words.next().flatten();
    let (count, weight, sign, _decimals) = (next()?, next()?, next()?, next()?);
    if !matches!(sign, 0 | 0x4000) || count > weight.checked_add(1)? {
        return None;
    }
    let mut number = 0_i64;
    for place in 0..=weight {
        let digit = if place < count { next()? } else { 0 };
        number = number.checked_mul(10_000)?.checked_sub(digit.into())?;
    }
    if sign == 0 {
        number.checked_neg()
    } else {
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::whole_number;

    fn numeric(words: &[i16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn sums_are_whole_numbers_of_64_bits() {
        for (words, expected) in [
            (&[0, 0, 0, 0][..], Some(0)),
            (&[1, 0, 0, 0, 7], Some(7)),
            (&[1, 1, 0, 0, 3], Some(30_000)),
            (&[2, 1, 0x4000, 0, 1, 2345], Some(-12_345)),
            (
                &[5, 4, 0x4000, 0, 922, 3372, 368, 5477, 5808],
                Some(i64::MIN),
            ),
            (&[5, 4, 0, 0, 922, 3372, 368, 5477, 5808], None),
            // 1.5
            (&[2, 0, 0, 1, 1, 5000], None),
            // NaN
            (&[0, 0, -0x4000, 0], None),
        ] {
            assert_eq!(whole_number(&numeric(words)), expected, "{words:?}");
        }
    }
}
