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

# Fuzz targets for some seconds each, all of them if none is named (see fuzz/README.md).
fuzz seconds="60" *targets:
    fuzz/run {{seconds}} {{targets}}

# Random jobs against the command, judged by a verifier of its own (see crates/hunt).
hunt jobs="2000":
    cargo build --workspace --locked --bin incrowd --bin incrowd-hunt
    "${CARGO_TARGET_DIR:-target}/debug/incrowd-hunt" {{jobs}}

# Kills runs at random moments and looks at what they leave.
kill kills="1000":
    INCROWD_KILLS={{kills}} cargo nextest run --workspace --locked -E 'test(/^kill::/)'

# Mutated Parquet and Arrow files, each read with 2 GB of address space.
malformed files="3000":
    INCROWD_MALFORMED={{files}} cargo nextest run --workspace --locked -E 'test(/^malformed::/)'

# The memory limit on tables of gigabytes.
memory:
    INCROWD_MEMORY=full cargo nextest run --workspace --locked -E 'test(/^memory::/)'
