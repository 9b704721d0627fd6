package nomen

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"
)

// A Value is a typed value of a record, as other systems of persistent identifiers keep it. A
// record keeps each value as it was given. Answers do not depend on values. But some values are
// views of locations, and answers depend on the locations (package value).
type Value struct {
	Index       int    `json:"index"`                 // from 1; no other value of the record has it
	Type        string `json:"type"`                  // such as URL, HS_ADMIN or 21.T11148/8074aed799118ac263ad
	Data        string `json:"data"`                  // in the format Format
	Format      string `json:"format,omitempty"`      // how to read Data: see the constants
	TTL         TTL    `json:"ttl,omitempty"`         // how long the value may be cached
	Permissions string `json:"permissions,omitempty"` // admin read, admin write, public read, public write, each 0 or 1; "" means 1110
	Timestamp   string `json:"timestamp,omitempty"`   // last change of the value, RFC 3339; "" if unknown
}

// Formats of the data of a [Value]. In any other format, such as admin or vlist, Data is a JSON
// text.
const (
	FormatText   = ""       // Data is the text
	FormatBase64 = "base64" // Data is the base64 of bytes (RFC 4648, section 4), with padding
)

// Public reports whether anyone may read the value.
func (v *Value) Public() bool {
	return v.Permissions == "" || len(v.Permissions) == 4 && v.Permissions[2] == '1'
}

// Bytes returns the bytes that Data stands for.
func (v *Value) Bytes() ([]byte, error) {
	if v.Format == FormatBase64 {
		return base64.StdEncoding.Strict().DecodeString(v.Data)
	}
	return []byte(v.Data), nil
}

// PublicValues returns the values that anyone may read. It does not modify the list.
func PublicValues(all []Value) []Value {
	var public []Value
	for i := range all {
		if all[i].Public() {
			public = append(public, all[i])
		}
	}
	return public
}

// A TTL says how long a value may be cached: a number of seconds in digits, such as "86400", or the
// time until which it may be cached (RFC 3339). The empty TTL means [DefaultTTL]. In JSON, seconds
// are a number.
type TTL string

// DefaultTTL is how long a value without a TTL may be cached.
const DefaultTTL = 24 * time.Hour

// Seconds returns the TTL of this many seconds.
func Seconds(n int) TTL { return TTL(strconv.Itoa(n)) }

// Left returns how long the value may be cached, and 0 if the TTL is invalid.
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

// Valid reports whether t is empty, seconds from 0 to 2,147,483,647 without superfluous zeros, or a
// time.
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

// MarshalJSON returns a number for seconds, and a string for any other TTL.
func (t TTL) MarshalJSON() ([]byte, error) {
	if _, ok := t.seconds(); ok {
		return []byte(t), nil
	}
	return json.Marshal(string(t))
}

// UnmarshalJSON reads a number or a string. It does not check that the TTL is valid.
func (t *TTL) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '"' {
		var n json.Number
		err := json.Unmarshal(b, &n)
		*t = TTL(n)
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}
