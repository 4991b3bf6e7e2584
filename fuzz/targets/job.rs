#![no_main]
//! See `incrowd_fuzz::job`.
incrowd_fuzz::target!(job);
