//! What a column is to a job.

/// What a column is to the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Identifier,
    Quasi,
    Sensitive,
    Insensitive,
}

impl Role {
    pub(crate) const NAMES: [(&'static str, Role); 4] = [
        ("identifier", Role::Identifier),
        ("quasi", Role::Quasi),
        ("sensitive", Role::Sensitive),
        ("insensitive", Role::Insensitive),
    ];
}
