//! Values of columns and parameters, and their conversion from and to the types of the store. Both are borrowed: no
//! row and no parameter costs an allocation that its type does not need.

use super::error::{Error, Result};

/// A value as it lies in a row, or as it goes into a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueRef<'a> {
    Null,
    Integer(i64),
    /// UTF-8, unless the file is damaged.
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

/// A value of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
    Blob(Vec<u8>),
}

/// The reason why a value can't be read as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mismatch {
    #[error("the value has another type")]
    Type,
    #[error("the number is out of range")]
    Range,
    #[error("the value has another length")]
    Length,
    #[error("the text is not valid UTF-8")]
    Text,
}

/// A type that a column can be read as.
pub(crate) trait FromSql: Sized {
    fn from_sql(value: ValueRef<'_>) -> Result<Self, Mismatch>;
}

/// A type that a parameter can have.
pub(crate) trait ToSql {
    fn to_sql(&self) -> Result<ValueRef<'_>>;
}

impl<'a> ValueRef<'a> {
    /// Returns the text; `None` for null.
    pub(crate) fn as_str_or_null(self) -> Result<Option<&'a str>, Mismatch> {
        match self {
            Self::Null => Ok(None),
            Self::Text(text) => std::str::from_utf8(text)
                .map(Some)
                .map_err(|_| Mismatch::Text),
            Self::Integer(_) | Self::Blob(_) => Err(Mismatch::Type),
        }
    }

    pub(crate) fn as_str(self) -> Result<&'a str, Mismatch> {
        self.as_str_or_null()?.ok_or(Mismatch::Type)
    }

    pub(crate) fn as_blob(self) -> Result<&'a [u8], Mismatch> {
        match self {
            Self::Blob(bytes) => Ok(bytes),
            Self::Null | Self::Integer(_) | Self::Text(_) => Err(Mismatch::Type),
        }
    }

    pub(crate) fn as_i64(self) -> Result<i64, Mismatch> {
        match self {
            Self::Integer(number) => Ok(number),
            Self::Null | Self::Text(_) | Self::Blob(_) => Err(Mismatch::Type),
        }
    }
}

macro_rules! integers {
    ($($name:ty),*) => {
        $(
            impl FromSql for $name {
                fn from_sql(value: ValueRef<'_>) -> Result<Self, Mismatch> {
                    Self::try_from(value.as_i64()?).map_err(|_| Mismatch::Range)
                }
            }
        )*
    };
}

integers!(i64, i32, u8, u16, u32, u64, usize);

macro_rules! small_integers {
    ($($name:ty),*) => {
        $(
            impl ToSql for $name {
                fn to_sql(&self) -> Result<ValueRef<'_>> {
                    Ok(ValueRef::Integer(i64::from(*self)))
                }
            }
        )*
    };
}

small_integers!(bool, i64, i32, u8, u16, u32);

impl ToSql for u64 {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        i64::try_from(*self)
            .map(ValueRef::Integer)
            .map_err(|_| Error::OutOfRange(*self))
    }
}

impl ToSql for usize {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        i64::try_from(*self)
            .map(ValueRef::Integer)
            .map_err(|_| Error::OutOfRange(*self as u64))
    }
}

impl FromSql for bool {
    fn from_sql(value: ValueRef<'_>) -> Result<Self, Mismatch> {
        value.as_i64().map(|number| number != 0)
    }
}

impl FromSql for String {
    fn from_sql(value: ValueRef<'_>) -> Result<Self, Mismatch> {
        value.as_str().map(str::to_owned)
    }
}

impl FromSql for Vec<u8> {
    fn from_sql(value: ValueRef<'_>) -> Result<Self, Mismatch> {
        value.as_blob().map(<[u8]>::to_vec)
    }
}

impl<const N: usize> FromSql for [u8; N] {
    fn from_sql(value: ValueRef<'_>) -> Result<Self, Mismatch> {
        value.as_blob()?.try_into().map_err(|_| Mismatch::Length)
    }
}

impl FromSql for Value {
    fn from_sql(value: ValueRef<'_>) -> Result<Self, Mismatch> {
        Ok(match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Text(_) => Self::Text(value.as_str()?.to_owned()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        })
    }
}

impl<T: FromSql> FromSql for Option<T> {
    fn from_sql(value: ValueRef<'_>) -> Result<Self, Mismatch> {
        match value {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(_) | ValueRef::Text(_) | ValueRef::Blob(_) => {
                T::from_sql(value).map(Some)
            }
        }
    }
}

impl ToSql for str {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Text(self.as_bytes()))
    }
}

impl ToSql for String {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        self.as_str().to_sql()
    }
}

impl ToSql for [u8] {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Blob(self))
    }
}

impl<const N: usize> ToSql for [u8; N] {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Blob(self))
    }
}

impl ToSql for Vec<u8> {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Blob(self))
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        Ok(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        })
    }
}

impl<T: ToSql> ToSql for Option<T> {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        self.as_ref().map_or(Ok(ValueRef::Null), ToSql::to_sql)
    }
}

impl<T: ToSql + ?Sized> ToSql for &T {
    fn to_sql(&self) -> Result<ValueRef<'_>> {
        (**self).to_sql()
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Integer(i64::from(truth))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Blob(bytes)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_no_column_holds_is_refused_both_ways() {
        assert!(matches!(u64::MAX.to_sql(), Err(Error::OutOfRange(_))));
        assert_eq!(u8::from_sql(ValueRef::Integer(256)), Err(Mismatch::Range));
        assert_eq!(u64::from_sql(ValueRef::Integer(-1)), Err(Mismatch::Range));
        assert_eq!(bool::from_sql(ValueRef::Integer(2)), Ok(true));
    }

    #[test]
    fn a_value_is_read_as_its_own_type_only() {
        assert_eq!(i64::from_sql(ValueRef::Text(b"1")), Err(Mismatch::Type));
        assert_eq!(String::from_sql(ValueRef::Blob(b"1")), Err(Mismatch::Type));
        assert_eq!(
            String::from_sql(ValueRef::Text(b"\xff")),
            Err(Mismatch::Text)
        );
        assert_eq!(
            <[u8; 2]>::from_sql(ValueRef::Blob(b"1")),
            Err(Mismatch::Length)
        );
        assert_eq!(String::from_sql(ValueRef::Null), Err(Mismatch::Type));
        assert_eq!(Option::<String>::from_sql(ValueRef::Null), Ok(None));
    }
}
