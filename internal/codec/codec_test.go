package codec

import (
	"bytes"
	"encoding/hex"
	"errors"
	"maps"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

var compareNames = cmp.Options{
	cmp.Comparer(func(a, b name.Name) bool { return a == b }),
	cmp.Comparer(func(a, b name.Prefix) bool { return a == b }),
}

// planned returns c as a store keeps it, after a revision.
func planned(t testing.TB, after uint64, c store.Change) *store.Change {
	t.Helper()
	var last *store.Change
	if after > 0 {
		last = &store.Change{Delete: c.Record.Name, Expected: after - 1, Time: c.Time}
	}
	c.Expected = store.AnyRevision
	next, _, err := store.Next(0, last, &c)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func samples(t testing.TB) map[string]*store.Change {
	when := time.Date(2026, 11, 20, 12, 0, 0, 123e6, time.UTC)
	k := name.FromKey("urn:x-a:b")
	gone := store.Change{Delete: k, Expected: 7, Time: when, Why: "never used"}
	return map[string]*store.Change{
		"bare":    planned(t, 0, store.Change{Record: &store.Record{Name: k}, Time: when}),
		"typical": planned(t, 0, store.Change{Record: typical(1), Time: when, Who: "archive"}),
		"rich":    planned(t, 0, store.Change{Record: rich(), Time: when, Who: "archive", Why: "moved"}),
		"values":  planned(t, 0, store.Change{Record: valued(), Time: when}),
		"references": planned(t, 0, store.Change{Time: when, Record: &store.Record{
			Name: name.FromKey("urn:x-a:b"), Values: []nomen.Value{{Index: 1, Type: "K", References: `[{"handle":"1/2","index":3}]`}},
		}}),
		"reserved": planned(t, 0, store.Change{Record: &store.Record{Name: k, Status: nomen.Reserved}, Time: when}),
		"deletion": &gone,
		"down": planned(t, 0, store.Change{
			Record: &store.Record{Name: k, Locations: []nomen.Location{{URL: "u:1", Down: true}, {URL: "u:2", Note: "n", Down: true}}}, Time: when,
		}),
		"policy":    planned(t, 0, store.Change{Authority: &store.Authority{Prefix: name.PrefixFromKey("urn:x-a"), Policy: policy()}, Time: when}),
		"authority": planned(t, 0, store.Change{Authority: richAuthority(), Time: when, Who: "archive", Why: "moved"}),
		"token": planned(t, 0, store.Change{
			Token: &store.Token{ID: "k7", Hash: [32]byte{1, 31: 2}, Role: "editor", Prefixes: []string{"urn:x-a"}, Who: "archive", Created: when, Revoked: true},
			Time:  when, Who: "archive",
		}),
		"expiring": planned(t, 0, store.Change{
			Token: &store.Token{ID: "k8", Hash: [32]byte{1, 31: 2}, Role: "owner", Who: "press", Created: when, Expires: when.AddDate(0, 3, 0), Used: when.AddDate(0, 0, 1)},
			Time:  when,
		}),
		"user": planned(t, 0, store.Change{
			User: &store.User{
				ID: "u-1", Name: "Zoë", Mail: "z@x", Subjects: []string{"a b", "c"}, Disabled: true, Since: when,
				Grants: []store.UserGrant{{Role: "owner", Prefixes: []string{"urn:x-a"}}, {Role: "reader"}},
			},
			Time: when, Who: "archive",
		}),
		"rights": planned(t, 0, store.Change{
			Rights: &store.TokenRights{ID: "k7", Role: "editor", Prefixes: []string{"urn:x-a"}, Who: "archive", Created: when, Expires: when.AddDate(0, 3, 0), Revoked: true},
			Time:   when, Who: "archive",
		}),
		"bare-rights": planned(t, 0, store.Change{Rights: &store.TokenRights{ID: "k7"}, Time: when}),
		"bare-user":   planned(t, 0, store.Change{User: &store.User{ID: "u-1"}, Time: when}),
	}
}

// samples2 returns the sample changes that need version 2.
func samples2(t testing.TB) map[string]*store.Change {
	first := samples(t)
	redaction := store.Change{Record: first["bare"].Record, Time: first["bare"].Time, Redacts: []uint64{3, 1, 3}}
	redacted := *planned(t, 2, store.Change{Record: first["bare"].Record, Time: redaction.Time, Who: "archive"})
	return map[string]*store.Change{
		"redaction":          planned(t, 3, redaction),
		"redacted":           redacted.Redact(),
		"redacted-redaction": planned(t, 3, redaction).Redact(),
		"redacted-retired":   first["rich"].Redact(),
		"redacted-deletion":  first["deletion"].Redact(),
		"redacted-authority": first["authority"].Redact(),
		"redacted-user":      first["user"].Redact(),
		"redacted-rights":    first["rights"].Redact(),
	}
}

// samples3 returns sample changes whose digests are split.
func samples3(t testing.TB) map[string]*store.Change {
	when := time.Date(2026, 11, 20, 12, 0, 0, 123e6, time.UTC)
	k := name.FromKey("urn:x-a:b")
	all := map[string]*store.Change{
		"authored":  planned(t, 0, store.Change{Record: &store.Record{Name: k}, Time: when, Who: "archive"}),
		"batched":   planned(t, 4, store.Change{Record: &store.Record{Name: k, Locations: []nomen.Location{{URL: "https://example.org/"}}}, Time: when, Who: "archive", Why: "moved", Batch: "b-1"}),
		"redacting": planned(t, 3, store.Change{Record: &store.Record{Name: k}, Time: when, Who: "archive", Why: "asked for", Redacts: []uint64{1, 3}}),
		"tombstone": planned(t, 0, store.Change{Record: rich(), Time: when}),
		"values":    planned(t, 0, store.Change{Record: valued(), Time: when}),
		"view": planned(t, 0, store.Change{Record: &store.Record{
			Name: k, Locations: []nomen.Location{{URL: "u:1", Index: 1}}, Values: []nomen.Value{{Index: 1, Type: "URL", Permissions: "1100"}},
		}, Time: when}),
	}
	for _, c := range all {
		c.Split = true
	}
	return all
}

// TestEncoding checks that the bytes on disk, which docs/reference/files.md describes, never
// change. The values in testdata were written by a version of this program, or by hand, and every
// later version must read them.
func TestEncoding(t *testing.T) {
	checkPinned(t, "testdata/values.v1.txt", samples(t))
	checkPinned(t, "testdata/values.v2.txt", samples2(t))
	checkPinned(t, "testdata/values.v3.txt", samples3(t))
}

func checkPinned(t *testing.T, file string, all map[string]*store.Change) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pinned := map[string]string{}
	for line := range strings.Lines(string(text)) {
		part := strings.Fields(line)
		pinned[part[0]] = part[1]
	}
	for what, c := range all {
		value := Append(nil, c)
		if got := hex.EncodeToString(value); got != pinned[what] {
			t.Errorf("%s is written as\n%s, want\n%s", what, got, pinned[what])
		}
		got, err := Decode(c.Subject(), value)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if diff := cmp.Diff(got, c, compareNames); diff != "" {
			t.Errorf("%s: (-got +want)\n%s", what, diff)
		}
	}
}

func allSamples(t testing.TB) map[string]*store.Change {
	all := samples(t)
	maps.Copy(all, samples2(t))
	maps.Copy(all, samples3(t))
	return all
}

// TestDocumented checks that the example in the documentation is what the program writes.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/files.md")
	if err != nil {
		t.Fatal(err)
	}
	value := hex.EncodeToString(Append(nil, samples(t)["bare"]))
	for _, example := range strings.Split(string(text), "`") {
		if strings.ReplaceAll(example, " ", "") == value {
			return
		}
	}
	t.Errorf("docs/reference/files.md does not show %s", value)
}

