// Package rfcindex contains records for all RFCs up to number 9354, as a sample collection. The
// records come from the index of the RFC Editor (https://www.rfc-editor.org/rfc-index.txt).
//
// The name of an RFC is the URN that RFC 2648 defines. The record contains the title, the authors,
// the month of publication, and the DOI as an alias. It has four locations: the text, the text as
// HTML, the page about the RFC, and the DOI. An obsolete RFC is active, and its successors are the
// RFCs that obsolete it.
//
// In the collected index, some months are one too early. The records have the correct month; see
// docs/decisions/0005-months-of-the-rfc-index.md.
//
// The command in the directory gen generates the file with the records.
package rfcindex

import (
	_ "embed" // the records
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

//go:generate go run ./gen ../../testdata/corpus/whole/collections/rfc-index.jsonl.gz rfcs.jsonl.zst

// Names is the number of records.
const Names = 9154

// Size is the total length in bytes of the records that [Open] returns.
const Size = 6214643

//go:embed rfcs.jsonl.zst
var packed string

// Open returns the records as JSON Lines, sorted by RFC number. The records are decompressed while
// they are read.
func Open() (io.ReadCloser, error) {
	z, err := zstd.NewReader(strings.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// Authority returns the naming authority of the records. It is also the default authority, which is
// used for requests that do not name one.
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
