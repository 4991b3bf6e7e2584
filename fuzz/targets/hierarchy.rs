#![no_main]
//! See `incrowd_fuzz::hierarchy`.
incrowd_fuzz::target!(hierarchy);
