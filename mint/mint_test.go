package mint

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/urn"
)

// noon is the current time in all tests.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// seeded is a deterministic random source.
func seeded() io.Reader { return rand.NewChaCha8([32]byte{1}) }

func start(t interface {
	Helper()
	Fatal(...any)
}, prefix, text string,
) *Run {
	t.Helper()
	tmpl, err := Parse(name.MustParsePrefix(prefix), text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tmpl.Start(Options{Now: noon, Rand: seeded()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mustParse returns a template that is known to be valid.
func mustParse(prefix, text string) Template {
	t, err := Parse(name.MustParsePrefix(prefix), text)
	if err != nil {
		panic(err)
	}
	return t
}

// take returns the first n names of a run, or fewer and the error that ended
// it.
func take(r *Run, n int) (keys []string, err error) {
	for name, err := range r.Names() {
		if err != nil {
			return keys, err
		}
		if keys = append(keys, name.Key()); len(keys) == n {
			break
		}
	}
	return keys, nil
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		prefix, text string
		want         []string
	}{
		{"urn:example", "{seq}", []string{"urn:example:1", "urn:example:2", "urn:example:3"}},
		{"urn:dns:example.org", "alb{seq:3}", []string{"urn:dns:example.org:alb001", "urn:dns:example.org:alb002"}},
		{"urn:example", "a{seq:2:98-}b", []string{"urn:example:a98b", "urn:example:a99b"}},
		{"urn:example", "{seq:0:7-8}", []string{"urn:example:7", "urn:example:8"}},
		{"urn:example", "{date}-{year}/{month}/{day}", []string{"urn:example:20261120-2026/11/20"}},
		{"urn:nbn:fi", ":x-{year}-{seq:2}", []string{"urn:nbn:fi:x-2026-01"}},
		{"urn:nbn:fi", "x{seq:2}", []string{"urn:nbn:fi-x01"}},
		{"ark:13030", "xf93gt{seq}{check:noid}", []string{"ark:13030/xf93gt18", "ark:13030/xf93gt2q"}},
		{"doi:10.1000", "ABC{seq}", []string{"doi:10.1000/abc1"}},
		{"urn:example", "7992739871{check:luhn}", []string{"urn:example:79927398713"}},
		{"urn:example", "5493000IBP32UQZ0KL{check:mod97}", []string{"urn:example:5493000IBP32UQZ0KL24"}},

		// The rules of namespaces.
		{"urn:isbn", "978316148410{check}", []string{"urn:isbn:9783161484100"}},
		{"urn:issn", "2049363{check}", []string{"urn:issn:2049-3630"}},
		{"urn:isni", "000000012146438{check}", []string{"urn:isni:000000012146438X"}},
		{"urn:lei", "5493000IBP32UQZ0KL{check}", []string{"urn:lei:5493000IBP32UQZ0KL24"}},
		{"urn:nbn:de", ":101:1-20110203359{check}", []string{"urn:nbn:de:101:1-201102033592"}},
	} {
		t.Run(tt.prefix+" "+tt.text, func(t *testing.T) {
			got, err := take(start(t, tt.prefix, tt.text), len(tt.want))
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		text   string
		offset int
		rule   string
	}{
		{"", 0, "template"},
		{strings.Repeat("x", maxTemplate+1), maxTemplate, "template"},
		{strings.Repeat("{day}", maxParts+1), maxParts * 5, "template"},
		{"a}", 1, "literal"},
		{"a{seq", 5, "part"},
		{"a{", 2, "part"},
		{"a{seq{", 5, "part"},
		{"{}", 1, "kind"},
		{"a{Seq}", 2, "kind"},
		{"{seq:}", 5, "width"},
		{"{seq:+3}", 5, "width"},
		{"{seq:19}", 5, "width"},
		{"{seq:3:}", 7, "range"},
		{"{seq:3:1000}", 7, "range"},
		{"{seq:3:10-9}", 10, "range"},
		{"{seq:3:1-9:4}", 10, "seq"},
		{"{random}", 7, "length"},
		{"{random:0}", 8, "length"},
		{"{hex:65}", 5, "length"},
		{"{digit:x}", 7, "length"},
		{"{date:1}", 5, "date"},
		{"{uuid:5}", 6, "uuid"},
		{"{uuid:}", 6, "uuid"},
		{"{check:crc}", 7, "check"},
		{"{check}x", 0, "check"},
		{"{seq}-{seq}", 6, "seq"},
	} {
		t.Run(tt.text[:min(len(tt.text), 20)], func(t *testing.T) {
			_, err := Parse(name.MustParsePrefix("urn:example"), tt.text)
			var bad *Error
			if !errors.As(err, &bad) || bad.Offset != tt.offset || bad.Rule != tt.rule || bad.Input != tt.text {
				t.Errorf("got %v, want offset %d, rule %s", err, tt.offset, tt.rule)
			}
		})
	}
}

// TestStartRefuses checks errors of templates without valid names, and their
// offsets.
func TestStartRefuses(t *testing.T) {
	for _, tt := range []struct {
		prefix, text string
		offset       int // -1 if the namespace rejects the names
		message      string
	}{
		{"urn:example", "{seq:6}a b", 8, ""},
		{"urn:example", "{seq:6}-é", 8, ""},
		{"urn:example", "{seq}#x", 5, ""},
		{"urn:example", "x{seq}{check}", 6, "no check characters"},
		{"urn:example", "x-{check:luhn}", 2, "no characters before the check"},
		{"urn:isbn", "12{seq}{check}", -1, "urn:isbn:120"},
		{"urn:uuid", "{seq}", -1, "UUID"},
	} {
		t.Run(tt.text[:min(len(tt.text), 20)], func(t *testing.T) {
			tmpl, err := Parse(name.MustParsePrefix(tt.prefix), tt.text)
			if err != nil {
				t.Fatal(err)
			}
			_, err = tmpl.Start(Options{Now: noon, Rand: seeded()})
			var bad *Error
			atTemplate := errors.As(err, &bad)
			refused := errors.As(err, new(*RefusedError))
			switch {
			case tt.offset >= 0 && (!atTemplate || bad.Offset != tt.offset), tt.offset < 0 && !refused:
				t.Errorf("got %#v, want offset %d", err, tt.offset)
			case !strings.Contains(err.Error(), tt.message):
				t.Errorf("got %q, want %q", err, tt.message)
			}
		})
	}
	if _, err := (Template{}).Start(Options{}); err == nil {
		t.Error("the zero template makes names")
	}
}

func TestExhausted(t *testing.T) {
	for _, tt := range []struct {
		text     string
		capacity uint64
	}{
		{"{seq:2}", 99},
		{"{seq:3:5-9}{random:2}", 5},
		{"{digit:1}", 10},
		{"{random:2}{check:noid}", 29 * 29},
		{"{hex:1}{digit:1}", 160},
		{"only", 1},
		{"{date}", 1},
	} {
		t.Run(tt.text, func(t *testing.T) {
			if got := mustParse("urn:example", tt.text).capacity(); got != tt.capacity {
				t.Errorf("capacity %d, want %d", got, tt.capacity)
			}
			r := start(t, "urn:example", tt.text)
			got, err := take(r, -1)
			if !errors.As(err, new(*ExhaustedError)) || uint64(len(got)) != tt.capacity {
				t.Errorf("got %d names, %v", len(got), err)
			}
			slices.Sort(got)
			if n := len(slices.Compact(got)); uint64(n) != tt.capacity {
				t.Errorf("%d different names", n)
			}
			if more, again := take(r, 1); len(more) > 0 || again == nil || !strings.Contains(again.Error(), "exhausted") {
				t.Errorf("after the end: %q, %v", more, again)
			}
		})
	}
}

func TestCapacity(t *testing.T) {
	for _, tt := range []struct {
		text string
		want uint64
	}{
		{"{seq}", maxSequence},
		{"{seq:18}", maxSequence},
		{"{uuid:4}", math.MaxUint64},
		{"{random:64}{seq:1}", 9},
		{"{random:14}", math.MaxUint64},
		{"{digit:19}", 10_000_000_000_000_000_000},
	} {
		if got := mustParse("urn:example", tt.text).capacity(); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.text, got, tt.want)
		}
	}
}

// TestAfter checks that sequences continue after the highest existing name.
func TestAfter(t *testing.T) {
	for _, tt := range []struct {
		prefix, text string
		under        string
		there        []string
		others       []string // names that do not match the template
		want         string
	}{
		{"urn:ietf:rfc", "{seq}", "urn:ietf:rfc:", []string{"urn:ietf:rfc:9", "urn:ietf:rfc:2648", "urn:ietf:rfc:999"}, []string{"urn:ietf:rfc:2649x"}, "urn:ietf:rfc:2649"},
		{"urn:example", "a{seq:3}", "urn:example:a", []string{"urn:example:a041", "urn:example:a007"}, []string{"urn:example:a0420", "urn:example:a42", "urn:example:a04x", "urn:example:b900"}, "urn:example:a042"},
		{"urn:example", "{seq}-x", "urn:example:", []string{"urn:example:12-x"}, []string{"urn:example:90-y", "urn:example:90", "urn:example:090-x", "urn:example:-x"}, "urn:example:13-x"},
		{"urn:example", "{year}-{seq:2}", "urn:example:2026-", []string{"urn:example:2026-07"}, []string{"urn:example:2025-88"}, "urn:example:2026-08"},
		{"urn:example", "{random:2}-{seq:2}", "urn:example:", []string{"urn:example:zz-07"}, []string{"urn:example:zzz-99"}, "-08"},
		{"urn:example", "{seq:2}-{hex:2}", "urn:example:", []string{"urn:example:07-0a"}, nil, "urn:example:08-"},
		{"ark:13030", "x-f9-{seq:2}{check:noid}", "ark:13030/xf9", []string{"ark:13030/xf907p"}, []string{"ark:13030/xf9070p"}, "ark:13030/xf908"},
		{"urn:issn", "2049-{seq:3}{check}", "urn:issn:2049-", []string{"urn:issn:2049-3630"}, nil, "urn:issn:2049-3649"},
		{"urn:issn", "{seq:7:2049000-}{check}", "urn:issn:", []string{"urn:issn:2049-3630"}, nil, "urn:issn:2049-3649"},
		{"urn:isbn", "978-3-16-{seq:6:148410-}{check}", "urn:isbn:978316", []string{"urn:isbn:9783161484100"}, nil, "urn:isbn:9783161484117"},
		{"urn:example", "{seq:2}", "urn:example:", []string{"urn:example:99"}, nil, "exhausted"},
		{"urn:example", "{seq}", "urn:example:", []string{"urn:example:999999999999999999"}, []string{"urn:example:9999999999999999999"}, "exhausted"},
		{"urn:example", "{random:3}", "", nil, nil, "urn:example:"},
	} {
		t.Run(tt.prefix+" "+tt.text, func(t *testing.T) {
			r := start(t, tt.prefix, tt.text)
			if got := r.under(); got != tt.under {
				t.Errorf("under %q, want %q", got, tt.under)
			}
			for _, s := range tt.there {
				if n := name.MustParse(s); !r.after(n) || tt.under != "" && !strings.HasPrefix(n.Key(), r.under()) {
					t.Errorf("%s is not a name of the template", s)
				}
			}
			for _, s := range tt.others {
				if r.after(name.MustParse(s)) {
					t.Errorf("%s is a name of the template", s)
				}
			}
			_, left := r.Next()
			got, err := take(r, 1)
			switch {
			case err != nil && (!strings.Contains(err.Error(), tt.want) || left != 0):
				t.Errorf("got %v with %d left, want %s", err, left, tt.want)
			case err == nil && !strings.Contains(got[0], tt.want):
				t.Errorf("got %q, want %s", got, tt.want)
			}
		})
	}
}

func TestSuggest(t *testing.T) {
	for _, tt := range []struct{ prefix, last, want string }{
		{"urn:uuid", "", "{uuid}"},
		{"ark:12345", "", "{random:8}{check:noid}"},
		{"urn:example", "", "{seq}"},
		{"urn:example", "urn:example:about", "{seq}"},
		{"urn:ietf:rfc", "urn:ietf:rfc:999", "{seq}"},
		{"urn:dns:example.org", "urn:dns:example.org:alb002", "alb{seq:3}"},
		{"urn:dns:example.org", "urn:dns:example.org:2026-7", "2026-{seq}"},
		{"urn:nbn:fi", "urn:nbn:fi:x-012", ":x-{seq:3}"},
		{"urn:issn", "urn:issn:2049-3630", "2049-{seq}{check}"},
		{"urn:nbn:de", "urn:nbn:de:101:1-201102033592", ":101:1-{seq}{check}"},
		{"urn:example", "urn:example:0123456789012345678901", "0123{seq}"},
		{"doi:10.1000", "doi:10.1000/1", "{seq}"},
	} {
		var last name.Name
		if tt.last != "" {
			last = name.MustParse(tt.last)
		}
		got, err := Suggest(name.MustParsePrefix(tt.prefix), last, Options{})
		if err != nil || got.String() != tt.want {
			t.Errorf("%s after %s: %s, %v, want %s", tt.prefix, tt.last, got, err, tt.want)
		}
	}
}

// TestProperty checks that minted names are valid, follow the rules of their
// namespace, are unique, lie under their prefix, and are recognised by After.
func TestProperty(t *testing.T) {
	templates := [][2]string{
		{"urn:isbn", "978{digit:9}{check}"},
		{"urn:isbn", "{digit:9}{check}"},
		{"urn:issn", "{digit:7}{check}"},
		{"urn:ismn", "9790{digit:8}{check}"},
		{"urn:isni", "0000{digit:11}{check}"},
		{"urn:lei", "{digit:4}00{digit:12}{check}"},
		{"urn:eic", "10X{digit:12}{check}"},
		{"urn:nbn:de", ":101:1-{date}{seq}{check}"},
		{"urn:uuid", "{uuid}"},
		{"urn:uuid", "{uuid:4}"},
		{"ark:12345", "x5{random:8}{check:noid}"},
		{"urn:example", "{seq:4}-{hex:3}{check:mod97}"},
		{"doi:10.1000", "{random:6}"},
		{"hdl:20.1000", "{digit:5}{check:luhn}"},
		{"https://example.org/id", "{random:5}"},
	}
	rapid.Check(t, func(t *rapid.T) {
		pick := rapid.SampledFrom(templates).Draw(t, "template")
		seed := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed")
		p := name.MustParsePrefix(pick[0])
		r, err := mustParse(pick[0], pick[1]).Start(Options{Now: noon, Rand: rand.NewChaCha8([32]byte(seed))})
		if err != nil {
			t.Fatal(err)
		}
		keys, err := take(r, 20)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			n, err := name.Parse(key)
			if err != nil || n.Key() != key || !p.Covers(n) || !r.after(n) {
				t.Fatalf("%s: %v, covered %t, known again %t", key, err, p.Covers(n), r.after(n))
			}
			u, err := urn.Parse(key)
			if err != nil {
				continue
			}
			ns, _ := namespace.Lookup(u.NID())
			if f := ns.Check(u.NSS()); f != nil {
				t.Fatalf("%s: %v", key, f)
			}
		}
		slices.Sort(keys)
		if len(slices.Compact(keys)) != 20 {
			t.Fatalf("name repeated: %q", keys)
		}
	})
}

// TestNoidCheckFindsErrors checks that one wrong character and two transposed
// ones are always detected.
func TestNoidCheckFindsErrors(t *testing.T) {
	const alphabet = "0123456789bcdfghjkmnpqrstvwxz"
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.StringOfN(rapid.SampledFrom([]rune(alphabet)), 2, 20, -1).Draw(t, "body")
		good := noidCheck(t, body)
		at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
		c := rapid.SampledFrom([]byte(alphabet)).Draw(t, "c")
		wrong := []byte(body)
		wrong[at] = c
		if c != body[at] && noidCheck(t, string(wrong)) == good {
			t.Fatalf("%s for %s is not detected", wrong, body)
		}
		wrong = []byte(body)
		if at > 0 && body[at-1] != body[at] {
			wrong[at-1], wrong[at] = body[at], body[at-1]
			if noidCheck(t, string(wrong)) == good {
				t.Fatalf("%s for %s is not detected", wrong, body)
			}
		}
	})
}

