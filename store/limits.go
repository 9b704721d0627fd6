package store

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// The limits of a change and of a batch. The maximum length of a key is [name.MaxLength].
const (
	MaxLocations    = 1000      // locations of a record
	MaxRecordValues = 1000      // typed values of a record
	MaxValues       = 10_000    // total length of all lists of a change, except locations and typed values
	MaxText         = 64 << 10  // length of one text, such as a URL, note, value or reason, in bytes
	MaxPolicy       = 512 << 10 // length of the JSON text of a policy, in bytes
	MaxTokenID      = 256       // length of the ID of a token, in bytes
	MaxUserID       = 64        // length of the ID of a user, in bytes
	MaxRecord       = 1 << 20   // total length of all texts of a change, in bytes
	MaxBatch        = 100_000   // changes in one call of Apply
	MaxBatchBytes   = 256 << 20 // total length of all texts of a batch, in bytes
)

// A LimitError reports a change that exceeds a limit, alone or together with the changes before it
// in its batch.
type LimitError struct {
	Index int    // position of the change in its batch, from 0
	Key   string // key of the name, prefix of the authority, or ID of the token or user
	What  string // what is too large or too many: "locations", "note", "changes of the batch" ...
	Size  int
	Limit int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("store: %s: %s: %d exceeds the limit of %d", shorten(e.Key), e.What, e.Size, e.Limit)
}

const maxQuoted = 200 // number of bytes of a key that an error message shows

func shorten(key string) string {
	return strings.ToValidUTF8(ascii.Head(key, maxQuoted), "?")
}
