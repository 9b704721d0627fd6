package nomen

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"
)

// A Value is a typed value of a record, such as a handle value of the Handle System. A record
// stores values unchanged, and answers do not depend on them. Values that represent locations are
// an exception; see package value.
type Value struct {
	Index       int    `json:"index"`                 // from 1; unique in the record
	Type        string `json:"type"`                  // such as URL, HS_ADMIN or 21.T11148/8074aed799118ac263ad
	Data        string `json:"data"`                  // in the format Format
	Format      string `json:"format,omitempty"`      // such as [FormatBase64]
	TTL         TTL    `json:"ttl,omitempty"`         // how long the value may be cached
	Permissions string `json:"permissions,omitempty"` // admin read, admin write, public read and public write, each 0 or 1; "" means 1110
	Timestamp   string `json:"timestamp,omitempty"`   // last change of the value (RFC 3339); "" if unknown
	References  string `json:"references,omitempty"`  // JSON list of values of other handles, such as [{"handle":"20.5/a","index":1}]; "" for none
}

// Formats of the data of a [Value]. In other formats, such as admin and vlist, Data is JSON.
const (
	FormatText   = ""       // Data is the text itself
	FormatBase64 = "base64" // Data is base64 with padding (RFC 4648, section 4)
)

// Public reports whether anyone may read the value.
func (v *Value) Public() bool {
	return v.Permissions == "" || len(v.Permissions) == 4 && v.Permissions[2] == '1'
}

// Bytes returns the data as bytes.
func (v *Value) Bytes() ([]byte, error) {
	if v.Format == FormatBase64 {
		return base64.StdEncoding.Strict().DecodeString(v.Data)
	}
	return []byte(v.Data), nil
}

// PublicValues returns the values that anyone may read, in a new list.
func PublicValues(all []Value) []Value {
	var public []Value
	for i := range all {
		if all[i].Public() {
			public = append(public, all[i])
		}
	}
	return public
}

// A TTL is the time for which a value may be cached. It is a number of seconds, such as "86400", or
// the time at which the value expires (RFC 3339). "" means [DefaultTTL]. In JSON, a number of
// seconds is a number, and a time is a string.
type TTL string

// DefaultTTL is how long a value without a TTL may be cached.
const DefaultTTL = 24 * time.Hour

// Seconds returns the TTL of n seconds.
func Seconds(n int) TTL { return TTL(strconv.Itoa(n)) }

// Left returns how long the value may still be cached after now. It returns 0 if the TTL is
// invalid.
func (t TTL) Left(now time.Time) time.Duration {
	if t == "" {
		return DefaultTTL
	}
	if n, ok := t.seconds(); ok {
		return time.Duration(n) * time.Second
	}
	until, err := time.Parse(time.RFC3339, string(t))
	if err != nil {
		return 0
	}
	return max(until.Sub(now), 0)
}

// Valid reports whether t is empty, a number of seconds from 0 to 2,147,483,647 without leading
// zeros, or a time.
func (t TTL) Valid() bool {
	if _, ok := t.seconds(); ok || t == "" {
		return true
	}
	_, err := time.Parse(time.RFC3339, string(t))
	return err == nil
}

func (t TTL) seconds() (int, bool) {
	n, err := strconv.ParseInt(string(t), 10, 32)
	return int(n), err == nil && n >= 0 && t == Seconds(int(n))
}

// MarshalJSON implements [json.Marshaler]. It writes seconds as a number, and anything else as a
// string.
func (t TTL) MarshalJSON() ([]byte, error) {
	if _, ok := t.seconds(); ok {
		return []byte(t), nil
	}
	return json.Marshal(string(t))
}

// UnmarshalJSON implements [json.Unmarshaler]. It does not check that the TTL is valid.
func (t *TTL) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '"' {
		var n json.Number
		err := json.Unmarshal(b, &n)
		*t = TTL(n)
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}