func noidCheck(t *rapid.T, body string) byte {
	keys, err := take(start(t, "ark:12345", body+"{check:noid}"), 1)
	if err != nil {
		t.Fatal(err)
	}
	return keys[0][len(keys[0])-1]
}

// TestSeek checks that the highest name is found, with few short lists if the
// width is fixed.
func TestSeek(t *testing.T) {
	for _, tt := range []struct {
		prefix, text string
		there        []string
		lists        int // at most
		want         string
	}{
		{"urn:example", "a{seq:3}", nil, 10, "urn:example:a001"},
		{"urn:example", "a{seq:3}", []string{"urn:example:a041", "urn:example:a007", "urn:example:b999"}, 31, "urn:example:a042"},
		{"urn:example", "a{seq:3}", []string{"urn:example:a041", "urn:example:a99", "urn:example:a9x", "urn:example:a8888", "urn:example:a888-1"}, 80, "urn:example:a042"},
		{"urn:example", "a{seq:2}-{hex:2}", []string{"urn:example:a12-zzz", "urn:example:a11-00", "urn:example:a11-0f"}, 40, "urn:example:a12-"},
		{"urn:example", "{seq}", []string{"urn:example:9", "urn:example:10", "urn:example:11x"}, 1, "urn:example:11"},
		{"urn:example", "{hex:1}{seq:2}", []string{"urn:example:a17", "urn:example:b05"}, 1, "18"},
		{"urn:issn", "204{seq:4}{check}", []string{"urn:issn:2049-3630", "urn:issn:2040-0004"}, 41, "urn:issn:2049-3649"},
		{"urn:example", "{random:3}", []string{"urn:example:abc"}, 0, "urn:example:"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			r := start(t, tt.prefix, tt.text)
			lists := 0
			err := r.Seek(func(prefix string) iter.Seq2[name.Name, error] {
				lists++
				return listOf(tt.there, prefix)
			})
			if err != nil || lists > tt.lists {
				t.Errorf("%d lists, %v, want at most %d", lists, err, tt.lists)
			}
			if got, err := take(r, 1); err != nil || !strings.Contains(got[0], tt.want) {
				t.Errorf("got %q, %v, want %s", got, err, tt.want)
			}
		})
	}
}

