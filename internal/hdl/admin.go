package hdl

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/nomen-project/nomen"
)

// The formats of structured data in a [nomen.Value].
const (
	FormatAdmin = "admin" // JSON of an [Admin]
	FormatList  = "vlist" // JSON of a list of [Reference]
)

// The types of values whose data are structured or have a special meaning.
const (
	TypeAdmin  = "HS_ADMIN"
	TypeList   = "HS_VLIST"
	TypeSecret = "HS_SECKEY" // a secret, which must not be stored because histories are permanent
	TypeAlias  = "HS_ALIAS"  // another handle to use instead
)

// An Admin is the data of an HS_ADMIN value.
type Admin struct {
	Handle      string `json:"handle"`
	Index       int    `json:"index"`
	Permissions string `json:"permissions"` // twelve digits, each 0 or 1; the last digit is the permission to add handles
	Legacy      bool   `json:"legacyByteLength,omitempty"`
}

const adminBits = 12

// ReadAdmin parses the data of an HS_ADMIN value in JSON. It accepts an index that is a string, and
// permissions that are a boolean value, a number or a list, because some clients send these.
func ReadAdmin(given json.RawMessage) (string, error) {
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
	if err != nil || index < 0 || index > MaxIndex {
		return "", fmt.Errorf("invalid index %.40s in admin data", in.Index)
	}
	bits, err := readAdminPermissions(in.Permissions)
	if err != nil {
		return "", err
	}
	return jsonText(Admin{*in.Handle, index, bits, in.LegacyByteLength}), nil
}

// readAdminPermissions converts permissions to twelve digits.
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
		for _, set := range list { // the first element is the lowest bit
			s = map[bool]string{false: "0", true: "1"}[set] + s
		}
		return none[len(s):] + s, nil
	}
	return "", fmt.Errorf("invalid permissions %.40s in admin data: want twelve digits 0 and 1", given)
}

// A Reference identifies a value of a handle, in the data of an HS_VLIST value or in the references
// of a value.
type Reference struct {
	Handle string `json:"handle"`
	Index  int    `json:"index"`
}

func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // texts and numbers can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// reversed reverses the order of permissions. The permission to add handles is the last in JSON,
// but the first in a batch file.
func reversed(permissions string) string {
	b := []byte(permissions)
	slices.Reverse(b)
	return string(b)
}

// DecodeData decodes the data of a value in the database of a Handle server. If the data are
// invalid for the type of the value, DecodeData returns them undecoded.
func DecodeData(kind string, data []byte) (format, text string) {
	switch {
	case kind == TypeAdmin:
		if a, ok := decodeAdmin(data); ok {
			return FormatAdmin, jsonText(a)
		}
	case kind == TypeList:
		if list, ok := decodeList(data); ok {
			return FormatList, jsonText(list)
		}
	case IsText(data):
		return nomen.FormatText, string(data)
	}
	return nomen.FormatBase64, base64.StdEncoding.EncodeToString(data)
}

// decodeAdmin decodes the data of an HS_ADMIN value: permissions, a handle and an index.
func decodeAdmin(b []byte) (a Admin, ok bool) {
	if len(b) < 2 || binary.BigEndian.Uint16(b)>>adminBits != 0 {
		return a, false
	}
	a.Permissions = fmt.Sprintf("%0*b", adminBits, binary.BigEndian.Uint16(b))
	r, rest, ok := decodeReference(b[2:])
	a.Handle, a.Index = r.Handle, r.Index
	return a, ok && len(rest) == 0
}

// decodeList decodes the data of an HS_VLIST value: a number, and as many references.
func decodeList(b []byte) (list []Reference, ok bool) {
	n, b, ok := decodeNumber(b)
	for ; ok && n > 0; n-- {
		var r Reference
		r, b, ok = decodeReference(b)
		list = append(list, r)
	}
	return list, ok && len(b) == 0 && list != nil
}

func decodeReference(b []byte) (r Reference, rest []byte, ok bool) {
	n, b, ok := decodeNumber(b)
	if !ok || n > len(b) || !IsText(b[:n]) {
		return r, nil, false
	}
	r.Handle = string(b[:n])
	r.Index, rest, ok = decodeNumber(b[n:])
	return r, rest, ok
}

func decodeNumber(b []byte) (n int, rest []byte, ok bool) {
	if len(b) < 4 || b[0] >= 0x80 {
		return 0, nil, false
	}
	return int(binary.BigEndian.Uint32(b)), b[4:], true
}

// DecodeReferences decodes the references of a value in the database of a Handle server. Tabs
// separate the references, each of which has the form INDEX:HANDLE. A backslash escapes tabs, line
// breaks and backslashes. In the whole text, %XXXX stands for a UTF-16 code unit that is not
// printable ASCII.
func DecodeReferences(text string) (list []Reference, ok bool) {
	if text == "" {
		return nil, true
	}
	units := make([]uint16, 0, len(text))
	for i := 0; i < len(text); i++ {
		unit := uint64(text[i])
		if text[i] == '%' && i+4 < len(text) {
			var err error
			if unit, err = strconv.ParseUint(text[i+1:i+5], 16, 16); err != nil {
				return nil, false
			}
			i += 4
		} else if text[i] >= 0x80 {
			return nil, false
		}
		units = append(units, uint16(unit))
	}
	unescape := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")
	for part := range strings.SplitSeq(string(utf16.Decode(units)), "\t") {
		index, handle, found := strings.Cut(part, ":")
		n, err := strconv.Atoi(index)
		if handle = unescape.Replace(handle); !found || err != nil || n < 0 || n > MaxIndex || handle == "" {
			return nil, false
		}
		list = append(list, Reference{handle, n})
	}
	return list, true
}
