//! Values: what the types of Arrow hold, how texts are told and ordered, how values are stored,
//! cut, hashed and compared. Nothing here knows a file.

pub(crate) mod content;
pub(crate) mod cut_point;
pub(crate) mod kind;
pub(crate) mod mix;
pub(crate) mod sample;
pub(crate) mod sets;
pub(crate) mod stored;
pub(crate) mod typing;
