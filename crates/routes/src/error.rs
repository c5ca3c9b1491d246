//! Errors as a list of words, so that the caller can insert names for numbers.

use std::fmt;

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// Plain text.
    Text(String),
    /// A switch number.
    Switch(u32),
    /// A terminal number.
    Terminal(u32),
    /// A link number.
    Link(u32),
}

/// A routing that cannot be built or does not work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct RouteError {
    /// The message, joined without additional spaces.
    pub words: Vec<Word>,
}

impl RouteError {
    /// Returns an error of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of([Word::Text(text.into())])
    }

    /// Returns an error of several words.
    pub fn of(words: impl IntoIterator<Item = Word>) -> Self {
        Self { words: words.into_iter().collect() }
    }

    /// Appends the switches, separated by " > ".
    pub fn then_path(mut self, switches: &[u32]) -> Self {
        for (place, &switch) in switches.iter().enumerate() {
            if place > 0 {
                self.words.push(" > ".into());
            }
            self.words.push(Word::Switch(switch));
        }
        self
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Word::Text(text.to_owned())
    }
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for word in &self.words {
            match word {
                Word::Text(text) => f.write_str(text)?,
                Word::Switch(number) => write!(f, "switch {number}")?,
                Word::Terminal(number) => write!(f, "terminal {number}")?,
                Word::Link(number) => write!(f, "link {number}")?,
            }
        }
        Ok(())
    }
}
