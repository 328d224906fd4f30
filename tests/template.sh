#!/usr/bin/env bash
# template.yaml and infra/ by the linters that know CloudFormation, SAM and what AWS calls good practice, and then
# the way through `sam build` with binaries of straw: that it finds every target, and what comes out of it. Installs the
# tools under target/ at pinned versions (PyPI). It builds no code and asks nothing of AWS.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=target/template-tools
# Two environments: checkov and SAM do not agree on their dependencies.
install() { # name, what for pip
    local venv=$tools/$1
    shift
    if [ ! -e "$venv/installed" ] || [ "$(cat "$venv/installed")" != "$*" ]; then
        rm -rf "$venv"
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check "$@"
        echo "$*" >"$venv/installed"
    fi
}
install sam aws-sam-cli==1.170.0 aws-sam-translator==1.115.0 cfn-lint==1.58.0
install checkov checkov==3.3.30

export SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=${AWS_DEFAULT_REGION:-eu-central-1}
templates=(template.yaml infra/alarms.yaml infra/dashboard.yaml)

echo "cfn-lint"
"$tools/sam/bin/cfn-lint" -- "${templates[@]}"
for template in "${templates[@]}"; do
    echo "sam validate --lint $template"
    "$tools/sam/bin/sam" validate --lint --template-file "$template"
done
echo "checkov"
"$tools/checkov/bin/checkov" --config-file .checkov.yaml $(printf -- '-f %s ' "${templates[@]}")

echo "sam build, with binaries of straw"
straw=$tools/straw
rm -rf "$straw"
for name in receiver registrar dispatcher reconciler; do
    mkdir -p "$straw/lambda/$name"
    echo "$name" >"$straw/lambda/$name/bootstrap"
done
ACKBOX=true CARGO_LAMBDA=true LAMBDA_DIR=$straw/lambda \
    "$tools/sam/bin/sam" build --build-dir "$straw/build" >"$straw/log" 2>&1 || { cat "$straw/log" >&2; exit 1; }
if ACKBOX=false CARGO_LAMBDA=true LAMBDA_DIR=$straw/lambda \
    "$tools/sam/bin/sam" build --build-dir "$straw/refused" >"$straw/log" 2>&1; then
    echo "a configuration that its check refuses was built all the same" >&2
    exit 1
fi
"$tools/sam/bin/python" tests/template.py "$straw/build"
