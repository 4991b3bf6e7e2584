//! What a job says about itself, for the people who read its report.

use serde::{Deserialize, Deserializer, Serialize};

/// What a report says at its head and above its signatures. Nothing is made of it but text: no date
/// is filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct AboutSpec {
    /// The heading of the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the release is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// Who gets the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// The date of the report, in whatever form.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "text_or_date")]
    pub date: Option<String>,
    /// Who made the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prepared_by: Option<String>,
    /// Who decides about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
}

impl AboutSpec {
    /// The keys in a job file.
    pub(crate) const KEYS: [&'static str; 6] =
        ["title", "purpose", "recipient", "date", "prepared-by", "approved-by"];

    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == AboutSpec::default()
    }

    /// What everybody may read: no names of people.
    pub(crate) fn without_names(self) -> AboutSpec {
        AboutSpec { prepared_by: None, approved_by: None, ..self }
    }
}

/// A text, or a date as TOML has it without quotes.
fn text_or_date<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a date is a text, such as \"2026-01-31\"")]
    enum Date {
        Text(String),
        Date(toml::value::Datetime),
    }
    Ok(Some(match Date::deserialize(from)? {
        Date::Text(text) => text,
        Date::Date(date) => date.to_string(),
    }))
}
