package handover

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
)

const (
	format  = "nomen-handover"
	version = 1
)

// Limits of archives.
const (
	MaxLine     = 32 << 20 // length of a line, in bytes: a record of the maximum size with all bytes escaped
	MaxObjects  = 1 << 17  // objects and lists in a line, because a short text can be a large list
	MaxEarlier  = 48 << 10 // total length of all checkpoints and notes, in bytes, because the new store has a single secret for all of them
	MaxRedacted = 1 << 20  // redacted changes whose redaction has not been read
)

// A Header is the first line of an archive.
type Header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Made    string `json:"made,omitempty"`    // when the archive was made (RFC 3339)
	Program string `json:"program,omitempty"` // version of the program that made it
	Rules   uint64 `json:"rules"`             // version of the rules of names
	Head    string `json:"head"`              // SIZE:HASH of the log

	Note       string `json:"note,omitempty"`       // signed hand-over note, see [tlog.Handover]
	Checkpoint string `json:"checkpoint,omitempty"` // last checkpoint that was published, with its cosignatures

	Ended []string `json:"ended,omitempty"` // last checkpoint of each earlier origin
	Notes []string `json:"notes,omitempty"` // notes of earlier hand-overs, oldest first
}

// An Error is the reason for which an archive was rejected.
type Error struct {
	Line   int // from 1
	Reason string
	Err    error // the cause, or nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("invalid hand-over archive: line %d: %s: %v", e.Line, e.Reason, e.Err)
	}
	return fmt.Sprintf("invalid hand-over archive: line %d: %s", e.Line, e.Reason)
}

func (e *Error) Unwrap() error { return e.Err }

// A last is the last line of an archive. It has the hash of all earlier lines.
type last struct {
	Archive string `json:"archive"`
}

// Write writes an archive of a log that has the given head. The entries must be exactly the entries
// of the log. Write verifies them: if the digest of an entry is wrong, or if the head of the log
// does not match the entries, Write returns an error. Write sets Format, Version, Rules and Head of
// the header.
func Write(ctx context.Context, w io.Writer, h Header, head store.Head, entries iter.Seq2[*store.Entry, error]) error {
	h.Format, h.Version, h.Rules, h.Head = format, version, name.RulesVersion, head.String()
	out := &writer{w: bufio.NewWriterSize(w, 1<<16), sum: sha256.New()}
	if err := out.line(h); err != nil {
		return err
	}
	c := newChecker(head)
	if head.Size > 0 {
		for e, err := range entries {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = c.add(e)
			}
			if err == nil {
				err = out.line(adminapi.NewEntry(e))
			}
			if err != nil {
				return err
			}
			if e.Seq == head.Size {
				break
			}
		}
	}
	if err := c.end(); err != nil {
		return err
	}
	if err := out.line(last{hex.EncodeToString(out.sum.Sum(nil))}); err != nil {
		return err
	}
	return out.w.Flush()
}

type writer struct {
	w   *bufio.Writer
	sum hash.Hash
}

func (w *writer) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if b = append(b, '\n'); len(b) > MaxLine {
		return fmt.Errorf("a change has %d bytes in JSON, more than %d", len(b), MaxLine)
	}
	_, _ = w.sum.Write(b) // Write of a hash never fails
	_, err = w.w.Write(b)
	return err
}

// A checker verifies the entries of a log in order. It checks the number and digest of each entry,
// and at the end the head and the redactions.
type checker struct {
	want     store.Head
	log      ledger.Log
	buf      []byte
	redacted map[redacted]bool // redacted changes for which no redaction was read yet
}

// A redacted identifies a change whose content was removed.
type redacted struct {
	subject  store.Subject
	revision uint64
}

func newChecker(want store.Head) *checker {
	return &checker{want: want, redacted: map[redacted]bool{}}
}

func (c *checker) add(e *store.Entry) (err error) {
	if want := c.log.Size() + 1; e.Seq != want || e.Seq > c.want.Size {
		return &store.EntryError{Seq: e.Seq, Reason: fmt.Sprintf("expected change %d of %d", want, c.want.Size)}
	}
	if err := store.CheckEntry(e); err != nil {
		return err
	}
	if c.buf, err = codec.CheckDigest(c.buf, e, e.Change); err != nil {
		return err
	}
	s := e.Change.Subject()
	for _, r := range e.Change.Redacts {
		delete(c.redacted, redacted{s, r})
	}
	if e.Change.Redacted {
		if len(c.redacted) == MaxRedacted {
			return &store.EntryError{Seq: e.Seq, Key: s.Key, Reason: "too many changes without content that no change has redacted"}
		}
		c.redacted[redacted{s, e.Change.Revision()}] = true
	}
	c.log.Append(nil, codec.AppendLeaf(nil, e))
	return nil
}

