package uri

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"fmt"
)

var (
	_ fmt.Stringer               = URI{}
	_ encoding.TextAppender      = URI{}
	_ encoding.TextMarshaler     = URI{}
	_ encoding.TextUnmarshaler   = (*URI)(nil)
	_ encoding.BinaryAppender    = URI{}
	_ encoding.BinaryMarshaler   = URI{}
	_ encoding.BinaryUnmarshaler = (*URI)(nil)
	_ driver.Valuer              = URI{}
	_ sql.Scanner                = (*URI)(nil)
)

// AppendTo appends the spelling of u to b.
func (u URI) AppendTo(b []byte) []byte { return append(b, u.s...) }

// AppendText implements [encoding.TextAppender]. It appends the spelling of u to b. The spelling of
// the zero URI is empty.
func (u URI) AppendText(b []byte) ([]byte, error) { return u.AppendTo(b), nil }

// MarshalText implements [encoding.TextMarshaler]. It returns the spelling of u without the
// dialect. The text of the zero URI is empty, and parses as the empty reference.
func (u URI) MarshalText() ([]byte, error) { return u.AppendTo(nil), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It parses a reference in the dialect of u,
// or in [Latest] if u is zero. If there is an error, u does not change.
func (u *URI) UnmarshalText(text []byte) error {
	d := u.dialect
	if d == 0 {
		d = Latest
	}
	v, err := d.ParseReference(string(text))
	if err != nil {
		return err
	}
	*u = v
	return nil
}

// AppendBinary implements [encoding.BinaryAppender]. It appends one octet for the dialect, and the
// spelling of u.
func (u URI) AppendBinary(b []byte) ([]byte, error) {
	return u.AppendTo(append(b, byte(u.dialect))), nil
}

// MarshalBinary implements [encoding.BinaryMarshaler]. It returns one octet for the dialect, which
// is 0 for the zero URI, and the spelling of u.
func (u URI) MarshalBinary() ([]byte, error) {
	return u.AppendBinary(make([]byte, 0, 1+len(u.s)))
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. It decodes the output of
// [URI.MarshalBinary].
func (u *URI) UnmarshalBinary(data []byte) error {
	if len(data) == 0 {
		return newError(0, "", fault{code: CodeDialect})
	}
	if data[0] == 0 && len(data) == 1 {
		*u = URI{}
		return nil
	}
	v, err := Dialect(data[0]).ParseReference(string(data[1:]))
	if err != nil {
		return err
	}
	*u = v
	return nil
}

// Value implements [driver.Valuer]. It returns the spelling of u, or NULL for the zero URI.
func (u URI) Value() (driver.Value, error) {
	if !u.IsValid() {
		return nil, nil
	}
	return u.s, nil
}

// Scan implements [sql.Scanner]. It parses a text column as [URI.UnmarshalText] does, and reads
// NULL as the zero URI.
func (u *URI) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		*u = URI{}
		return nil
	case string:
		return u.UnmarshalText([]byte(src))
	case []byte:
		return u.UnmarshalText(src)
	default:
		return fmt.Errorf("uri: cannot scan %T", src)
	}
}
