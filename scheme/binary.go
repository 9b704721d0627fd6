package scheme

import (
	"encoding/base64"
	"strings"
)

// dense encodes six bits per character. All dialects allow its characters unescaped: letters,
// digits, "-" and "_" (RFC 4648, 5). It uses no padding, because "=" must be escaped in the draft
// of 1993.
var dense = base64.RawURLEncoding.Strict()

// EncodeBinary encodes binary data for use in a new scheme. It writes three
// octets as four characters; percent-encoding would need nine (1993, Encoding
// prohibited characters).
func EncodeBinary(data []byte) string { return dense.EncodeToString(data) }

// DecodeBinary decodes the output of [EncodeBinary]. It rejects any other
// input.
func DecodeBinary(s string) ([]byte, error) {
	if at := strings.IndexAny(s, "\r\n"); at >= 0 { // because the decoder ignores line breaks
		return nil, base64.CorruptInputError(at)
	}
	return dense.DecodeString(s)
}
