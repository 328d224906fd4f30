#!/usr/bin/env bash
# Every fuzz target for so many seconds (10, or what is said first), or only those that are named:
# `tests/fuzz.sh 120 verify grammar`. Needs a nightly toolchain; without one it says so and is content,
# for `cargo test` replays every seed on stable. What is built and found stays under target/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-10}
shift || true
version=0.13.1
home=target/fuzz
tool=target/tools/cargo-fuzz-$version
toolchain=nightly

skip() { echo "fuzzing: skipped, $1 (rustup toolchain install $toolchain)"; exit 0; }
found=$(rustc "+$toolchain" --version 2>/dev/null) || skip "there is no $toolchain toolchain"
# rustc 1.97.0-nightly (..): the second number against that of `rust-version`.
needed=$(sed -n 's/^rust-version = "1\.\([0-9]*\)"/\1/p' Cargo.toml)
minor=$(echo "$found" | sed 's/^rustc 1\.\([0-9]*\).*/\1/')
[ "$minor" -ge "$needed" ] || skip "$found is older than 1.$needed"

if [ ! -x "$tool/bin/cargo-fuzz" ]; then
    # It only calls cargo and the targets: built quickly, not to be quick.
    CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        cargo install --quiet --locked --root "$tool" "cargo-fuzz@$version"
fi
export PATH="$PWD/$tool/bin:$PATH"

# The versions that everything else is built with.
cp Cargo.lock fuzz/Cargo.lock

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi

# Without a sanitizer: ours is safe Rust throughout, and what is looked for is panics.
flags=(--sanitizer none --codegen-units 16 --target-dir "$home")
cargo "+$toolchain" fuzz build "${flags[@]}"

for target in "${targets[@]}"; do
    # What is new goes to the first folder; the committed ones are only read.
    folders=("$home/corpus/$target" "fuzz/seeds/$target")
    [ ! -d "fuzz/regressions/$target" ] || folders+=("fuzz/regressions/$target")
    mkdir -p "$home/corpus/$target" "$home/found/$target"
    if ! cargo "+$toolchain" fuzz run "${flags[@]}" "$target" "${folders[@]}" -- \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 \
        -artifact_prefix="$home/found/$target/" -print_final_stats=1 >"$home/$target.log" 2>&1; then
        tail -n 60 "$home/$target.log"
        echo "fuzzing: $target found something: mend it, and keep the input in fuzz/regressions/$target" >&2
        exit 1
    fi
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$home/$target.log")
    printf 'fuzzing: %-8s %8s inputs in %s s, nothing found\n' "$target" "$inputs" "$seconds"
done
