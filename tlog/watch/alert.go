package watch

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen/tlog"
)

// A Kind is the kind of an alert about a log.
type Kind string

// The kinds of alerts. The kinds of the first group mean that the log cannot be trusted.
const (
	Rollback    Kind = "rollback"    // the log has fewer entries than before: an older backup was restored
	Fork        Kind = "fork"        // the history of the log differs from before: entries were rewritten
	Origin      Kind = "origin"      // the checkpoint belongs to another log
	UnknownKey  Kind = "key"         // the checkpoint is not signed by the key of the log
	Signature   Kind = "signature"   // a signature by a known key is invalid
	Malformed   Kind = "malformed"   // the checkpoint violates its format
	Unwitnessed Kind = "unwitnessed" // too few witnesses cosigned the checkpoint
	BadTile     Kind = "tile"        // a tile does not match the checkpoint, or it is missing
	BadBundle   Kind = "bundle"      // a bundle of entries does not match the tiles, or it is missing
	BadEntry    Kind = "entry"       // an entry is not an entry of nomen
	BackDated   Kind = "back-dated"  // an entry has an earlier time than its place in the log allows
	FutureTime  Kind = "future"      // an entry has a later time than the log
	Unreadable  Kind = "unreadable"  // the log could not be checked for UnreadableAfter
	Stale       Kind = "stale"       // the log has not grown for Options.MaxAge

	Deleted    Kind = "deleted"    // a reserved name was deleted
	Retired    Kind = "retired"    // a name was retired and no longer resolves to its locations
	Changed    Kind = "changed"    // the record of a name was changed, and perhaps its locations
	Redacted   Kind = "redacted"   // earlier content of a name or authority was removed
	Dropped    Kind = "dropped"    // the server does not have a name that is in the log
	Retargeted Kind = "retargeted" // the server redirects a name to a location that its record in the log does not have
	Altered    Kind = "altered"    // the server shows content for a name that differs from the log
)

// IsNotice reports whether alerts of this kind do not mean that the log is wrong. They report
// changes that are in the log, or a log that does not grow. Both can be legitimate.
func (k Kind) IsNotice() bool {
	switch k {
	case Deleted, Retired, Changed, Redacted, Stale:
		return true
	}
	return false
}

// An Alert reports a problem or a change that the owner of names should know about.
type Alert struct {
	Kind   Kind      `json:"kind"`
	Text   string    `json:"text"` // one sentence; may quote the log
	Origin string    `json:"origin,omitempty"`
	Size   uint64    `json:"size,omitempty"`  // size of the checkpoint
	Entry  uint64    `json:"entry,omitempty"` // log number of the change, from 1
	Name   string    `json:"name,omitempty"`
	Path   string    `json:"path,omitempty"` // path of the tile or bundle
	Time   time.Time `json:"time"`           // time at which the problem was found
}

// Error implements error.
func (a *Alert) Error() string { return string(a.Kind) + ": " + a.Text }

func alertf(kind Kind, format string, args ...any) *Alert {
	return &Alert{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

func alertOf(err error) *Alert {
	var (
		alert   *Alert
		format  *tlog.FormatError
		invalid *note.InvalidSignatureError
		tile    *tlog.TileError
		gone    *unavailableError
	)
	switch {
	case err == nil || errors.As(err, &gone):
		return nil
	case errors.As(err, &alert):
		return alert
	case errors.Is(err, tlog.ErrOrigin):
		return alertf(Origin, "%v", err)
	case errors.Is(err, tlog.ErrUnsigned):
		return alertf(UnknownKey, "%v", err)
	case errors.As(err, &invalid):
		return alertf(Signature, "the signature by %q does not match the checkpoint", invalid.Name)
	case errors.As(err, &tile):
		a := alertf(BadTile, "%v", err)
		a.Path = tile.Path
		return a
	case errors.As(err, &format):
		return alertf(Malformed, "%v", err)
	}
	return nil
}
