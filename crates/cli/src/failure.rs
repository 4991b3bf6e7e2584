//! Something that went wrong, as it is told to people and to programs.

/// Something that went wrong, with its causes and the way out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) because: Vec<String>,
    pub(crate) help: Option<String>,
}
