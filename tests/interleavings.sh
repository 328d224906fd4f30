#!/usr/bin/env bash
# Plays jobs in so many random orders, half of them in each of two processes: the table of each case is an
# engine of its own, and one process makes use of one core.
set -euo pipefail
cd "$(dirname "$0")/.."

cases=${1:-10000}
property=workflow::interleavings::one_end_and_exactly_its_actions_whoever_observes_it_when

play() {
    PROPTEST_CASES=$(((cases + 1) / 2)) \
        cargo test --quiet --workspace --test it -- --exact "$property"
}

play &
other=$!
failed=0
play || failed=1
wait "$other" || failed=1
exit "$failed"
