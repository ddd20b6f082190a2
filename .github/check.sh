#!/usr/bin/env bash
# Checks recordings for action.yml: RECORDINGS and OPTIONS, separated by blanks, into the file SARIF.
#
# Appends to GITHUB_OUTPUT `code`, the exit code of `snapshot-test check`, and whether there is a
# `report`; to GITHUB_STEP_SUMMARY, violations for people. Ends with 0, so that the report is
# uploaded before the job fails.
set -euo pipefail

# Patterns and blanks are expanded on purpose; a pattern without a match is reported as missing.
# shellcheck disable=SC2086
check() { snapshot-test check "$@" ${OPTIONS:-} -- $RECORDINGS; }

code=0 report="linearizable"
check --report sarif >"$SARIF" || code=$?
if [ "$code" -ne 0 ]; then report=$(check 2>&1) || true; fi
echo "$report"
{
    echo '```'
    echo "$report" | head -c 60000
    echo '```'
} >>"$GITHUB_STEP_SUMMARY"
# Of wrong options there is no report.
has_report=false
if [ -s "$SARIF" ]; then has_report=true; fi
printf 'code=%s\nreport=%s\n' "$code" "$has_report" >>"$GITHUB_OUTPUT"
