//! Numbers and strings as format 2 writes them: big-endian, LEB128 in its shortest form, strings with
//! their length in front. Missing and trailing bytes are errors.
//!
//! In the layouts of this crate v is a LEB128 number, zz a zigzag one, v+x bytes after their length, and a number the
//! length of a field in bytes.

use crate::error::LogError;
use cairn_model::AccountId;
use uuid::Uuid;

type Result<T> = std::result::Result<T, LogError>;

/// Numbers of variable length are below this.
const MAX_VARINT: u64 = 1 << 63;

/// Appends fields to a record.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Starts an empty record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a byte.
    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.raw(&[value])
    }

    /// Writes four bytes.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    /// Writes the lower 48 bits.
    pub fn u48(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_be_bytes()[2..])
    }

    /// Writes an unsigned LEB128; numbers from 2^63 on are written and no reader takes them.
    pub fn v(&mut self, mut value: u64) -> &mut Self {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.u8(value as u8)
    }

    /// Writes a signed number, zigzag.
    pub fn zz(&mut self, value: i64) -> &mut Self {
        self.v(((value << 1) ^ (value >> 63)) as u64)
    }

    /// Writes bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Writes bytes with their length in front.
    pub fn vx(&mut self, bytes: &[u8]) -> &mut Self {
        self.v(bytes.len() as u64).raw(bytes)
    }

    /// Returns the record.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

/// Takes fields from a record. Each of its functions fails with [`LogError::NotGenuine`].
#[derive(Clone, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns what is left.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Takes a number of bytes.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] if there are fewer bytes.
    pub fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (head, rest) = self
            .0
            .split_at_checked(length)
            .ok_or(LogError::NotGenuine)?;
        self.0 = rest;
        Ok(head)
    }

    /// Takes bytes of a fixed number.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] if there are fewer bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self
            .0
            .split_first_chunk::<N>()
            .ok_or(LogError::NotGenuine)?;
        self.0 = rest;
        Ok(*head)
    }

    /// Takes the id of an account.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] if there are fewer bytes.
    pub fn account(&mut self) -> Result<AccountId> {
        self.array().map(|id| AccountId(Uuid::from_bytes(id)))
    }

    /// Takes a byte.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] if there are fewer bytes.
    pub fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Takes four bytes as a number.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] if there are fewer bytes.
    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// Takes six bytes as a number.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] if there are fewer bytes.
    pub fn u48(&mut self) -> Result<u64> {
        let low: [u8; 6] = self.array()?;
        Ok(low.iter().fold(0, |value, &b| value << 8 | u64::from(b)))
    }

    /// Reads an unsigned LEB128 below 2^63; a longer form than needed is an error.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] for another form.
    pub fn v(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let is_shortest = byte != 0 || shift == 0;
                return if is_shortest && value < MAX_VARINT {
                    Ok(value)
                } else {
                    Err(LogError::NotGenuine)
                };
            }
        }
        Err(LogError::NotGenuine)
    }

    /// Reads a signed number, zigzag.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] if there are fewer bytes.
    pub fn zz(&mut self) -> Result<i64> {
        let value = self.v()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads bytes with their length in front; more than `max` are an error.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] for more, or fewer than the length says.
    pub fn vx(&mut self, max: usize) -> Result<&'a [u8]> {
        let length = usize::try_from(self.v()?).map_err(|_| LogError::NotGenuine)?;
        if length > max {
            return Err(LogError::NotGenuine);
        }
        self.take(length)
    }

    /// Reads a count of rows of at least `row` bytes each, which the rest has to have room for: a count
    /// alone never causes an allocation.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] for a higher count.
    pub fn count(&mut self, row: usize) -> Result<usize> {
        let count = usize::try_from(self.v()?).map_err(|_| LogError::NotGenuine)?;
        if count > self.0.len() / row.max(1) {
            return Err(LogError::NotGenuine);
        }
        Ok(count)
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    /// [`LogError::NotGenuine`] if something is.
    pub fn end(&self) -> Result<()> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(LogError::NotGenuine)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(v in 0..MAX_VARINT, zz in -(1_i64 << 62)..(1 << 62), u48 in 0..1_u64 << 48) {
            let bytes = Writer::new().v(v).zz(zz).u48(u48).finish();
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!((reader.v()?, reader.zz()?, reader.u48()?), (v, zz, u48));
            prop_assert!(reader.end().is_ok());
        }

        #[test]
        fn a_number_has_one_form(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            let mut reader = Reader::new(&bytes);
            if let Ok(value) = reader.v() {
                let again = Writer::new().v(value).finish();
                prop_assert_eq!(&bytes[..bytes.len() - reader.rest().len()], &again[..]);
            }
        }
    }

    #[test]
    fn long_forms_and_large_numbers_are_refused() {
        let long: &[&[u8]] = &[
            &[0x80, 0x00],
            &[0xff, 0x80, 0x00],
            &[0x80; 12],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[],
            &[0x80],
        ];
        for bytes in long {
            assert!(Reader::new(bytes).v().is_err(), "{bytes:?}");
        }
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        assert_eq!(Reader::new(&most).v(), Ok(MAX_VARINT - 1));
    }

    #[test]
    fn counts_and_lengths_are_held_against_what_is_there() {
        let huge = Writer::new().v(MAX_VARINT - 1).raw(&[0; 8]).finish();
        assert!(Reader::new(&huge).vx(usize::MAX).is_err());
        assert!(Reader::new(&huge).count(1).is_err());
        assert!(Reader::new(&[2, 7, 7]).vx(1).is_err());
        assert_eq!(Reader::new(&[2, 7, 7]).vx(2), Ok(&[7, 7][..]));
    }
}
