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

// AppendText appends the spelling of u to b. The zero URI is the empty text.
func (u URI) AppendText(b []byte) ([]byte, error) { return u.AppendTo(b), nil }

// MarshalText returns the spelling of u. The zero URI becomes the empty text,
// which parses as the empty reference; the text does not include the dialect.
func (u URI) MarshalText() ([]byte, error) { return u.AppendTo(nil), nil }

// UnmarshalText parses a reference by the dialect that u has, or by [Latest] if
// it has none. On error u is unchanged.
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

// AppendBinary appends one octet for the dialect and the spelling of u to b.
func (u URI) AppendBinary(b []byte) ([]byte, error) {
	return u.AppendTo(append(b, byte(u.dialect))), nil
}

// MarshalBinary returns one octet for the dialect, 0 for the zero URI, and the
// spelling of u.
func (u URI) MarshalBinary() ([]byte, error) {
	return u.AppendBinary(make([]byte, 0, 1+len(u.s)))
}

// UnmarshalBinary decodes the output of [URI.MarshalBinary].
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

// Value returns the spelling of u for a database; the zero URI is NULL.
func (u URI) Value() (driver.Value, error) {
	if !u.IsValid() {
		return nil, nil
	}
	return u.s, nil
}

// Scan reads a text column as [URI.UnmarshalText] does; NULL is the zero URI.
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
