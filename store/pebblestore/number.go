package pebblestore

import (
	"encoding/binary"

	"github.com/nomen-project/nomen/internal/codec"
)

// A CorruptError is returned for data that this version cannot have written. The data was damaged,
// or a newer version has written it.
type CorruptError = codec.CorruptError

// uvarint decodes a number at the beginning of b. If b does not begin with a number in its shortest
// form, n is 0.
func uvarint(b []byte) (u uint64, n int) {
	u, n = binary.Uvarint(b)
	if n < 0 || n > 1 && b[n-1] == 0 {
		return 0, 0
	}
	return u, n
}

// decodeNumber decodes a number stored in spaceMeta.
func decodeNumber(key string, value []byte) (uint64, error) {
	u, n := uvarint(value)
	if n == 0 || n < len(value) {
		return 0, &CorruptError{Key: key, Offset: n, Reason: "not a number"}
	}
	return u, nil
}

// encodeNumber is the inverse of decodeNumber.
func encodeNumber(n uint64) []byte { return binary.AppendUvarint(nil, n) }
