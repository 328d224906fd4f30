#!/usr/bin/env bash
# The same suite against another DynamoDB-compatible engine: ministack (PyPI). Installs it under
# target/, starts it on a free port, waits until it answers, runs the tests that speak to an engine,
# and stops it. What is given on the command line goes to `cargo test`.
set -euo pipefail
cd "$(dirname "$0")/.."

version=1.5.33
home=target/second-engine
venv=$home/ministack-$version

if [ ! -x "$venv/bin/ministack" ]; then
    mkdir -p "$home"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "ministack==$version"
fi

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
endpoint=http://127.0.0.1:$port

GATEWAY_PORT=$port BIND_HOST=127.0.0.1 SERVICES=dynamodb LOG_LEVEL=WARNING PERSIST_STATE=0 \
    "$venv/bin/ministack" >"$home/log" 2>&1 &
engine=$!
trap 'kill "$engine" 2>/dev/null || true; wait "$engine" 2>/dev/null || true' EXIT

# Answers, or has ended: the two conditions that are waited for.
until curl --silent --fail --output /dev/null "$endpoint/_ministack/health"; do
    if ! kill -0 "$engine" 2>/dev/null; then
        echo "the second engine did not start:" >&2
        tail -n 30 "$home/log" >&2
        exit 1
    fi
    sleep 0.2
done

# The commands that speak to a table are among them. With --workspace, what `cargo test --workspace` has built is used again.
echo "second engine: ministack $version at $endpoint"
# Every case of a property has a table of its own, which this engine is slow to make.
PROPTEST_CASES=16 \
AWS_ENDPOINT_URL_DYNAMODB=$endpoint \
AWS_ENDPOINT_URL_DYNAMODB_STREAMS=$endpoint \
    cargo test --workspace --test it --test commands "$@"
