//! Named columns as bytes: the form in which arrays come and results go.
//!
//! Each begins at a multiple of eight bytes: the bytes of its name and its kind, four bytes each, the number of its rows,
//! eight bytes, then the name and the rows, each filled up to a multiple of eight. Numbers are little-endian.

use std::collections::BTreeMap;

use fabriloom_engine::results::{Results, Value};

/// Kinds of columns by their number. A single number is a column of one row, and [`ONE`] is added to its kind.
const WORD: u32 = 0;
const U8: u32 = 1;
const U32: u32 = 2;
const U64: u32 = 3;
const I64: u32 = 4;
const F64: u32 = 5;
const ONE: u32 = 16;

/// The type of a row, with its kind and the bytes that it takes.
pub trait Row: Sized {
    /// Its kind.
    const KIND: u32;
    /// Its number of bytes.
    const BYTES: usize;
    /// Returns the row of its bytes.
    fn of(bytes: &[u8]) -> Self;
}

macro_rules! rows {
    ($($type:ident $kind:ident),*) => {
        $(impl Row for $type {
            const KIND: u32 = $kind;
            const BYTES: usize = size_of::<$type>();
            fn of(bytes: &[u8]) -> Self {
                $type::from_le_bytes(bytes.try_into().expect("as many as a row has"))
            }
        })*
    };
}

rows!(u8 U8, u32 U32, u64 U64, f64 F64);

/// The columns of some bytes, by name; each can be taken once.
pub struct Columns<'a>(BTreeMap<&'a str, (u32, &'a [u8])>);

impl<'a> Columns<'a> {
    /// Finds the columns.
    ///
    /// # Errors
    /// These are not columns.
    pub fn of(bytes: &'a [u8]) -> Result<Self, String> {
        let (mut found, mut rest) = (BTreeMap::new(), bytes);
        while !rest.is_empty() {
            let (name, kind, rows);
            (name, kind, rows, rest) = first(rest).ok_or("the bytes of a column are not all there")?;
            if found.insert(name, (kind, rows)).is_some() {
                return Err(format!("{name} is there twice"));
            }
        }
        Ok(Self(found))
    }

    /// Takes a column; an empty one if it is not there.
    ///
    /// # Errors
    /// It has another type.
    pub fn column<T: Row>(&mut self, name: &str) -> Result<Vec<T>, String> {
        let Some((kind, rows)) = self.0.remove(name) else { return Ok(Vec::new()) };
        if kind % ONE != T::KIND {
            return Err(format!("{name} is of kind {kind}"));
        }
        Ok(rows.chunks_exact(T::BYTES).map(T::of).collect())
    }

    /// Takes a single number; none if it is not there.
    ///
    /// # Errors
    /// It has another type.
    pub fn number<T: Row>(&mut self, name: &str) -> Result<Option<T>, String> {
        Ok(self.column(name)?.into_iter().next())
    }

    /// Ends with nothing left.
    ///
    /// # Errors
    /// There is a column that nobody has taken.
    pub fn all_taken(self) -> Result<(), String> {
        self.0.keys().next().map_or(Ok(()), |name| Err(format!("{name} is no column of the engine")))
    }
}

/// Returns the first column of some bytes (its name, its kind, its rows) and the rest of them.
fn first(bytes: &[u8]) -> Option<(&str, u32, &[u8], &[u8])> {
    let (head, rest) = bytes.split_at_checked(16)?;
    let (kind, count) = (u32::of(&head[4..8]), usize::try_from(u64::of(&head[8..])).ok()?);
    let size = match kind % ONE {
        U32 => 4,
        U64 | I64 | F64 => 8,
        _ => 1,
    };
    let (name, rest) = filled(rest, u32::of(&head[..4]) as usize)?;
    let (rows, rest) = filled(rest, count.checked_mul(size)?)?;
    Some((str::from_utf8(name).ok()?, kind, rows, rest))
}

/// Returns this number of bytes, and those behind the ones that fill them up.
fn filled(bytes: &[u8], count: usize) -> Option<(&[u8], &[u8])> {
    let (whole, rest) = bytes.split_at_checked(count.checked_next_multiple_of(8)?)?;
    Some((&whole[..count], rest))
}

/// Returns results as bytes.
///
/// # Errors
/// A number is too large for eight bytes.
pub fn bytes_of(results: &Results) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for (name, value) in &results.0 {
        match value {
            Value::Word(word) => put(&mut out, name, WORD, word.bytes().map(|byte| [byte])),
            Value::Number(number) => {
                let number = i64::try_from(*number).map_err(|_| format!("{name} is too large"))?;
                put(&mut out, name, ONE + I64, [number.to_le_bytes()].into_iter());
            }
            Value::U8(rows) => put(&mut out, name, U8, rows.iter().map(|row| [*row])),
            Value::U32(rows) => put(&mut out, name, U32, rows.iter().map(|row| row.to_le_bytes())),
            Value::U64(rows) => put(&mut out, name, U64, rows.iter().map(|row| row.to_le_bytes())),
            Value::I64(rows) => put(&mut out, name, I64, rows.iter().map(|row| row.to_le_bytes())),
        }
    }
    Ok(out)
}

fn put<const N: usize>(
    out: &mut Vec<u8>,
    name: &str,
    kind: u32,
    rows: impl ExactSizeIterator<Item = [u8; N]>,
) {
    out.extend((name.len() as u32).to_le_bytes());
    out.extend(kind.to_le_bytes());
    out.extend((rows.len() as u64).to_le_bytes());
    out.extend(name.bytes());
    out.resize(out.len().next_multiple_of(8), 0);
    out.extend(rows.flatten());
    out.resize(out.len().next_multiple_of(8), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, "seed", ONE + U64, [7_u64.to_le_bytes()].into_iter());
        put(&mut out, "route", U32, [1_u32, 2, 3].iter().map(|row| row.to_le_bytes()));
        out
    }

    #[test]
    fn what_was_put_is_taken_by_its_name() {
        let bytes = some();
        let mut columns = Columns::of(&bytes).unwrap();
        assert_eq!(columns.column::<u32>("route").unwrap(), [1, 2, 3]);
        assert_eq!(columns.number::<u64>("seed").unwrap(), Some(7));
        assert_eq!(columns.number::<u64>("seed").unwrap(), None);
        assert!(columns.all_taken().is_ok());
    }

    #[test]
    fn what_is_wrong_is_said() {
        let bytes = some();
        assert!(Columns::of(&bytes).unwrap().column::<f64>("route").is_err());
        assert!(Columns::of(&bytes).unwrap().all_taken().is_err());
        assert!(Columns::of(&[bytes.clone(), bytes.clone()].concat()).is_err());
        for end in 1..bytes.len() {
            assert!(end == 32 || Columns::of(&bytes[..end]).is_err(), "{end}");
        }
    }
}
