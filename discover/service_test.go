package discover

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseServices(t *testing.T) {
	for _, tt := range []struct {
		field, protocol string
		names, known    []string
	}{
		{"", "", nil, nil},
		{"thttp", "thttp", nil, nil},
		{"thttp+I2L+I2C+I2R", "thttp", []string{"I2L", "I2C", "I2R"}, []string{"I2L", "I2C", "I2R"}},
		{"THTTP+i2l+I2CS", "thttp", []string{"I2L", "I2Cs"}, []string{"I2L", "I2Cs"}},
		{"z3950+N2L+N2C", "z3950", []string{"I2L", "I2C"}, []string{"I2L", "I2C"}}, // RFC 2168
		{"http+L2R", "http", []string{"I2R"}, []string{"I2R"}},                     // RFC 3404, 5.3
		{"+I2L", "", []string{"I2L"}, []string{"I2L"}},
		{"I2L+I2C+thttp", "thttp", []string{"I2L", "I2C"}, []string{"I2L", "I2C"}}, // services first
		{"I2L", "i2l", nil, nil}, // by the grammar, the first word is a protocol
		{"I2L+I2C", "i2l", []string{"I2C"}, []string{"I2C"}},
		{"sip+E2U", "sip", []string{"E2U"}, nil},
		{"foolink+I2L+teleport+N2L", "foolink", []string{"I2L", "teleport", "I2L"}, []string{"I2L"}},
		{"A" + strings.Repeat("b", 31), "a" + strings.Repeat("b", 31), nil, nil},
	} {
		s, err := ParseServices(tt.field)
		if err != nil || s.Protocol != tt.protocol || !slices.Equal(s.Names, tt.names) || !slices.Equal(s.Known(), tt.known) {
			t.Errorf("ParseServices(%q) = %+v, known %q, %v; want %q %q, known %q", tt.field, s, s.Known(), err, tt.protocol, tt.names, tt.known)
		}
	}
	for _, tt := range []struct {
		field  string
		offset int
	}{
		{"thttp+", 6},
		{"+", 1},
		{"thttp++I2L", 6},
		{"9p", 0},
		{"thttp+2I", 6},
		{"th-ttp", 2},
		{"E2U+sip:x", 7},
		{"thttp I2L", 5},
		{"thttp+I2L\x00", 9},
		{"A" + strings.Repeat("b", 32), 32},
		{"é", 0},
	} {
		_, err := ParseServices(tt.field)
		var e *Error
		if !errors.As(err, &e) || e.Offset != tt.offset || e.Rule != "service_field" {
			t.Errorf("ParseServices(%q): %v, want offset %d", tt.field, err, tt.offset)
		}
	}
}

func FuzzParseServices(f *testing.F) {
	for _, s := range []string{"", "thttp+I2L+I2C", "+I2L", "I2L+thttp", "a++b", "9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, field string) {
		s, err := ParseServices(field)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(field) {
				t.Fatalf("%q: odd error %v", field, err)
			}
			return
		}
		again, err := ParseServices(s.String())
		if err != nil || again.Protocol != s.Protocol && !isService(s.Protocol) {
			t.Fatalf("%q: %+v is written %q and read %+v, %v", field, s, s, again, err)
		}
	})
}
