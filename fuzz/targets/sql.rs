#![no_main]
//! See `incrowd_fuzz::sql`.
incrowd_fuzz::target!(sql);
