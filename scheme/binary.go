package scheme

import (
	"encoding/base64"
	"strings"
)

// dense is base64 with the URL alphabet, which every dialect allows without escapes (RFC 4648,
// section 5). It has no padding, because the draft of 1993 requires "=" to be escaped.
var dense = base64.RawURLEncoding.Strict()

// EncodeBinary encodes binary data for URIs of new schemes (draft of 1993, section "Encoding
// prohibited characters"). It encodes three octets as four characters. Percent-encoding would need
// nine characters.
func EncodeBinary(data []byte) string { return dense.EncodeToString(data) }

// DecodeBinary decodes the output of [EncodeBinary]. It returns an error for any other input.
func DecodeBinary(s string) ([]byte, error) {
	if at := strings.IndexAny(s, "\r\n"); at >= 0 { // the decoder would ignore line breaks
		return nil, base64.CorruptInputError(at)
	}
	return dense.DecodeString(s)
}
