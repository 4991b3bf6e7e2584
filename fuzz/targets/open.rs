#![no_main]
//! See `incrowd_fuzz::open`.
incrowd_fuzz::target!(open);
