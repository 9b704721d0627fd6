package tlog

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"
)

// MaxCheckpoint is the maximum length of a checkpoint with its signatures, in bytes.
const MaxCheckpoint = 256 << 10

// maxOrigin is the maximum length of an origin, in bytes.
const maxOrigin = 1024

// A Checkpoint is a commitment to the entries of a log (tlog-checkpoint).
type Checkpoint struct {
	Origin string // name of the log: its public URL without the scheme, such as "names.example.org/-/log"
	Size   uint64 // number of entries
	Root   Hash   // root of the tree over the entries; EmptyRoot if there are no entries

	// Extensions are additional lines of the text. Logs of nomen do not have such lines, but other
	// logs may. They are kept because the signatures cover them.
	Extensions []string
}

// EmptyRoot returns the root of a log without entries: SHA-256 of the empty string (RFC 6962,
// section 2.1). In package store, the root of such a log is the zero Hash.
func EmptyRoot() Hash { return sha256.Sum256(nil) }

// Text returns the text of the checkpoint, which signatures cover.
func (c Checkpoint) Text() string {
	b := append([]byte(c.Origin), '\n')
	b = strconv.AppendUint(b, c.Size, 10)
	b = append(b, '\n')
	b = append(appendHash(b, c.Root), '\n')
	for _, line := range c.Extensions {
		b = append(append(b, line...), '\n')
	}
	return string(b)
}

// ParseCheckpoint parses the text of a checkpoint, without signatures. It accepts only the form
// that [Checkpoint.Text] returns.
func ParseCheckpoint(text string) (Checkpoint, error) {
	r := &lineReader{format: "checkpoint", text: text}
	var c Checkpoint
	if len(text) > MaxCheckpoint {
		return c, r.fault("the text is too long")
	}
	if rule := checkText(text); rule != "" {
		return c, r.fault(rule)
	}
	origin, err := r.next()
	switch {
	case err != nil:
		return c, err
	case origin == "":
		return c, r.fault("the origin must not be empty (tlog-checkpoint, Note text)")
	case len(origin) > maxOrigin:
		return c, r.fault("the origin is too long")
	}
	line, err := r.next()
	if err != nil {
		return c, err
	}
	size, rule := parseSize(line)
	if rule != "" {
		return c, r.fault("size: " + rule + " (tlog-checkpoint, Note text)")
	}
	if line, err = r.next(); err != nil {
		return c, err
	}
	root, rule := parseHash(line)
	if rule != "" {
		return c, r.fault("root: " + rule + " (tlog-checkpoint, Note text)")
	}
	if size == 0 && root != EmptyRoot() {
		return c, r.fault("the root of an empty log must be SHA-256 of the empty string (RFC 6962, 2.1)")
	}
	c = Checkpoint{Origin: origin, Size: size, Root: root}
	for r.rest() != "" {
		if line, err = r.next(); err != nil {
			return Checkpoint{}, err
		}
		if line == "" {
			return Checkpoint{}, r.fault("extension lines must not be empty (tlog-checkpoint, Note text)")
		}
		c.Extensions = append(c.Extensions, line)
	}
	return c, nil
}

// checkText returns the rule for signed notes that a text violates. It does not check line ends,
// because [lineReader] does this and reports their positions.
func checkText(text string) (rule string) {
	if !utf8.ValidString(text) {
		return "the text must be UTF-8 (signed-note, Format)"
	}
	if i := strings.IndexFunc(text, func(c rune) bool { return c < ' ' && c != '\n' && c != '\r' }); i >= 0 {
		return "the text must not have control characters (signed-note, Format)"
	}
	return ""
}

// Sign returns the checkpoint with signatures, in the form in which it is published.
func (c Checkpoint) Sign(signers ...note.Signer) ([]byte, error) {
	text := c.Text()
	if parsed, err := ParseCheckpoint(text); err != nil {
		return nil, err
	} else if !parsed.equal(c) {
		return nil, &FormatError{Format: "checkpoint", Rule: "the origin and the extension lines must not have line ends"}
	}
	return note.Sign(&note.Note{Text: text}, signers...)
}

func (c Checkpoint) equal(d Checkpoint) bool {
	return c.Origin == d.Origin && c.Size == d.Size && c.Root == d.Root && slices.Equal(c.Extensions, d.Extensions)
}

// A Signed is a checkpoint with a verified signature by its log.
type Signed struct {
	Checkpoint
	Note         *note.Note    // with the verified signatures
	Cosignatures []Cosignature // cosignatures by the witnesses passed to [Open], in the order of the note
}

// A Cosignature is the statement of a witness that it saw the checkpoint at a certain time, and
// that it has not seen a checkpoint that contradicts it (tlog-cosignature).
type Cosignature struct {
	Witness string    // name of the key of the witness
	Time    time.Time // time of the signature, in seconds
}

// Errors of [Open].
var (
	ErrUnsigned = errors.New("the checkpoint has no signature by the key of the log")
	ErrOrigin   = errors.New("the checkpoint is of another log")
)

// Open parses a checkpoint with its signatures, and verifies the signatures by the log and by the
// witnesses. It ignores signatures by other keys. If the origin of the checkpoint is not the name
// of the log's key, the error is [ErrOrigin]. If the checkpoint does not have a signature by this
// key, the error is [ErrUnsigned]. If a signature by a known key is invalid, the error is a
// [*note.InvalidSignatureError].
func Open(msg []byte, log note.Verifier, witnesses ...note.Verifier) (*Signed, error) {
	if len(msg) > MaxCheckpoint {
		return nil, &FormatError{Format: "checkpoint", Offset: MaxCheckpoint, Rule: "the checkpoint is too long"}
	}
	c, err := Peek(msg)
	if err != nil {
		return nil, err
	}
	if c.Origin != log.Name() {
		return nil, fmt.Errorf("%w: its origin is %q, expected %q", ErrOrigin, c.Origin, log.Name())
	}
	n, err := note.Open(msg, note.VerifierList(append([]note.Verifier{log}, witnesses...)...))
	var unverified *note.UnverifiedNoteError
	switch {
	case errors.As(err, &unverified):
		return nil, ErrUnsigned
	case err != nil:
		return nil, fmt.Errorf("invalid checkpoint: %w", err)
	}
	s := &Signed{Checkpoint: c, Note: n}
	byLog := false
	for _, sig := range n.Sigs {
		if sig.Name == log.Name() && sig.Hash == log.KeyHash() {
			byLog = true
			continue
		}
		at, err := CosignatureTime(sig)
		if err != nil {
			return nil, err
		}
		s.Cosignatures = append(s.Cosignatures, Cosignature{Witness: sig.Name, Time: at})
	}
	if !byLog {
		return nil, ErrUnsigned
	}
	return s, nil
}

// Peek parses a checkpoint with its signatures, but does not verify the signatures.
func Peek(msg []byte) (Checkpoint, error) {
	if len(msg) > MaxCheckpoint {
		return Checkpoint{}, &FormatError{Format: "checkpoint", Offset: MaxCheckpoint, Rule: "the checkpoint is too long"}
	}
	if i := strings.IndexByte(string(msg), '\r'); i >= 0 {
		return Checkpoint{}, &FormatError{Format: "checkpoint", Offset: i, Rule: "lines must end with a line feed alone, without a carriage return"}
	}
	split := strings.LastIndex(string(msg), "\n\n")
	if split < 0 {
		return Checkpoint{}, &FormatError{Format: "checkpoint", Offset: len(msg), Rule: "signatures must follow the text after an empty line (signed-note, Format)"}
	}
	return ParseCheckpoint(string(msg[:split+1]))
}
