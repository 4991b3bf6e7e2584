//! Files and folders that come into being at once or not at all: written under private names, and
//! given their own by renames of which all happen or none.

mod digest;
pub(crate) mod held;
pub(crate) mod memory;
mod names;
pub(crate) mod stage;
mod staging;

pub use digest::sha256;
pub use held::{Abandoned, abandon};
pub use memory::Slot;
pub use names::publish;
pub use stage::{Access, Staged, stage_bytes, stage_written};
pub use staging::{Manifest, Output, Part, Staging, foreign_in};
