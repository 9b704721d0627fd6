package scheme

import (
	"encoding/base64"
	"strings"
)

// dense writes six bits a character, with characters that are allowed bare in
// all dialects: letters, digits, "-" and "_" (RFC 4648, 5, without padding, as
// "=" must be escaped in 1993).
var dense = base64.RawURLEncoding.Strict()

// EncodeBinary writes binary data for a new scheme: four characters for three
// octets, where percent escapes need nine (1993, Encoding prohibited
// characters).
func EncodeBinary(data []byte) string { return dense.EncodeToString(data) }

// DecodeBinary reads what [EncodeBinary] has written, and nothing else.
func DecodeBinary(s string) ([]byte, error) {
	if at := strings.IndexAny(s, "\r\n"); at >= 0 { // which the decoder would ignore
		return nil, base64.CorruptInputError(at)
	}
	return dense.DecodeString(s)
}
