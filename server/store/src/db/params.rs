//! The parameters of a statement.

use super::error::Result;
use super::value::{ToSql, ValueRef};

/// The values for `?1`, `?2` and so on, in this order.
pub(crate) trait Params {
    fn count(&self) -> usize;

    /// Returns one of them, counted from 0.
    fn value(&self, index: usize) -> Result<ValueRef<'_>>;
}

impl<T: ToSql> Params for &[T] {
    fn count(&self) -> usize {
        self.len()
    }

    fn value(&self, index: usize) -> Result<ValueRef<'_>> {
        self[index].to_sql()
    }
}

/// No parameters. The type is named here, so that `[]` needs none.
impl Params for [&dyn ToSql; 0] {
    fn count(&self) -> usize {
        0
    }

    fn value(&self, _: usize) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Null)
    }
}

macro_rules! arrays {
    ($($length:literal),*) => {
        $(
            impl<T: ToSql> Params for [T; $length] {
                fn count(&self) -> usize {
                    $length
                }

                fn value(&self, index: usize) -> Result<ValueRef<'_>> {
                    self[index].to_sql()
                }
            }
        )*
    };
}

arrays!(1, 2, 3, 4, 5);

/// Parameters of different types.
macro_rules! params {
    ($($value:expr),+ $(,)?) => {
        &[$(&$value as &dyn $crate::db::ToSql),+] as &[&dyn $crate::db::ToSql]
    };
}
pub(crate) use params;
