#![no_main]
//! See `incrowd_fuzz::recoding`.
incrowd_fuzz::target!(recoding);
