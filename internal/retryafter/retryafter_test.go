package retryafter

import (
	"math"
	"testing"
	"time"
)

var now = time.Date(1999, 12, 31, 23, 59, 58, 0, time.UTC)

func TestParse(t *testing.T) {
	const largest = (1<<31 - 1) * time.Second
	for _, tt := range []struct {
		value string
		want  time.Duration
	}{
		{"120", 2 * time.Minute}, // the examples of RFC 9110
		{"Fri, 31 Dec 1999 23:59:59 GMT", time.Second},

		{"Friday, 31-Dec-99 23:59:59 GMT", time.Second}, // RFC 9110, 5.6.7
		{"Fri Dec 31 23:59:59 1999", time.Second},
		{" 120\t", 2 * time.Minute},
		{"0", 0},
		{"2147483647", largest},
		{"2147483648", largest},
		{"99999999999999999999999999", largest},
		{"Fri, 01 Jan 9999 00:00:00 GMT", math.MaxInt64}, // as much as a Duration can hold

		{"", 0},
		{"Fri, 31 Dec 1999 23:59:57 GMT", 0}, // past
		{"Thu, 01 Jan 1970 00:00:00 GMT", 0},
		{"Fri, 31 Dec 1999 24:00:00 GMT", 0},
		{"-1", 0},
		{"+1", 0},
		{"1.5", 0},
		{"1_0", 0},
		{"0x10", 0},
		{"1, 2", 0},
		{"soon", 0},
		{"99 bottles", 0},
	} {
		if got := Parse(tt.value, now); got != tt.want {
			t.Errorf("Parse(%q): got %s, want %s", tt.value, got, tt.want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, tt := range []struct {
		wait time.Duration
		want string
	}{
		{-time.Hour, "1"},
		{0, "1"},
		{1, "1"},
		{time.Second, "1"},
		{time.Second + 1, "2"},
		{1999 * time.Millisecond, "2"},
		{time.Hour, "3600"},
		{math.MaxInt64, "9223372037"},
	} {
		if got := Format(tt.wait); got != tt.want {
			t.Errorf("Format(%s): got %q, want %q", tt.wait, got, tt.want)
		}
	}
}

// FuzzFormat checks that Parse reads what Format writes, and that the result is never shorter than
// the wait.
func FuzzFormat(f *testing.F) {
	f.Add(int64(time.Second + 1))
	f.Fuzz(func(t *testing.T, n int64) {
		wait := time.Duration(n)
		got := Parse(Format(wait), now)
		if got < min(wait, (1<<31-1)*time.Second) || got < time.Second {
			t.Errorf("%s became %s", wait, got)
		}
	})
}
