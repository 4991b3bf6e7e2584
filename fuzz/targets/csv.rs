#![no_main]
//! See `incrowd_fuzz::csv`.
incrowd_fuzz::target!(csv);
