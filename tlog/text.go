package tlog

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Hash is the SHA-256 hash of an entry or of a node of the tree, or the root of a log.
type Hash = [sha256.Size]byte

// A FormatError reports a violation of a format that a specification of C2SP defines.
type FormatError struct {
	Format string // "checkpoint", "proof", "path", "bundle", "key", or the format of another package
	Offset int    // position of the fault, in bytes
	Rule   string // the rule that the input violates, with the section of the specification
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("invalid %s: %s (byte %d)", e.Format, e.Rule, e.Offset)
}

type lineReader struct {
	format string
	text   string
	off    int // offset of the rest of the text
	line   int // offset of the last line
}

func (r *lineReader) fault(rule string) error {
	return &FormatError{Format: r.format, Offset: r.line, Rule: rule}
}

// next returns the next line without its end. It returns an error if the text ends without a line
// feed, or if the line contains a carriage return.
func (r *lineReader) next() (string, error) {
	r.line = r.off
	line, _, found := strings.Cut(r.text[r.off:], "\n")
	if !found {
		return "", r.fault("each line must end with a line feed")
	}
	if i := strings.IndexByte(line, '\r'); i >= 0 {
		r.line += i
		return "", r.fault("lines must end with a line feed alone, without a carriage return")
	}
	r.off += len(line) + 1
	return line, nil
}

func (r *lineReader) rest() string { return r.text[r.off:] }

// parseSize parses a decimal number without leading zeros, of at most 2^63-1.
func parseSize(s string) (n uint64, rule string) {
	if s == "" {
		return 0, "a number is missing"
	}
	if s[0] == '0' && s != "0" {
		return 0, "the number has a leading zero"
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, "the number must have only decimal digits"
		}
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > math.MaxInt64 {
		return 0, "the number must be at most 2^63-1"
	}
	return n, ""
}

// encodedHash is the length of a hash in base64.
const encodedHash = (sha256.Size + 2) / 3 * 4

func parseHash(s string) (h Hash, rule string) {
	const want = "the hash must be 32 bytes in base64"
	if len(s) != encodedHash {
		return h, want
	}
	var buf [encodedHash]byte
	if n, err := base64.StdEncoding.Strict().Decode(buf[:], []byte(s)); err != nil || n != len(h) {
		return h, want
	}
	copy(h[:], buf[:])
	return h, ""
}

func appendHash(b []byte, h Hash) []byte { return base64.StdEncoding.AppendEncode(b, h[:]) }
