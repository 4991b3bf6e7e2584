#![no_main]
//! See `incrowd_fuzz::resume`.
incrowd_fuzz::target!(resume);