// end returns an error unless the entries are exactly the entries of the log with the expected
// head.
func (c *checker) end() error {
	if got := c.log.Head(); got != c.want {
		return fmt.Errorf("the changes have the head %s, expected %s", got, c.want)
	}
	for r := range c.redacted {
		return fmt.Errorf("revision %d of %s has no content, although no change redacted it; only an administrator of all names can read everything", r.revision, r.subject.Key)
	}
	return nil
}

// A Reader reads an archive sequentially. It can read the archive only once.
type Reader struct {
	Header Header
	Head   store.Head

	r    *bufio.Reader
	sum  hash.Hash
	line int
	buf  []byte
}

// NewReader reads the header of an archive. If the archive was written with other rules of names,
// the error is a [*store.VersionError].
func NewReader(r io.Reader) (*Reader, error) {
	a := &Reader{r: bufio.NewReaderSize(r, 1<<16), sum: sha256.New()}
	b, err := a.next()
	if err != nil {
		return nil, err
	}
	var mark struct {
		Format  string
		Version int
	}
	if json.Unmarshal(b, &mark) != nil || mark.Format != format {
		return nil, a.fault("not a hand-over archive", nil)
	}
	if mark.Version != version {
		return nil, a.fault(fmt.Sprintf("version %d, expected %d: a newer version of the program is needed", mark.Version, version), nil)
	}
	if err := strictly(b, &a.Header); err != nil {
		return nil, a.fault("invalid header", err)
	}
	if a.Header.Rules != name.RulesVersion {
		return nil, &store.VersionError{What: "rules of names", Found: a.Header.Rules, Known: name.RulesVersion, How: store.ConvertByCopy}
	}
	if a.Head, err = store.ParseHead(a.Header.Head); err != nil {
		return nil, a.fault("invalid head", err)
	}
	if a.Header.Made != "" {
		if _, err := time.Parse(time.RFC3339, a.Header.Made); err != nil {
			return nil, a.fault("invalid time", err)
		}
	}
	if len(a.Header.Note) > tlog.MaxHandover || len(a.Header.Checkpoint) > tlog.MaxCheckpoint {
		return nil, a.fault("the note or the checkpoint is too long", nil)
	}
	return a, a.checkEarlier()
}

// checkEarlier checks the form of the checkpoints and notes of earlier origins.
func (a *Reader) checkEarlier() error {
	size := len(a.Header.Note) + len(a.Header.Checkpoint)
	for _, text := range slices.Concat(a.Header.Ended, a.Header.Notes) {
		size += len(text)
	}
	if size > MaxEarlier {
		return a.fault(fmt.Sprintf("the checkpoints and notes have %d bytes, more than %d", size, MaxEarlier), nil)
	}
	for _, text := range a.Header.Ended {
		if _, err := tlog.Peek([]byte(text)); err != nil {
			return a.fault("invalid checkpoint of an earlier origin", err)
		}
	}
	for _, text := range a.Header.Notes {
		if _, err := openOwn(text); err != nil {
			return a.fault("invalid note of an earlier hand-over", err)
		}
	}
	return nil
}

func openOwn(note string) (tlog.Handover, error) {
	text, _, _ := strings.Cut(note, "\n\n")
	h, err := tlog.ParseHandover(text + "\n")
	if err != nil {
		return h, err
	}
	return tlog.OpenHandover([]byte(note), h.From)
}

func (a *Reader) fault(reason string, err error) error {
	return &Error{Line: a.line, Reason: reason, Err: err}
}

