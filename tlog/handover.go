package tlog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// handoverHeader is the first line of a hand-over note. The second line of a checkpoint is a
// number, but that of a hand-over note is not. A hand-over note can therefore not be mistaken for a
// checkpoint, although the same key signs both.
const handoverHeader = "nomen-handover/v1"

// A Handover is a statement, signed by the old key of a log, that the log is continued under a new
// key. From it, a client that trusts the old key learns the new key, and the head that the log had
// at the hand-over.
type Handover struct {
	Origin string // origin of the log before the hand-over, which is the name of the key From
	Size   uint64 // number of entries at the hand-over
	Root   Hash   // root of the tree over these entries
	From   string // public key of the log before the hand-over, in text form
	To     string // public key of the log after the hand-over, in text form
}

// MaxHandover is the maximum length of a hand-over note with its signatures, in bytes.
const MaxHandover = 16 << 10

// Text returns the text of the note, which signatures cover.
func (h Handover) Text() string {
	b := append([]byte(handoverHeader+"\norigin "), h.Origin...)
	b = strconv.AppendUint(append(b, "\nsize "...), h.Size, 10)
	b = appendHash(append(b, "\nroot "...), h.Root)
	return string(b) + "\nfrom " + h.From + "\nto " + h.To + "\n"
}

// ParseHandover parses the text of a hand-over note, without signatures. It accepts only the form
// that [Handover.Text] returns.
func ParseHandover(text string) (h Handover, err error) {
	r := &lineReader{format: "hand-over note", text: text}
	if len(text) > MaxHandover {
		return h, r.fault("the text is too long")
	}
	line, err := r.next()
	if err != nil {
		return h, err
	}
	if line != handoverHeader {
		return h, r.fault("the first line must be " + handoverHeader)
	}
	var size, root string
	for _, field := range []struct {
		name  string
		value *string
	}{{"origin", &h.Origin}, {"size", &size}, {"root", &root}, {"from", &h.From}, {"to", &h.To}} {
		if line, err = r.next(); err != nil {
			return h, err
		}
		value, ok := strings.CutPrefix(line, field.name+" ")
		if !ok || value == "" {
			return h, r.fault(fmt.Sprintf("expected the line %q with a value", field.name))
		}
		*field.value = value
	}
	if r.rest() != "" {
		r.line = r.off
		return h, r.fault("the text must end after the line with the new key")
	}
	var rule string
	if h.Size, rule = parseSize(size); rule != "" {
		return h, r.fault("size: " + rule)
	}
	if h.Root, rule = parseHash(root); rule != "" {
		return h, r.fault("root: " + rule)
	}
	if h.Size == 0 && h.Root != EmptyRoot() {
		return h, r.fault("the root of an empty log must be SHA-256 of the empty string")
	}
	return h, h.check()
}

// check returns an error if a key is not the key of a log, or if the keys do not match the origin.
func (h Handover) check() error {
	fault := func(rule string) error { return &FormatError{Format: "hand-over note", Rule: rule} }
	for what, key := range map[string]string{"old": h.From, "new": h.To} {
		v, err := NewVerifier(key)
		if err != nil {
			return fmt.Errorf("%s key: %w", what, err)
		}
		if IsWitnessKey(v) {
			return fault("the " + what + " key is that of a witness, not of a log")
		}
		if what == "old" && v.Name() != h.Origin {
			return fault("the origin must be the name of the old key")
		}
	}
	if h.From == h.To {
		return fault("the new key is the old key")
	}
	return nil
}

// Sign returns the note with its signatures. One of the signers must have the old key. The new key
// may sign too.
func (h Handover) Sign(signers ...note.Signer) ([]byte, error) {
	if parsed, err := ParseHandover(h.Text()); err != nil {
		return nil, err
	} else if parsed != h {
		return nil, &FormatError{Format: "hand-over note", Rule: "no value must have line ends"}
	}
	return note.Sign(&note.Note{Text: h.Text()}, signers...)
}

// ErrUnsignedHandover is returned by [OpenHandover] for a note without a signature by the old key.
var ErrUnsignedHandover = errors.New("the hand-over note is not signed by the old key of the log")

// OpenHandover parses a hand-over note and verifies that the old key has signed it. The parameter
// from is the old key in text form. It must come from a trusted source, because anyone can make a
// note with a key of their own.
func OpenHandover(msg []byte, from string) (Handover, error) {
	text, _, ok := strings.Cut(string(msg[:min(len(msg), MaxHandover)]), "\n\n")
	if !ok || len(msg) > MaxHandover {
		return Handover{}, &FormatError{Format: "hand-over note", Rule: "signatures must follow the text after an empty line"}
	}
	h, err := ParseHandover(text + "\n")
	if err != nil {
		return h, err
	}
	if h.From != from {
		return h, fmt.Errorf("%w: it was handed over by %s, expected %s", ErrUnsignedHandover, h.From, from)
	}
	v, err := NewVerifier(from)
	if err != nil {
		return h, err
	}
	n, err := note.Open(msg, note.VerifierList(v))
	switch {
	case errors.As(err, new(*note.UnverifiedNoteError)):
		return h, ErrUnsignedHandover
	case err != nil:
		return h, fmt.Errorf("invalid hand-over note: %w", err)
	case n.Text != h.Text():
		return h, ErrUnsignedHandover
	}
	return h, nil
}
