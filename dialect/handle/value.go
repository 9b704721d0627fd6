package handle

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
)

// A jsonValue is a value in the JSON of a response.
type jsonValue struct {
	Index       int      `json:"index"`
	Type        string   `json:"type"`
	Data        jsonData `json:"data"`
	Permissions string   `json:"permissions,omitempty"`
	TTL         any      `json:"ttl"`
	Timestamp   string   `json:"timestamp,omitempty"`
}

type jsonData struct {
	Format string `json:"format"`
	Value  any    `json:"value"`
}

// The formats of data.
const (
	formatString = "string"
	formatBase64 = "base64"
	formatHex    = "hex"
	formatAdmin  = "admin"
)

// usualPermissions are the permissions of a value that has none.
const usualPermissions = "1110"

// shown returns a value as responses have it.
func shown(v *nomen.Value) jsonValue {
	out := jsonValue{Index: v.Index, Type: v.Type, TTL: v.TTL, Timestamp: v.Timestamp}
	if v.TTL == "" {
		out.TTL = int(nomen.DefaultTTL / time.Second)
	}
	if v.Permissions != usualPermissions {
		out.Permissions = v.Permissions
	}
	switch v.Format {
	case nomen.FormatText:
		out.Data = jsonData{formatString, v.Data}
	case nomen.FormatBase64:
		out.Data = jsonData{formatBase64, v.Data}
	default:
		out.Data = jsonData{v.Format, json.RawMessage(v.Data)}
	}
	return out
}

// A givenValue is a value in the JSON of a request.
type givenValue struct {
	Index       *int            `json:"index"`
	Type        *string         `json:"type"`
	Data        json.RawMessage `json:"data"`
	Permissions json.RawMessage `json:"permissions"`
	TTL         json.RawMessage `json:"ttl"`
}

// maxIndex is the maximum index of a value.
const maxIndex = 1<<31 - 1

// value returns the value that a client has given.
func (g *givenValue) value() (v nomen.Value, err error) {
	switch {
	case g.Index == nil, g.Type == nil, g.Data == nil:
		return v, errors.New("a value must have index, type and data")
	case *g.Index < 1 || *g.Index > maxIndex:
		return v, fmt.Errorf("invalid index %d: must be positive", *g.Index)
	case *g.Type == "":
		return v, errors.New("the type of a value must not be empty")
	}
	v.Index, v.Type = *g.Index, *g.Type
	if v.TTL, err = readTTL(g.TTL); err != nil {
		return v, err
	}
	if v.Permissions, err = readPermissions(g.Permissions); err != nil {
		return v, err
	}
	v.Format, v.Data, err = readData(g.Data)
	return v, err
}

// readTTL reads a TTL: a number of seconds, or a time.
func readTTL(given json.RawMessage) (t nomen.TTL, err error) {
	if given == nil || string(given) == "null" {
		return nomen.Seconds(int(nomen.DefaultTTL / time.Second)), nil
	}
	if err := json.Unmarshal(given, &t); err != nil || t == "" || !t.Valid() {
		return "", fmt.Errorf("invalid ttl %.40s: want a number of seconds, or a time such as \"2026-11-22T13:00:00Z\"", given)
	}
	return t, nil
}

// readPermissions reads the permissions of a value: "*", or digits 0 and 1, of which the last is that
// of public write. Like Handle.Net servers, it uses a digit only if there is another one before it.
// So four digits leave admin read as it is by default.
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

// readData reads the data of a value: a text, or an object with a format and a value.
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
	case formatAdmin:
		data, err = readAdmin(d.Value)
		return d.Format, data, err
	case "vlist", "site", "key":
		data, err = compact(d.Value)
		return d.Format, data, err
	}
	return "", "", fmt.Errorf("unknown format %.40q of data: must be string, base64, hex, admin, vlist, site or key", d.Format)
}

// readBytes decodes bytes. If they are a text without control characters, it returns the text.
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
	if looksLikeText(b) {
		return nomen.FormatText, string(b), nil
	}
	return nomen.FormatBase64, base64.StdEncoding.EncodeToString(b), nil
}

// looksLikeText reports whether bytes are sent as text.
func looksLikeText(b []byte) bool {
	return utf8.Valid(b) && !bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' })
}

