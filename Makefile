# Every command that CI runs, by name. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help demo test fmt fmt-check lint doc deny test-second-engine test-destinations template model crash-matrix interleavings soak load fuzz bench

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-20s %s\n", $$1, $$2}'

demo: ## run the main job on the embedded engine
	cargo run -- demo

test: ## run every test on the embedded engine
	cargo test --workspace

fmt: ## format the code
	cargo fmt --all

fmt-check: ## fail where the code is not formatted
	cargo fmt --all --check

lint: ## clippy, warnings are errors
	cargo clippy --workspace --all-targets -- -D warnings

doc: ## rustdoc, warnings are errors
	# With examples (there are none) the features are those that the tests have: what clippy has checked is used again.
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --lib --bins --examples

deny: ## licences, sources and crate boundaries (installs cargo-deny under target/tools)
	@command -v target/tools/bin/cargo-deny >/dev/null || cargo install --quiet --locked --root target/tools cargo-deny@0.20.2
	target/tools/bin/cargo-deny check bans licenses sources

test-second-engine: ## the same suite against another engine (installs it under target/)
	tests/second-engine.sh

test-destinations: ## the destinations that AWS answers, against services that run here (installs them under target/)
	tests/destinations.sh

template: ## template.yaml and infra/, linted and held against the code (installs the tools under target/)
	tests/template.sh

model: ## every state of the delivery protocol within its bounds, against the decisions that the functions make
	cargo run --release -p ackbox-model

crash-matrix: ## kill, freeze and cut off the functions' binaries at every call, and write docs/crash-matrix.md
	cargo build --workspace --bins
	target/debug/proof crash-matrix --document docs/crash-matrix.md

CASES ?= 10000
interleavings: ## whoever observes a job's end, in CASES random orders with kills: one end and exactly its actions
	cargo test --workspace --test it --no-run
	tests/interleavings.sh $(CASES)

MESSAGES ?= 100000
soak: ## many messages, destinations that fail, environments that are killed (MESSAGES=5000 for a short one)
	cargo build --release --workspace --bins
	target/release/proof soak --messages $(MESSAGES)

load: ## the receiver beside the bare transaction, the dispatcher beside its destination
	cargo build --release --workspace --bins
	target/release/proof load

FUZZ_SECONDS ?= 10
fuzz: ## every fuzz target for FUZZ_SECONDS each (needs nightly; installs cargo-fuzz under target/tools)
	tests/fuzz.sh $(FUZZ_SECONDS)

bench: ## the performance figures, as ratios in one run
	cargo build --release --workspace --bins
	target/release/proof figures