// listOf returns a List of the names.
func listOf(names []string, prefix string) iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		for _, s := range slices.Sorted(slices.Values(names)) {
			if strings.HasPrefix(s, prefix) && !yield(name.FromKey(s), nil) {
				return
			}
		}
	}
}

// TestSeekProperty checks that Seek finds the same as reading all names.
func TestSeekProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"a{seq:2}", "{seq}", "{seq:2}x", "a{seq:1}-{digit:1}", "{digit:1}{seq:1}"}).Draw(t, "template")
		there := rapid.SliceOf(rapid.StringMatching(`urn:example:a?[0-9]{1,3}[-x]?[0-9]?`)).Draw(t, "there")
		one, other := start(t, "urn:example", text), start(t, "urn:example", text)
		for _, s := range there {
			one.after(name.FromKey(s))
		}
		if err := other.Seek(func(prefix string) iter.Seq2[name.Name, error] { return listOf(there, prefix) }); err != nil {
			t.Fatal(err)
		}
		want, _ := one.Next()
		if got, _ := other.Next(); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}

// TestSeekFails checks that Seek returns the error of a list.
func TestSeekFails(t *testing.T) {
	for _, text := range []string{"{seq}", "{seq:3}"} {
		err := start(t, "urn:example", text).Seek(func(string) iter.Seq2[name.Name, error] {
			return func(yield func(name.Name, error) bool) { yield(name.Name{}, io.ErrUnexpectedEOF) }
		})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestRandomnessFails checks that an error of the random source is returned,
// and no name.
func TestRandomnessFails(t *testing.T) {
	for _, in := range []io.Reader{bytes.NewReader(nil), bytes.NewReader(bytes.Repeat([]byte{255}, 1<<16))} {
		r, err := mustParse("urn:example", "{random:8}").Start(Options{Now: noon, Rand: in})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := take(r, 1); err == nil {
			t.Errorf("got %q", got)
		}
	}
}

// TestLeft checks Next.
func TestLeft(t *testing.T) {
	r := start(t, "urn:example", "{seq:2}")
	r.after(name.MustParse("urn:example:41"))
	r.after(name.MustParse("urn:example:12"))
	if next, left := r.Next(); next != 42 || left != 58 {
		t.Errorf("next %d, %d left, want 42, 58", next, left)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"{seq}", "a{seq:3:1-9}b{check:noid}", "{random:8}{digit:2}{hex:1}", "{date}{year}{month}{day}", "{uuid:4}{uuid}", "{check:luhn}", "{seq:", "}{"} {
		f.Add("urn:example", s)
		f.Add("ark:12345", s)
		f.Add("urn:issn", s)
	}
	f.Fuzz(func(t *testing.T, prefix, text string) {
		p, err := name.ParsePrefix(prefix)
		if err != nil {
			return
		}
		tmpl, err := Parse(p, text)
		if err != nil {
			mustLieWithin(t, err, text)
			return
		}
		r, err := tmpl.Start(Options{Now: noon, Rand: seeded()})
		if err != nil {
			mustLieWithin(t, err, text)
			return
		}
		keys, err := take(r, 5)
		if err != nil && uint64(len(keys)) != tmpl.capacity() {
			if !errors.As(err, new(*RefusedError)) && tmpl.capacity() > 5 {
				t.Fatalf("%q: %d names, capacity %d, %v", text, len(keys), tmpl.capacity(), err)
			}
		}
		for i, key := range keys {
			n, err := name.Parse(key)
			if err != nil || n.Key() != key || slices.Contains(keys[:i], key) {
				t.Fatalf("%q: %q, %v", text, keys, err)
			}
			if !r.after(n) {
				t.Fatalf("%q: %q is not recognised", text, key)
			}
		}
	})
}

// mustLieWithin checks that the offset of an error is inside the template.
func mustLieWithin(t *testing.T, err error, text string) {
	t.Helper()
	var bad *Error
	if errors.As(err, &bad) && (bad.Offset < 0 || bad.Offset > len(text) || bad.Rule == "" || bad.Message == "") {
		t.Fatalf("%q: %+v", text, bad)
	}
}
