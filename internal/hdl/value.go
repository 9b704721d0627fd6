package hdl

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nomen-project/nomen"
)

// The formats of unstructured data.
const (
	formatString = "string"
	formatBase64 = "base64"
	formatHex    = "hex"
)

// usualPermissions are the default permissions of a value.
const usualPermissions = "1110"

// A Given is a value in the JSON of a request.
type Given struct {
	Index       *int            `json:"index"`
	Type        *string         `json:"type"`
	Data        json.RawMessage `json:"data"`
	Permissions json.RawMessage `json:"permissions"`
	TTL         json.RawMessage `json:"ttl"`
	References  []Reference     `json:"references"`
}

// ReferencesText returns references in the form of the field References of a [nomen.Value].
func ReferencesText(list []Reference) string {
	if len(list) == 0 {
		return ""
	}
	return jsonText(list)
}

// MaxIndex is the maximum index of a value.
const MaxIndex = 1<<31 - 1

// Value converts the JSON value of a client to a [nomen.Value].
func (g *Given) Value() (v nomen.Value, err error) {
	switch {
	case g.Index == nil, g.Type == nil, g.Data == nil:
		return v, errors.New("a value must have index, type and data")
	case *g.Index < 1 || *g.Index > MaxIndex:
		return v, fmt.Errorf("invalid index %d: must be positive", *g.Index)
	case *g.Type == "":
		return v, errors.New("the type of a value must not be empty")
	case slices.ContainsFunc(g.References, func(r Reference) bool { return r.Handle == "" || r.Index < 0 || r.Index > MaxIndex }):
		return v, errors.New("each reference of a value must have handle and index")
	}
	v.References = ReferencesText(g.References)
	v.Index, v.Type = *g.Index, *g.Type
	if v.TTL, err = ReadTTL(g.TTL); err != nil {
		return v, err
	}
	if v.Permissions, err = readPermissions(g.Permissions); err != nil {
		return v, err
	}
	v.Format, v.Data, err = readData(g.Data)
	return v, err
}

// ReadTTL parses a TTL, which is a number of seconds or a time.
func ReadTTL(given json.RawMessage) (t nomen.TTL, err error) {
	if given == nil || string(given) == "null" {
		return nomen.Seconds(int(nomen.DefaultTTL / time.Second)), nil
	}
	if err := json.Unmarshal(given, &t); err != nil || t == "" || !t.Valid() {
		return "", fmt.Errorf("invalid ttl %.40s: want a number of seconds, or a time such as \"2026-11-22T13:00:00Z\"", given)
	}
	return t, nil
}

// readPermissions parses the permissions of a value, which are "*", or digits that are 0 or 1. The
// last digit is the permission for public write. The first of four digits is ignored, as in
// Handle.Net servers, so admin read then has its default.
func readPermissions(given json.RawMessage) (string, error) {
	if given == nil || string(given) == "null" {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(given, &s); err != nil {
		return "", fmt.Errorf("invalid permissions %.40s: want a string such as \"1110\"", given)
	}
	if s == "*" {
		return "1111", nil
	}
	if len(s) > 2*len(usualPermissions) || strings.Trim(s, "01") != "" {
		return "", fmt.Errorf("invalid permissions %.40q: want four digits 0 and 1, such as 1110", s)
	}
	bits := []byte(usualPermissions)
	for i := 1; i <= len(bits) && i < len(s); i++ {
		bits[len(bits)-i] = s[len(s)-i]
	}
	if string(bits) == usualPermissions {
		return "", nil
	}
	return string(bits), nil
}

func readData(given json.RawMessage) (format, data string, err error) {
	var text string
	if json.Unmarshal(given, &text) == nil && given[0] == '"' {
		return nomen.FormatText, text, nil
	}
	var d struct {
		Format string
		Value  json.RawMessage
	}
	if err := json.Unmarshal(given, &d); err != nil || d.Value == nil {
		return "", "", errors.New("invalid data: want a string, or an object with format and value")
	}
	switch d.Format {
	case formatString:
		err = json.Unmarshal(d.Value, &text)
		return nomen.FormatText, text, err
	case formatBase64, formatHex:
		if err = json.Unmarshal(d.Value, &text); err != nil {
			return "", "", err
		}
		return readBytes(d.Format, text)
	case FormatAdmin:
		data, err = ReadAdmin(d.Value)
		return FormatAdmin, data, err
	case FormatList, "site", "key":
		data, err = compact(d.Value)
		return d.Format, data, err
	}
	return "", "", fmt.Errorf("unknown format %.40q of data: must be string, base64, hex, admin, vlist, site or key", d.Format)
}

// readBytes decodes binary data. If the bytes are text without control characters, readBytes
// returns them as text.
func readBytes(format, given string) (_, data string, err error) {
	var b []byte
	if format == formatHex {
		b, err = hex.DecodeString(given)
	} else {
		b, err = base64.StdEncoding.DecodeString(given)
	}
	if err != nil {
		return "", "", fmt.Errorf("invalid %s in data: %w", format, err)
	}
	if IsText(b) {
		return nomen.FormatText, string(b), nil
	}
	return nomen.FormatBase64, base64.StdEncoding.EncodeToString(b), nil
}

// IsText reports whether bytes can be sent as text.
func IsText(b []byte) bool {
	return utf8.Valid(b) && !bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' })
}

// compact removes the spaces between the tokens of JSON.
func compact(given json.RawMessage) (string, error) {
	var b bytes.Buffer
	err := json.Compact(&b, given)
	return b.String(), err
}
