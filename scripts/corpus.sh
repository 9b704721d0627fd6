#!/bin/sh
# Writes testdata/corpus/whole, and what is new in testdata/corpus/part, from a directory of
# collected data: scripts/corpus.sh [DIR]. testdata/corpus/README.md has the sources and the
# licences. Afterwards run `go generate ./...`, and the tests. Needs jq.
set -eu

from=$(cd "${1:-$(dirname "$0")/../../shared/data}" && pwd)
cd "$(dirname "$0")/../testdata/corpus"

# pack FILE: standard input, compressed, in FILE.gz; the same input gives the same bytes.
pack() {
	mkdir -p "$(dirname "$1")"
	gzip -9n >"$1.gz"
}
# copy DIR FILE...: what differs from year to year in a few lines stays readable.
copy() {
	dir=$1
	shift
	mkdir -p "$dir"
	(cd "$from" && cp --parents --no-preserve=mode "$@" "$OLDPWD/$dir")
}
# each N: the first line, and every Nth of the others.
each() { awk -v n="$1" 'NR % n == 1'; }

copy whole iana/uri-schemes.tsv iana/urn-namespaces.tsv isbn/isbn-ranges.json isbn/isbn10-bad.txt collections/issn-bad.txt \
	text/linkify-it/LICENSE text/commonmark/LICENSE
jq -c '{urn, title, authors, date, doi, formats, obsoleted_by} | with_entries(select(.value != null and .value != []))' \
	"$from/collections/rfc-index.jsonl" | pack whole/collections/rfc-index.jsonl
for file in prefixes/prefixes.jsonl prefixes/identifiers-org.jsonl wpt/urltestdata.json text/rfc-targets.jsonl \
	text/linkify-it/links.txt text/linkify-it/not_links.txt text/twitter-text/extract.yml; do
	pack "whole/$file" <"$from/$file"
done
jq '[.[] | select(.section == "Autolinks") | {markdown, html, section}]' "$from/text/commonmark/spec-examples.json" |
	pack whole/text/commonmark/autolinks.json

# From documents: the names in the registrations, and the examples of RFC 6570.
awk '{
	n = split($0, words, /([ \t\r"\047`\\]|“|”)+/)
	for (i = 1; i <= n; i++) {
		at = index(tolower(words[i]), "urn:")
		if (!at || words[i] ~ /[][<>{}|]/) continue
		name = substr(words[i], at)
		sub(/[.,;)]+$/, "", name)
		file = FILENAME
		sub(/.*\//, "", file)
		print file "\t" name
	}
}' "$from"/iana/templates/*.txt | LC_ALL=C sort -u | pack whole/iana/template-examples.tsv
awk 'NF == 2 && $1 ~ /{.*}/ { print $1 "\t" $2 }' "$from/../rfc/rfc6570.txt" >whole/rfc6570-examples.tsv

# Numbers only: no titles.
cut -f 1-3 "$from/isbn/isbn-goodbooks.tsv" | each 10 | pack part/isbn/isbn-goodbooks.tsv
each 10 <"$from/collections/issn-good.txt" | pack part/collections/issn-good.txt

find . -type f ! -name SHA256SUMS ! -name README.md | LC_ALL=C sort | sed 's|^\./||' | xargs sha256sum >SHA256SUMS
