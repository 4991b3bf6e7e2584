//! The commands: the arguments of each and what it does.

pub(crate) mod anonymize;
pub(crate) mod apply;
pub(crate) mod attack;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod evaluate;
pub(crate) mod generate;
pub(crate) mod hierarchy;
pub(crate) mod profile;
pub(crate) mod query;
