# `just check` is what CI runs.
check:
    .ci/run

# All tests.
test:
    ./test

# Before a commit.
fix:
    cargo fmt --all
    cargo clippy --workspace --all-targets --fix --allow-dirty

# Speed and memory against a plain copy, as ratios of one run (see crates/bench).
bench rows="1000000":
    cargo run --release -p incrowd-bench -- speed --rows {{rows}}
