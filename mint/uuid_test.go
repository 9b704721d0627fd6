package mint

import (
	"bytes"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/nomen-project/nomen/namespace"
)

// TestV7Vector is the example of RFC 9562, appendix A.6, apart from rand_a,
// which is the counter here.
func TestV7Vector(t *testing.T) {
	at := time.UnixMilli(0x017F22E279B0)
	random := []byte{0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f}
	u := newUUIDs(func() time.Time { return at }, bytes.NewReader(random))
	got, err := u.v7()
	if want := "017f22e2-79b0-74c3-98c4-dc0c0c07398f"; got != want || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// TestV4Vector is the example of RFC 9562, appendix A.3.
func TestV4Vector(t *testing.T) {
	random := []byte{0x91, 0x91, 0x08, 0xf7, 0x52, 0xd1, 0x33, 0x20, 0x5b, 0xac, 0xf8, 0x47, 0xdb, 0x41, 0x48, 0xa8}
	u := newUUIDs(nil, bytes.NewReader(random))
	got, err := u.v4()
	if want := "919108f7-52d1-4320-9bac-f847db4148a8"; got != want || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// TestV7Rises checks that UUIDs increase when time stands still, goes back and
// continues, and when more are generated than the counter holds.
func TestV7Rises(t *testing.T) {
	at := noon()
	u := newUUIDs(func() time.Time { return at }, seeded())
	last := ""
	for i := range 30_000 {
		switch i {
		case 10_000:
			at = at.Add(-time.Hour)
		case 20_000:
			at = noon().Add(time.Minute)
		}
		got, err := u.v7()
		if err != nil || got <= last {
			t.Fatalf("number %d: %s after %s, %v", i, got, last, err)
		}
		last = got
	}
}

// TestUUIDsAreOfTheirVersion checks the version, and that the namespace has no
// remarks.
func TestUUIDsAreOfTheirVersion(t *testing.T) {
	u := newUUIDs(noon, seeded())
	ns, _ := namespace.Lookup("uuid")
	for range 100 {
		for version, v := range map[string]func() (string, error){"4": u.v4, "7": u.v7} {
			s, err := v()
			if err != nil || ns.Check(s) != nil || ns.Lint(s) != nil {
				t.Fatalf("%s: %v, %v, %v", s, err, ns.Check(s), ns.Lint(s))
			}
			if !slices.Contains(ns.Parts(s), namespace.Part{Name: "version", Value: version}) {
				t.Errorf("%s: %v, want version %s", s, ns.Parts(s), version)
			}
		}
	}
}

func TestUUIDRefuses(t *testing.T) {
	before := newUUIDs(func() time.Time { return time.Unix(-1, 0) }, seeded())
	if s, err := before.v7(); err == nil {
		t.Errorf("before 1970: %s", s)
	}
	late := newUUIDs(func() time.Time { return time.UnixMilli(1 << 48) }, seeded())
	if s, err := late.v7(); err == nil {
		t.Errorf("after the last millisecond: %s", s)
	}
	empty := newUUIDs(noon, iotest.ErrReader(bytes.ErrTooLarge))
	if s, err := empty.v7(); err == nil {
		t.Errorf("without randomness: %s", s)
	}
	if s, err := empty.v4(); err == nil {
		t.Errorf("without randomness: %s", s)
	}
}
