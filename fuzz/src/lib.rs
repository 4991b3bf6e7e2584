//! What the fuzz targets do, a module each: `run` takes an input and panics if something is wrong,
//! `seeds` gives inputs to start from, `mutate` changes an input in a way that keeps its form.
//!
//! The targets call the code that the commands call, and compare what it says with something
//! written apart: another parser, an interpreter, or the properties that the documentation
//! promises. `fuzz/run` builds and runs them; `fuzz/README.md` tells how.

pub mod csv;
pub mod hierarchy;
pub mod job;
pub mod memory;
mod mutation;
pub mod open;
pub mod recoding;
mod release;
pub mod resume;
mod rng;
pub mod sandbox;
pub mod sql;
mod table;

pub use libfuzzer_sys;

/// An input to start from, by its name.
pub type Seed = (String, Vec<u8>);

/// Writes the seeds of a target into the folder that `INCROWD_FUZZ_SEEDS` names, and ends the
/// process; does nothing where it is not set.
pub fn write_seeds(seeds: impl FnOnce() -> Vec<Seed>) {
    let Ok(folder) = std::env::var("INCROWD_FUZZ_SEEDS") else { return };
    for (name, bytes) in seeds() {
        let path = std::path::Path::new(&folder).join(name);
        std::fs::write(path, bytes).expect("the folder of seeds can be written");
    }
    std::process::exit(0);
}

/// The libFuzzer target of a module.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        use incrowd_fuzz::libfuzzer_sys;
        libfuzzer_sys::fuzz_target!(
            init: {
                incrowd_fuzz::write_seeds(incrowd_fuzz::$name::seeds);
                incrowd_fuzz::$name::start();
            },
            |input: &[u8]| {
                incrowd_fuzz::memory::start();
                incrowd_fuzz::$name::run(input);
            }
        );
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
            incrowd_fuzz::$name::mutate(data, size, most, seed)
        });
    };
}
