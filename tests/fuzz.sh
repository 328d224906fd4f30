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

nightly=${FUZZ_TOOLCHAIN:-nightly}
if ! rustc "+$nightly" --version >/dev/null 2>&1; then
    echo "fuzzing: skipped, for there is no toolchain \"$nightly\" (rustup toolchain install nightly)"
    exit 0
fi
if [ ! -x "$tool/bin/cargo-fuzz" ]; then
    cargo install --quiet --locked --root "$tool" "cargo-fuzz@$version"
fi
export PATH="$PWD/$tool/bin:$PATH"

# The versions that everything else is built with.
cp Cargo.lock fuzz/Cargo.lock

# Without a sanitizer: ours is safe Rust throughout, and the panics are what is looked for.
fuzz() { cargo "+$nightly" fuzz "$1" --sanitizer none --codegen-units 16 --target-dir "$home" "${@:2}"; }

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi

fuzz build
for target in "${targets[@]}"; do
    mkdir -p "$home/corpus/$target" "$home/found/$target"
    regressions=fuzz/regressions/$target
    printf '\nfuzzing %s for %s s\n' "$target" "$seconds"
    # New inputs go to the first folder; the committed ones are only read.
    if ! fuzz run "$target" "$home/corpus/$target" "fuzz/seeds/$target" $([ -d "$regressions" ] && echo "$regressions") -- \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 \
        -artifact_prefix="$home/found/$target/" -print_final_stats=0 -verbosity=0 \
        >"$home/$target.log" 2>&1; then
        tail -n 60 "$home/$target.log"
        echo "fuzzing $target found something: mend it, and keep the input under fuzz/regressions/$target" >&2
        exit 1
    fi
    tail -n 1 "$home/$target.log"
done