// TestDamage checks every value that was made shorter, longer, or changed in one bit. Either Decode
// returns an error, or the result is encoded as exactly these bytes.
func TestDamage(t *testing.T) {
	for what, c := range allSamples(t) {
		s, value := c.Subject(), Append(nil, c)
		for i := range value {
			refuse(t, what, s, value[:i])
			for bit := range 8 {
				damaged := bytes.Clone(value)
				damaged[i] ^= 1 << bit
				checkDecode(t, s, damaged)
			}
		}
		refuse(t, what, s, append(bytes.Clone(value), 0))
	}
}

func refuse(t *testing.T, what string, s store.Subject, value []byte) {
	t.Helper()
	c, err := Decode(s, value)
	var got *CorruptError
	if c != nil || !errors.As(err, &got) || got.Key != s.Key || got.Reason == "" || got.Offset > len(value) {
		t.Errorf("%s: Decode(%x): %+v, %v, want a CorruptError", what, value, c, err)
	}
}

// checkDecode checks that a value that can be decoded has the same bytes when it is encoded again.
func checkDecode(t *testing.T, s store.Subject, value []byte) {
	t.Helper()
	c, err := Decode(s, value)
	if err != nil {
		return
	}
	if again := Append(nil, c); !bytes.Equal(again, value) {
		t.Errorf("Decode(%x) took what is written as\n%x", value, again)
	}
	if c.Subject() != s || c.Time.Year() < 1 || c.Time.Year() > 9999 {
		t.Errorf("Decode(%x) of %v: %+v", value, s, c)
	}
}

