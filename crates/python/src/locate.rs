//! The place of a value in a TOML text, so that an error can point at it.

use std::ops::Range;

use pyo3::prelude::*;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One step of a path: the key of a table or the position in an array.
#[derive(FromPyObject)]
enum Step {
    Index(usize),
    Key(String),
}

/// Adds the functions of this file to the module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(locate, m)?)?;
    m.add_function(wrap_pyfunction!(mistake, m)?)
}

/// Line, column (both from 1, in characters) and length of the value at `path`, or of its key.
///
/// None when the text is not TOML or has no such value. A value over several lines counts up to the end of its first.
#[pyfunction]
#[pyo3(signature = (text, path, key = false))]
fn locate(text: &str, path: Vec<Step>, key: bool) -> Option<(usize, usize, usize)> {
    let table = DeTable::parse(text).ok()?;
    let span = find(table.get_ref(), &path, key)?;
    Some(place(text, span))
}

/// Line, column, length and reason of the first place where a text is not TOML, is nested deeper than `deepest`, or
/// has more keys than `most_keys`; None when it is fine.
#[pyfunction]
fn mistake(text: &str, deepest: usize, most_keys: usize) -> Option<(usize, usize, usize, String)> {
    let (span, reason) = match DeTable::parse(text) {
        Ok(table) => Bounds { deepest, keys_left: most_keys }.table(table.get_ref(), 1).err()?,
        Err(error) => (error.span().unwrap_or(text.len()..text.len()), error.message().to_owned()),
    };
    let (line, column, length) = place(text, span);
    Some((line, column, length, reason))
}

/// How much a text may hold; the parser itself ends at a depth of 80, so recursion is safe here.
struct Bounds {
    deepest: usize,
    keys_left: usize,
}

impl Bounds {
    fn table(&mut self, table: &DeTable<'_>, depth: usize) -> Result<(), (Range<usize>, String)> {
        for (key, value) in table {
            self.one(key.span(), depth)?;
            self.value(value, depth + 1)?;
        }
        Ok(())
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, depth: usize) -> Result<(), (Range<usize>, String)> {
        match value.get_ref() {
            DeValue::Table(table) => {
                self.one(value.span(), depth)?;
                self.table(table, depth)
            }
            DeValue::Array(array) => array.iter().try_for_each(|value| self.value(value, depth + 1)),
            _ => Ok(()),
        }
    }

    fn one(&mut self, span: Range<usize>, depth: usize) -> Result<(), (Range<usize>, String)> {
        if depth > self.deepest {
            return Err((span, "nested too deeply".to_owned()));
        }
        if self.keys_left == 0 {
            return Err((span, "too many keys".to_owned()));
        }
        self.keys_left -= 1;
        Ok(())
    }
}

fn find(table: &DeTable<'_>, path: &[Step], key: bool) -> Option<Range<usize>> {
    let (first, rest) = path.split_first()?;
    let Step::Key(name) = first else { return None };
    let (at, mut value) = table.iter().find(|(k, _)| k.get_ref() == name)?;
    let mut at = Some(at.span());
    for step in rest {
        (at, value) = child(value, step)?;
    }
    Some(at.filter(|_| key).unwrap_or_else(|| value.span()))
}

fn child<'v, 'i>(
    value: &'v Spanned<DeValue<'i>>,
    step: &Step,
) -> Option<(Option<Range<usize>>, &'v Spanned<DeValue<'i>>)> {
    match (value.get_ref(), step) {
        (DeValue::Table(table), Step::Key(name)) => {
            table.iter().find(|(k, _)| k.get_ref() == name).map(|(k, v)| (Some(k.span()), v))
        }
        (DeValue::Array(array), Step::Index(index)) => array.get(*index).map(|v| (None, v)),
        _ => None,
    }
}

fn place(text: &str, span: Range<usize>) -> (usize, usize, usize) {
    let before = text.get(..span.start).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    let value = text.get(span).unwrap_or("");
    let first = value.lines().next().unwrap_or("");
    (line, before[start..].chars().count() + 1, first.chars().count().max(1))
}
