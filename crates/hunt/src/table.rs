//! A table of texts: columns by name, cells that may be missing.

/// A table as it stands in a file.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Table {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<Option<String>>>,
}

impl Table {
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|other| other == name)
    }

    pub(crate) fn cell(&self, row: usize, column: usize) -> Option<&str> {
        self.rows[row][column].as_deref()
    }

    pub(crate) fn cells(&self, column: usize) -> impl Iterator<Item = Option<&str>> {
        self.rows.iter().map(move |row| row[column].as_deref())
    }
}
