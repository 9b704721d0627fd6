// Package rfcindex ships the names of all RFCs up to number 9354, from the index
// of the RFC Editor (https://www.rfc-editor.org/rfc-index.txt), as a collection
// to try a name service with.
//
// Each record is an RFC under its URN of RFC 2648: title, authors, month of
// publication, the DOI as another name, and four locations: the text, the text
// as HTML, the page about it, and its DOI. Obsoleted RFCs stay active and list
// those that obsolete them as successors.
//
// Where the collected index gives a month that is one too early, the right one
// stands here: docs/decisions/0005-months-of-the-rfc-index.md.
//
// The file is made by the command in gen, and fresh when it is what this makes
// of the index.
package rfcindex

import (
	_ "embed" // the records
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

//go:generate go run ./gen ../../../shared/data/collections/rfc-index.jsonl rfcs.jsonl.zst

// Names is the number of records.
const Names = 9154

// Size is the number of bytes of all records as [Open] yields them.
const Size = 6214643

//go:embed rfcs.jsonl.zst
var packed string

// Open returns the records as JSON Lines, in the order of their numbers. They
// are decompressed while they are read.
func Open() (io.ReadCloser, error) {
	z, err := zstd.NewReader(strings.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// Authority returns the naming authority of the records, as one that is asked
// when a request does not say who is meant.
func Authority() *store.Authority {
	return &store.Authority{
		Prefix:      name.MustParsePrefix("urn:ietf:rfc"),
		Default:     true,
		Parents:     []string{"urn:ietf"},
		Contact:     "https://www.rfc-editor.org/",
		Description: "The Request for Comments series: the documents of the Internet, named by RFC 2648.",
		List:        true,
	}
}
