package plan

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomen-project/nomen/uri"
)

// U93-36, U93-37: local names map to paths and back.
func TestLocalNames(t *testing.T) {
	for _, tt := range []struct {
		names       LocalNames
		local, path string
	}{
		{VMSNames(), "[A.B]C.TXT", "A/B/C.TXT"}, // U93-37
		{VMSNames(), "C.TXT;2", "C.TXT;2"},
		{VMSNames(), "DISK$USER:[MY.NOTES]NOTE 1.TXT", "DISK$USER:/MY/NOTES/NOTE%201.TXT"},
		{VMSNames(), "DISK:X", "DISK:/X"},
		{UnixNames(), "a/b c/~d=%", "a/b%20c/%7Ed%3D%25"},
		{UnixNames(), "/etc/motd", "%2Fetc/motd"},
		{UnixNames(), "caf\u00e9", "caf%E9"},
		{DOSNames(), `C:\A B\C.TXT`, "C:/A%20B/C.TXT"},
	} {
		path, err := tt.names.Path(uri.Draft1993, tt.local)
		if err != nil || path != tt.path {
			t.Errorf("Path(%q) = %q, %v; want %q", tt.local, path, err, tt.path)
		}
		local, err := tt.names.Local(uri.Draft1993, tt.path)
		if err != nil || local != tt.local {
			t.Errorf("Local(%q) = %q, %v; want %q", tt.path, local, err, tt.local)
		}
	}
	for _, tt := range []struct {
		names LocalNames
		local string
	}{
		{VMSNames(), "[A.B"},
		{VMSNames(), "[A..B]C"},
		{VMSNames(), "[A]"},
		{VMSNames(), "A/B"},
		{VMSNames(), "[A]B]C"},
		{VMSNames(), ""},
		{UnixNames(), "a/../b"},
		{UnixNames(), "."},
		{UnixNames(), "a\x00"},
		{DOSNames(), "a/b"},
	} {
		if path, err := tt.names.Path(uri.Draft1993, tt.local); !errors.Is(err, ErrLocalName) {
			t.Errorf("Path(%q) = %q, %v; want ErrLocalName", tt.local, path, err)
		}
	}
	if _, err := UnixNames().Path(uri.Draft1993, "\u20ac"); !errors.Is(err, uri.ErrCharset) {
		t.Errorf("character outside ISO Latin-1: got %v", err)
	}
	for _, tt := range []struct {
		names LocalNames
		path  string
	}{
		{UnixNames(), "a/b%2Fc"}, {UnixNames(), "a%00"}, {DOSNames(), "a%5Cb"}, {VMSNames(), "A.B/C"}, {VMSNames(), "A/"}, {VMSNames(), "DISK:"}, {UnixNames(), "%zz"},
	} {
		if local, err := tt.names.Local(uri.Draft1993, tt.path); err == nil {
			t.Errorf("Local(%q) = %q; want an error", tt.path, local)
		}
	}
	if _, err := UnixNames().Local(uri.Latest, "%FF"); !errors.Is(err, ErrLocalName) {
		t.Errorf("octets that are not UTF-8: got %v", err)
	}
}

// U93-36: the mapping is unambiguous and reversible, and its paths are valid.
func TestLocalNamesAreReversible(t *testing.T) {
	maps := []LocalNames{UnixNames(), VMSNames(), DOSNames()}
	rapid.Check(t, func(t *rapid.T) {
		names := maps[rapid.IntRange(0, len(maps)-1).Draw(t, "mapping")]
		local := rapid.StringOf(rapid.SampledFrom([]rune("aB1.%/ ~=+:[]\\;?#\u00e9"))).Draw(t, "local")
		for _, d := range []uri.Dialect{uri.Draft1993, uri.Latest} {
			path, err := names.Path(d, local)
			if err != nil {
				continue
			}
			u, err := d.Parse("http://h.example/" + path)
			if err != nil {
				t.Fatalf("Path(%q) = %q, not a path of %s: %v", local, path, d, err)
			}
			back, err := names.Local(d, u.Path()[1:])
			if err != nil || back != local {
				t.Fatalf("Local(%q) = %q, %v; want %q", path, back, err, local)
			}
		}
	})
}
