#!/usr/bin/env bash
# The job of CI: audit the model, then gate it. With main.parquet, a baseline that you commit, it must not be worse
# than the run that the baseline was written from either.
#
#     bash gate.sh               exit code 0: passed, 1: failed, 3: could not be judged
#     bash gate.sh --keep        also writes main.parquet from this run, if the gate passes
set -euo pipefail
cd "$(dirname "$0")"

run=codeaudit-runs/ci
codeaudit run --config codeaudit.toml --out "$run"
against=()
if [ -e main.parquet ] && [ "${1:-}" != --keep ]; then
    # A few functions show large rises only: `codeaudit gate --plan` says how many a small one needs. With your own
    # code, leave --alpha and --margin out.
    against=(--baseline main.parquet --alpha 0.2 --margin 5%)
fi
codeaudit gate "$run" --config codeaudit.toml --junit gate.xml "${against[@]}"
if [ "${1:-}" = --keep ]; then
    codeaudit report "$run" --baseline main.parquet
fi
