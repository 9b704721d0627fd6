#!/bin/sh
# Checks the subject lines of the commits that are not yet in origin/main, or of the
# last 20 commits if there is no such branch.
set -eu
git rev-parse --git-dir >/dev/null 2>&1 || exit 0 # an archive without history
base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse -q --verify HEAD~20 || true)
long=$(git log --format=%s ${base:+"$base.."}HEAD | awk 'length > 72')
if [ -n "$long" ]; then
	printf 'subject lines over 72 characters:\n%s\n' "$long" >&2
	exit 1
fi