func TestDecodeRefuses(t *testing.T) {
	named := store.Subject{Kind: store.KindName, Key: "a"}
	const head = "\x01R\x00\x02" // version, kind, revision before, time
	for what, value := range map[string]string{
		"empty":                        "",
		"unknown version":              "\x04R\x00\x02\x00\x00\x00",
		"unknown kind":                 "\x01Q\x00\x02\x00\x00\x00",
		"kind of another space":        "\x01A\x00\x02\x00",
		"unknown fields":               head + "\x80\x04\x00\x00",
		"number too long":              "\x01R\x80\x00\x02\x00\x00\x00",
		"number above 64 bits":         "\x01R\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x02\x00\x00\x00",
		"number without end":           "\x01R\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00",
		"revision of no change":        "\x01R\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02\x00\x00\x00",
		"time after 9999":              "\x01R\x00\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00\x00",
		"empty text":                   head + "\x01\x00\x00\x00",
		"spelling that is the key":     head + "\x02\x01a\x00\x00",
		"empty list":                   head + "\x04\x00\x00\x00",
		"more values than bytes":       head + "\x04\x7f\x00\x00",
		"more locations than bytes":    head + "\x00\x7f\x00\x00",
		"more metadata than bytes":     head + "\x00\x00\x7f\x00",
		"metadata out of order":        head + "\x00\x00\x02\x01b\x01\x00\x01a\x01\x00",
		"metadata twice":               head + "\x00\x00\x02\x01a\x01\x00\x01a\x01\x00",
		"metadata without values":      head + "\x00\x00\x01\x01a\x00",
		"empty list of values":         head + "\x80\x02\x00\x00\x00",
		"more typed values than bytes": head + "\x80\x02\x7f\x01\x02\x00\x00",
		"value without an index":       head + "\x80\x02\x01\x00\x00\x00",
		"value with index -1":          head + "\x80\x02\x01\x01\x01\x00\x00",
		"values out of order":          head + "\x80\x02\x02\x01\x04\x01\x02\x00\x00",
		"values with one index":        head + "\x80\x02\x02\x01\x02\x01\x02\x00\x00",
		"value with an unknown field":  head + "\x80\x02\x01\x81\x01\x02\x00\x00",
		"priority 0":                   head + "\x00\x01\x01u\x02\x00\x00",
		"text longer than value":       head + "\x01\xff\xff\xff\xff\x0f",
		"text as long as addresses go": head + "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	} {
		refuse(t, what, named, []byte(value))
	}
	const head2 = "\x02R\x02\x02" // the same, after revision 2
	for what, value := range map[string]string{
		"version 2 without need":          head2 + "\x00\x00\x00\x00",
		"unknown part":                    head2 + "\x04\x00\x00\x00",
		"no revisions to redact":          head2 + "\x01\x00\x00\x00\x00",
		"revision 0 to redact":            head2 + "\x01\x01\x00\x00\x00\x00",
		"its own revision to redact":      head2 + "\x01\x01\x03\x00\x00\x00",
		"a later revision to redact":      head2 + "\x01\x02\x01\x02\x00\x00\x00",
		"the same to redact, twice":       head2 + "\x01\x02\x01\x00\x00\x00\x00",
		"more revisions than bytes":       head2 + "\x01\x7f\x01\x00\x00\x00",
		"revisions that come round":       head2 + "\x01\x02\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00",
		"redacted, with content":          head2 + "\x02\x00\x00\x00",
		"redacted, cut short":             head2 + "\x03\x01",
		"redacted, of an unknown kind":    "\x02Q\x02\x02\x02",
		"redacted, of another kind":       "\x02A\x02\x02\x02",
		"version 2, cut before its parts": head2,
	} {
		refuse(t, what, named, []byte(value))
	}
	user := store.Subject{Kind: store.KindUser, Key: "u"}
	for what, value := range map[string]string{
		"user with an unknown field":         "\x01U\x00\x02\x80\x02\x00",
		"user with more grants than bytes":   "\x01U\x00\x02\x00\x7f\x00",
		"user with a grant without prefixes": "\x01U\x00\x02\x00\x01\x01a",
		"user with an empty list":            "\x01U\x00\x02\x10\x00\x00",
		"authority as a user":                "\x01A\x00\x02\x00",
		"redacted user with content":         "\x02U\x00\x02\x02\x00",
	} {
		refuse(t, what, user, []byte(value))
	}
	rights := store.Subject{Kind: store.KindTokenRights, Key: "t"}
	for what, value := range map[string]string{
		"rights with an unknown field":    "\x01G\x00\x02\x80\x02\x00",
		"rights with an empty list":       "\x01G\x00\x02\x20\x00",
		"rights with a secret":            "\x01G\x00\x02\x00" + strings.Repeat("\x01", 32),
		"rights without their time":       "\x01G\x00\x02\x08",
		"redacted rights with content":    "\x02G\x00\x02\x02\x00",
		"the token instead of its rights": "\x01T\x00\x02\x00" + strings.Repeat("\x01", 32),
	} {
		refuse(t, what, rights, []byte(value))
	}
	refuse(t, "rights as a token", store.Subject{Kind: store.KindToken, Key: "t"}, []byte("\x01G\x00\x02\x00"))
	refuse(t, "user as a name", named, []byte("\x01U\x00\x02\x00\x00"))
	refuse(t, "redacted token", store.Subject{Kind: store.KindToken, Key: "t"}, []byte("\x02T\x00\x02\x02"))
	refuse(t, "token with a revision", store.Subject{Kind: store.KindToken, Key: "t"},
		append([]byte("\x01T\x01\x02\x00"), make([]byte, 32)...))
	refuse(t, "record as a token", store.Subject{Kind: store.KindToken, Key: "t"}, []byte(head+"\x00\x00\x00"))
}

