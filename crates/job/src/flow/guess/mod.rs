//! What a column is, guessed from its name and its values.

pub(crate) mod number;
mod shape;
pub(crate) mod suggest;
mod vocabulary;
pub(crate) mod words;