// compact returns a JSON text without spaces between its tokens.
func compact(given json.RawMessage) (string, error) {
	var b bytes.Buffer
	err := json.Compact(&b, given)
	return b.String(), err
}

// An adminData is the data of an HS_ADMIN value.
type adminData struct {
	Handle      string `json:"handle"`
	Index       int    `json:"index"`
	Permissions string `json:"permissions"`
	Legacy      bool   `json:"legacyByteLength,omitempty"`
}

// adminBits is the number of permissions of an administrator.
const adminBits = 12

// readAdmin reads the data of an HS_ADMIN value. Some clients send the index as a string, and the
// permissions as a boolean value, a number or a list.
func readAdmin(given json.RawMessage) (string, error) {
	var in struct {
		Handle           *string
		Index            json.RawMessage
		Permissions      json.RawMessage
		LegacyByteLength bool
	}
	if err := json.Unmarshal(given, &in); err != nil || in.Handle == nil {
		return "", errors.New("invalid admin data: want an object with handle, index and permissions")
	}
	index, err := strconv.Atoi(strings.Trim(string(in.Index), `"`))
	if err != nil || index < 0 || index > maxIndex {
		return "", fmt.Errorf("invalid index %.40s in admin data", in.Index)
	}
	bits, err := readAdminPermissions(in.Permissions)
	if err != nil {
		return "", err
	}
	out, err := encode(adminData{*in.Handle, index, bits, in.LegacyByteLength}, false)
	return string(out), err
}

// readAdminPermissions returns permissions as twelve digits.
func readAdminPermissions(given json.RawMessage) (string, error) {
	none, all := strings.Repeat("0", adminBits), strings.Repeat("1", adminBits)
	var s string
	var n int
	var list []bool
	switch {
	case given == nil, string(given) == "null", string(given) == "false":
		return none, nil
	case string(given) == "true", string(given) == `"*"`:
		return all, nil
	case json.Unmarshal(given, &s) == nil && len(s) <= adminBits && strings.Trim(s, "01") == "":
		return none[len(s):] + s, nil
	case json.Unmarshal(given, &n) == nil && n >= 0 && n < 1<<adminBits:
		return fmt.Sprintf("%0*b", adminBits, n), nil
	case json.Unmarshal(given, &list) == nil && len(list) <= adminBits:
		for _, set := range list { // the first is the lowest bit
			s = map[bool]string{false: "0", true: "1"}[set] + s
		}
		return none[len(s):] + s, nil
	}
	return "", fmt.Errorf("invalid permissions %.40s in admin data: want twelve digits 0 and 1", given)
}

// readValues reads the body of a PUT request: a list of values, an object with a list of values, or
// one value. A handle in the object must be the one of the request.
func readValues(r io.Reader, handle string) ([]nomen.Value, error) {
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(body) {
		return nil, errors.New("the body is not valid UTF-8")
	}
	given, err := givenValues(bytes.TrimSpace(body), handle)
	if err != nil {
		return nil, err
	}
	all, seen := make([]nomen.Value, 0, len(given)), map[int]bool{}
	for i := range given {
		v, err := given[i].value()
		switch {
		case err != nil:
			return nil, err
		case seen[v.Index]:
			return nil, fmt.Errorf("the index %d is given twice", v.Index)
		case ascii.EqualFold(v.Type, typeSecret):
			return nil, errSecret
		}
		seen[v.Index] = true
		all = append(all, v)
	}
	return all, nil
}

// errSecret is the error for a value with a secret.
var errSecret = errors.New("a value of the type HS_SECKEY cannot be stored, because the history keeps it for ever: use a token of the server")

// givenValues reads the values in the body of a PUT request.
func givenValues(body []byte, handle string) ([]givenValue, error) {
	var list []givenValue
	if bytes.HasPrefix(body, []byte("[")) {
		err := json.Unmarshal(body, &list)
		return list, err
	}
	var object struct {
		Handle *string
		Values []givenValue
		givenValue
	}
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	switch {
	case object.Handle != nil && !ascii.EqualFold(*object.Handle, handle):
		return nil, fmt.Errorf("the handle %.80q in the body is not the handle of the request", *object.Handle)
	case object.Values != nil:
		return object.Values, nil
	case object.Index != nil:
		return []givenValue{object.givenValue}, nil
	}
	return nil, errors.New("the body has no values")
}
