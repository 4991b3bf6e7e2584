//! Tables that can be checked on paper.
