#!/usr/bin/env bash
# The destinations that AWS answers, against services that run here: ministack (PyPI) with SQS, Step
# Functions and Lambda. Installs it under target/, starts it on a free port, waits until it answers, runs
# the tests that need services, and stops it. Lambda runs its functions by the python3 of this machine.
# What is given on the command line goes to `cargo test`.
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

GATEWAY_PORT=$port BIND_HOST=127.0.0.1 SERVICES=sqs,stepfunctions,lambda,iam,sts LOG_LEVEL=WARNING PERSIST_STATE=0 \
    "$venv/bin/ministack" >"$home/destinations.log" 2>&1 &
services=$!
trap 'kill "$services" 2>/dev/null || true; wait "$services" 2>/dev/null || true' EXIT

# Answers, or has ended: the two conditions that are waited for.
until curl --silent --fail --output /dev/null "$endpoint/_ministack/health"; do
    if ! kill -0 "$services" 2>/dev/null; then
        echo "the services did not start:" >&2
        tail -n 30 "$home/destinations.log" >&2
        exit 1
    fi
    sleep 0.2
done

# With --workspace, what `cargo test --workspace` has built is used again.
echo "services: ministack $version at $endpoint"
AWS_ENDPOINT_URL=$endpoint AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local \
    cargo test --workspace --test services "$@" -- --ignored
