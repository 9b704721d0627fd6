package store

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// The limits of a change and of a batch. The maximum length of a key is [name.MaxLength].
const (
	MaxLocations  = 1000      // of a record
	MaxValues     = 10_000    // total of all lists of a change, except locations
	MaxText       = 64 << 10  // bytes of one text, such as a URL, note, value or reason
	MaxPolicy     = 512 << 10 // bytes of the JSON text of a policy
	MaxTokenID    = 256       // bytes of the ID of a token
	MaxUserID     = 64        // bytes of the ID of a user
	MaxRecord     = 1 << 20   // bytes of all texts of a change
	MaxBatch      = 100_000   // changes in one Apply
	MaxBatchBytes = 256 << 20 // bytes of all texts of a batch
)

// A LimitError is returned for a change that exceeds a limit, by itself or together with
// the changes before it in its batch.
type LimitError struct {
	Index int    // of the change in its batch
	Key   string // of the name, authority, token or user
	What  string // "locations", "note", "changes of the batch" ...
	Size  int
	Limit int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("store: %s: %s: %d exceeds the limit of %d", shorten(e.Key), e.What, e.Size, e.Limit)
}

const maxQuoted = 200 // bytes of a key that an error message shows

// shorten truncates a key that exceeds its limit.
func shorten(key string) string {
	return strings.ToValidUTF8(ascii.Head(key, maxQuoted), "?")
}
