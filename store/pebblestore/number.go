package pebblestore

import (
	"encoding/binary"

	"github.com/nomen-project/nomen/internal/codec"
)

// A CorruptError reports data that this version of the program cannot decode. The data is damaged,
// or was written by a newer version.
type CorruptError = codec.CorruptError

// uvarint decodes a number at the beginning of b, and returns the length n of the encoding. If the
// encoding is invalid, or longer than necessary, n is 0.
func uvarint(b []byte) (u uint64, n int) {
	u, n = binary.Uvarint(b)
	if n < 0 || n > 1 && b[n-1] == 0 {
		return 0, 0
	}
	return u, n
}

func decodeNumber(key string, value []byte) (uint64, error) {
	u, n := uvarint(value)
	if n == 0 || n < len(value) {
		return 0, &CorruptError{Key: key, Offset: n, Reason: "not a number"}
	}
	return u, nil
}

func encodeNumber(n uint64) []byte { return binary.AppendUvarint(nil, n) }