// next returns the next line without its end, and adds it to the hash. The returned slice is valid
// until the next call.
func (a *Reader) next() ([]byte, error) {
	a.line++
	a.buf = a.buf[:0]
	for {
		part, err := a.r.ReadSlice('\n')
		if len(a.buf)+len(part) > MaxLine {
			return nil, a.fault(fmt.Sprintf("longer than %d bytes", MaxLine), nil)
		}
		a.buf = append(a.buf, part...)
		switch {
		case err == nil:
			_, _ = a.sum.Write(a.buf) // Write of a hash never fails
			return a.buf[:len(a.buf)-1], nil
		case errors.Is(err, io.EOF):
			return nil, a.fault("the archive is truncated", nil)
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// countObjects returns the number of objects and lists in a JSON text.
func countObjects(b []byte) (n int) {
	quoted := false
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			quoted = !quoted
		case '\\':
			i++ // only strings have escapes
		case '{', '[':
			if !quoted {
				n++
			}
		}
	}
	return n
}

// strictly decodes JSON. It returns an error for unknown fields, and for data after the value.
func strictly(b []byte, v any) error {
	if n := countObjects(b); n > MaxObjects {
		return fmt.Errorf("%d objects and lists, more than %d", n, MaxObjects)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("trailing data")
	}
	return nil
}

// Entries yields the entries of the archive, and verifies the archive: the digests, the head, the
// hash of the archive, and that no data follow the last line. Some errors are found only at the
// end, so the caller must discard all entries if the loop ends with an error. The error is an
// [*Error], or an error of reading.
func (a *Reader) Entries() iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		if err := a.entries(func(e *store.Entry) bool { return yield(e, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

func (a *Reader) entries(yield func(*store.Entry) bool) error {
	c := newChecker(a.Head)
	for c.log.Size() < a.Head.Size {
		b, err := a.next()
		if err != nil {
			return err
		}
		var j adminapi.Entry
		if err := strictly(b, &j); err != nil {
			return a.fault("invalid change", err)
		}
		e, err := j.Stored()
		if err == nil {
			err = c.add(e)
		}
		if err != nil {
			return a.fault("invalid change", err)
		}
		if !yield(e) {
			return nil
		}
	}
	if err := c.end(); err != nil {
		return a.fault("the log is not complete", err)
	}
	want := hex.EncodeToString(a.sum.Sum(nil))
	b, err := a.next()
	if err != nil {
		return err
	}
	var end last
	if err := strictly(b, &end); err != nil || end.Archive != want {
		return a.fault("the hash of the archive differs, or there are more changes than the header says", err)
	}
	if _, err := a.r.ReadByte(); !errors.Is(err, io.EOF) {
		return a.fault("trailing data", err)
	}
	return nil
}

// Verify reads a whole archive and verifies it. If key is not "", the archive must have a hand-over
// note that this key, the old key of the log, has signed for exactly the head of the archive. The
// result handover is nil if the archive has no note. If key is "", the signature is verified with
// the key in the note. This detects accidental changes, but does not prove who made the archive.
func Verify(r io.Reader, key string) (a *Reader, handover *tlog.Handover, err error) {
	if a, err = NewReader(r); err != nil {
		return nil, nil, err
	}
	if handover, err = a.note(key); err != nil {
		return nil, nil, err
	}
	var published *tlog.Checkpoint
	if a.Header.Checkpoint != "" {
		c, err := tlog.Peek([]byte(a.Header.Checkpoint))
		if err == nil && handover != nil {
			_, err = openCheckpoint(a.Header.Checkpoint, handover.From)
		}
		if err != nil {
			return nil, nil, a.fault("invalid checkpoint", err)
		}
		if c.Size > a.Head.Size {
			return nil, nil, a.fault(fmt.Sprintf("a checkpoint of %d changes was published, but the archive has only %d", c.Size, a.Head.Size), nil)
		}
		published = &c
	}
	var log ledger.Log
	continues := published == nil || published.Size == 0
	for e, err := range a.Entries() {
		if err != nil {
			return nil, nil, err
		}
		if continues {
			continue
		}
		log.Append(nil, codec.AppendLeaf(nil, e))
		if log.Size() == published.Size {
			if log.Head().Hash != published.Root {
				return nil, nil, a.fault("the log does not continue the published checkpoint: it was rewritten", nil)
			}
			continues = true
		}
	}
	return a, handover, nil
}

// note verifies the hand-over note of the header.
func (a *Reader) note(key string) (*tlog.Handover, error) {
	if a.Header.Note == "" {
		if key != "" {
			return nil, a.fault("the archive has no hand-over note", nil)
		}
		return nil, nil
	}
	h, err := openOwn(a.Header.Note)
	if err == nil && key != "" {
		h, err = tlog.OpenHandover([]byte(a.Header.Note), key)
	}
	if err != nil {
		return nil, a.fault("invalid note", err)
	}
	if want := RootOf(a.Head); h.Size != a.Head.Size || h.Root != want {
		return nil, a.fault("the hand-over note is for another head", nil)
	}
	return &h, nil
}

func openCheckpoint(msg, key string) (*tlog.Signed, error) {
	v, err := tlog.NewVerifier(key)
	if err != nil {
		return nil, err
	}
	return tlog.Open([]byte(msg), v)
}

// RootOf returns the root of the tree for a head. For an empty log, this is the hash that RFC 6962
// defines.
func RootOf(h store.Head) tlog.Hash {
	if h.Size == 0 {
		return tlog.EmptyRoot()
	}
	return h.Hash
}