func TestAnyRecordRoundTrips(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.String()
		list := rapid.SliceOfN(text, 0, 3)
		location := rapid.Custom(func(r *rapid.T) (l nomen.Location) {
			l.URL = text.Draw(r, "url")
			for _, field := range locationFields(&l) {
				switch v := field.(type) {
				case *string:
					*v = text.Draw(r, "text")
				case *int:
					*v = rapid.Int().Draw(r, "number")
				}
			}
			return l
		})
		record := &store.Record{
			Name:       name.FromKey(rapid.StringMatching("[!-~]{1,9}").Draw(r, "key")),
			Spelling:   text.Draw(r, "spelling"),
			Status:     rapid.SampledFrom([]nomen.Status{nomen.Reserved, nomen.Active, nomen.Retired}).Draw(r, "status"),
			Locations:  rapid.SliceOfN(location, 0, 3).Draw(r, "locations"),
			Metadata:   rapid.MapOfN(text, list, 0, 3).Draw(r, "metadata"),
			SameAs:     list.Draw(r, "same_as"),
			Successors: list.Draw(r, "successors"),
			Reason:     text.Draw(r, "reason"),
		}
		for i := range rapid.IntRange(0, 3).Draw(r, "values") {
			v := nomen.Value{Index: 1000*i + rapid.IntRange(1, 1000).Draw(r, "index")}
			for _, field := range valueFields(&v) {
				if s, ok := field.(*string); ok {
					*s = text.Draw(r, "text")
				}
			}
			record.Values = append(record.Values, v)
		}
		c := planned(t, rapid.Uint64Range(0, math.MaxUint64-3).Draw(r, "after"), store.Change{
			Record: record,
			Time:   time.UnixMilli(rapid.Int64Range(minMillis, maxMillis).Draw(r, "time")),
			Who:    text.Draw(r, "who"),
			Why:    text.Draw(r, "why"),
		})
		if c.Expected > 0 {
			c.Redacts = rapid.SliceOfN(rapid.Uint64Range(1, c.Expected), 0, 3).Draw(r, "redacts")
			c = c.Clone()
		}
		if rapid.IntRange(0, 5).Draw(r, "redacted") == 0 {
			c = c.Redact()
		}
		c.Split = c.HasPrivate() && rapid.Bool().Draw(r, "split")
		got, err := Decode(c.Subject(), Append(nil, c))
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(got, c, compareNames); diff != "" {
			r.Fatalf("(-got +want)\n%s", diff)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, c := range allSamples(f) {
		f.Add(byte(c.Subject().Kind), Append(nil, c))
	}
	f.Fuzz(func(t *testing.T, kind byte, value []byte) {
		if n := len(value); n > 1<<16 {
			return // a long value tests no more than a short one
		}
		kinds := [...]store.Kind{store.KindName, store.KindAuthority, store.KindToken, store.KindUser, store.KindTokenRights}
		checkDecode(t, store.Subject{Kind: kinds[kind%4], Key: "urn:x-a:b"}, value)
	})
}

func TestDecodeAllocs(t *testing.T) {
	c := samples(t)["typical"]
	s, value := c.Subject(), Append(nil, c)
	got := testing.AllocsPerRun(100, func() {
		if _, err := Decode(s, value); err != nil {
			t.Error(err)
		}
	})
	if got > 8 { // value, change, record, locations, map with its table, two lists
		t.Errorf("decode: %v allocations, want 8", got)
	}
}
