package scheme

import (
	"encoding/base64"
	"strings"
)

// dense is an encoding with six bits per character. Every dialect allows its letters, digits, "-"
// and "_" unescaped (RFC 4648, section 5). There is no padding, because "=" must be escaped in the
// draft of 1993.
var dense = base64.RawURLEncoding.Strict()

// EncodeBinary encodes binary data for use in the URIs of a new scheme (draft of 1993, section
// "Encoding prohibited characters"). Three octets become four characters, where percent-encoding
// would need nine.
func EncodeBinary(data []byte) string { return dense.EncodeToString(data) }

// DecodeBinary decodes the output of [EncodeBinary]. It returns an error for any other input.
func DecodeBinary(s string) ([]byte, error) {
	if at := strings.IndexAny(s, "\r\n"); at >= 0 { // the decoder would ignore line breaks
		return nil, base64.CorruptInputError(at)
	}
	return dense.DecodeString(s)
}
