package bulk

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Summary counts the records of an import; of an export Read alone.
type Summary struct {
	Read      int64   `json:"read"` // bad ones too
	Created   int64   `json:"created"`
	Changed   int64   `json:"changed"`
	Unchanged int64   `json:"unchanged"`
	Refused   int64   `json:"refused"`
	Seconds   float64 `json:"seconds"`
}

// A Refusal tells which record was refused, and why.
type Refusal struct {
	Line   int    `json:"line"`             // from 1
	Column int    `json:"column,omitempty"` // in bytes, from 1; 0 if the line is well formed
	Name   string `json:"name,omitempty"`   // as the line has it, if it could be read
	Field  string `json:"field,omitempty"`  // such as "locations[2].url"
	Reason string `json:"reason"`
	Err    error  `json:"-"` // a *LineError or what the registrar said
}

// ImportOptions configure an import. The zero ImportOptions are good.
type ImportOptions struct {
	Format      Format
	Compression Compression
	DryRun      bool             // tell what would change; names are compared with the store and within a batch
	Replace     bool             // lists in the file replace those in the store
	Why         string           // for the history
	Now         func() time.Time // the clock of Seconds; time.Now if nil

	Progress func(Summary) // called after every batch, if not nil
	Refused  func(Refusal) // called for every bad record in the order of lines, if not nil
}

// Import brings the records of r in. Those that are bad are refused one by one,
// all others go in. The error is a [*BrokenError] when r broke off, after what
// came before is in; else a failure of the store or the end of ctx. The summary
// is right in any case.
func Import(ctx context.Context, reg *registrar.Registrar, a registrar.Actor, r io.Reader, o ImportOptions) (Summary, error) {
	return Summary{}, errors.New("bulk: not yet")
}

// ExportOptions say what is exported and how. The zero ExportOptions are all
// records as they are now, in JSON Lines, not compressed.
type ExportOptions struct {
	Format      Format
	Compression Compression
	Prefix      string           // of keys, in bytes
	Statuses    []nomen.Status   // none for all
	At          time.Time        // as of then; zero for now
	Now         func() time.Time // the clock of Seconds; time.Now if nil
}

// Export writes records to w in the order of names, as of one moment.
func Export(ctx context.Context, s store.Reader, w io.Writer, o ExportOptions) (Summary, error) {
	return Summary{}, errors.New("bulk: not yet")
}
