package bulk

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// nginxWords reads a configuration by the rules of nginx (ngx_conf_read_token): directives of
// words. It fails if nginx would reject the file, or if a directive does not end in a semicolon.
func nginxWords(text string) (directives [][]string, err error) {
	var words []string
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
		case ';':
			if words == nil {
				return directives, fmt.Errorf("byte %d: unexpected semicolon", i)
			}
			directives, words = append(directives, words), nil
			i++
		case '{', '}':
			return directives, fmt.Errorf("byte %d: a block", i)
		case '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case '"', '\'':
			word, end := "", -1
			for k := i + 1; k < len(text); k++ {
				if text[k] == c {
					end = k
					break
				}
				if text[k] != '\\' || k+1 == len(text) {
					word += text[k : k+1]
					continue
				}
				switch k++; text[k] {
				case '"', '\'', '\\':
					word += text[k : k+1]
				case 't':
					word += "\t"
				case 'r':
					word += "\r"
				case 'n':
					word += "\n"
				default:
					word += text[k-1 : k+1]
				}
			}
			if end < 0 || end+1-i > 4095 {
				return directives, fmt.Errorf("byte %d: too long parameter", i)
			}
			if end+1 < len(text) && !strings.ContainsRune(" \t\r\n;{)", rune(text[end+1])) {
				return directives, fmt.Errorf("byte %d: unexpected %q", end+1, text[end+1])
			}
			words, i = append(words, word), end+1
		default:
			return directives, fmt.Errorf("byte %d: a bare word", i)
		}
	}
	if words != nil {
		return directives, fmt.Errorf("unexpected end of file")
	}
	return directives, nil
}

// nginxLookup reads a map by the rules of nginx (ngx_http_map): keys are case-insensitive, and a
// value can contain variables.
func nginxLookup(text string) (map[string]string, error) {
	directives, err := nginxWords(text)
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	for _, d := range directives {
		if len(d) != 2 {
			return m, fmt.Errorf("%q: invalid number of the map parameters", d)
		}
		key := strings.ToLower(d[0])
		if _, twice := m[key]; twice {
			return m, fmt.Errorf("conflicting parameter %q", d[0])
		}
		if d[0] == "include" || d[0] == "default" || d[0] == "hostnames" || d[0] == "volatile" || strings.HasPrefix(d[0], "~") || strings.HasPrefix(d[0], `\`) {
			return m, fmt.Errorf("%q means something", d[0])
		}
		value := strings.ReplaceAll(d[1], "${nomen_dollar}", "\x00")
		if strings.Contains(value, "$") {
			return m, fmt.Errorf("%q has a variable", d[1])
		}
		m[key] = strings.ReplaceAll(value, "\x00", "$")
	}
	return m, nil
}

// apacheLookup finds a key by the rules of Apache httpd (lookup_map_txtfile): a line ends at a line
// break or at the end of the buffer.
func apacheLookup(text, key string) (string, bool) {
	const space = " \t\n\v\f\r"
	for text != "" {
		end := min(strings.IndexByte(text+"\n", '\n')+1, 1024, len(text))
		line := text[:end]
		text = text[end:]
		if line[0] == '#' || strings.IndexByte(space, line[0]) >= 0 {
			continue
		}
		k := strings.IndexAny(line, space)
		if k < 0 || line[:k] != key {
			continue
		}
		rest := strings.TrimLeft(line[k:], space)
		if v := strings.IndexAny(rest+"\n", space); v > 0 {
			return rest[:v], true
		}
	}
	return "", false
}

// breakout draws texts that try to end the word, quotes or line in which they are.
func breakout() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{
		`"`, `'`, `;`, `{`, `}`, `$`, `\`, `#`, ` `, "\n", "\r", "\t", "|", ",", "%", "é", "\xff", "\x00", "\u2028", "a", "B", "?", "=", "&",
		`"; include /etc/passwd; #`, "${host}", `$request_uri`, `\"`, "\nkey value", "default", "%0A", "${nomen_dollar}", `\n`, `\t`, `\|`,
	})
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "") })
}

// put writes records to a store without the checks of the registrar.
func put(t interface{ Fatal(...any) }, records []*store.Record) store.Store {
	s := memstore.New()
	changes := make([]store.Change, len(records))
	for i, r := range records {
		changes[i] = store.Change{Record: r, Expected: store.AnyRevision, Time: time.Unix(1, 0)}
	}
	if _, err := s.Apply(context.Background(), changes); err != nil {
		t.Fatal(err)
	}
	return s
}

// exported returns an export, and the refusals.
func exported(t interface{ Fatal(...any) }, s store.Reader, o ExportOptions) (string, Summary, []Refusal) {
	var out bytes.Buffer
	var refused []Refusal
	o.Refused = func(r Refusal) { refused = append(refused, r) }
	sum, err := Export(context.Background(), s, &out, o)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), sum, refused
}

// TestMapsHoldNothingElse checks that, for any content of a store, a map has exactly the expected
// lines, and that a lookup in the map returns the unchanged URL.
func TestMapsHoldNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var records []*store.Record
		urls := map[string]string{}
		for range rapid.IntRange(0, 6).Draw(t, "n") {
			key := "urn:example:" + rapid.StringMatching(`[ -~]{1,6}`).Draw(t, "key")
			key = strings.ReplaceAll(key, " ", "x")
			url := "https://example.org/" + breakout().Draw(t, "url") + strings.Repeat("x", rapid.SampledFrom([]int{0, 0, 0, 950, 1000, 4000, 4060, 4200}).Draw(t, "long"))
			records = append(records, &store.Record{Name: name.FromKey(key), Locations: []nomen.Location{{URL: url}}})
			urls[key] = url
		}
		s := put(t, records)
		for _, f := range []Format{NginxMap, ApacheMap, URIList} {
			text, sum, refused := exported(t, s, ExportOptions{Format: f})
			if int(sum.Read+sum.Refused) != len(urls) || int(sum.Refused) != len(refused) {
				t.Fatalf("%s: %+v, %d refused, of %d", f, sum, len(refused), len(urls))
			}
			good := written(urls, refused)
			switch f {
			case NginxMap:
				got, err := nginxLookup(text)
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				want := map[string]string{}
				for key, url := range good {
					want["/"+strings.ToLower(key)] = url
				}
				if !cmp.Equal(got, want) {
					t.Fatal(cmp.Diff(want, got))
				}
			case ApacheMap:
				if n := strings.Count(text, "\n") - strings.Count(apacheHead, "\n"); n != len(good) {
					t.Fatalf("%d lines for %d names:\n%s", n, len(good), text)
				}
				for key, url := range good {
					if got, ok := apacheLookup(text, "/"+key); !ok || got != url {
						t.Fatalf("%s: %q, %t, want %q", key, got, ok, url)
					}
				}
			case URIList:
				var want string
				for _, key := range slices.Sorted(keys(good)) {
					want += "# " + key + "\r\n" + good[key] + "\r\n"
				}
				if text != want {
					t.Fatal(cmp.Diff(want, text))
				}
			}
			for _, r := range refused {
				if url := urls[r.Name]; leads(0, url) == nil && len(url) < 900 && r.Field != "name" {
					t.Fatalf("%s: %s was refused: %s", f, r.Name, r.Reason)
				}
			}
		}
	})
}

func written(urls map[string]string, refused []Refusal) map[string]string {
	good := map[string]string{}
	for key, url := range urls {
		if !slices.ContainsFunc(refused, func(r Refusal) bool { return r.Name == key }) {
			good[key] = url
		}
	}
	return good
}

func keys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func TestMaps(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := put(t, []*store.Record{
		{Name: name.FromKey("urn:example:1"), Locations: []nomen.Location{
			{URL: "https://a.example/?x=$1;(y)#z", Priority: 2},
			{URL: "https://later.example/", ValidFrom: "2026-06-01T00:00:00Z"},
			{URL: "https://over.example/", ValidUntil: "2025-06-01T00:00:00Z"},
			{URL: "https://toc.example/", Component: "toc"},
			{URL: "https://b.example/$", Weight: 3},
			{URL: "https://c.example/"},
		}},
		{Name: name.FromKey("urn:example:A"), Locations: []nomen.Location{{URL: "https://a.example/A"}}},
		{Name: name.FromKey("urn:example:a"), Locations: []nomen.Location{{URL: "https://a.example/a"}}},
		{Name: name.FromKey("urn:example:b"), Status: nomen.Reserved, Locations: []nomen.Location{{URL: "https://a.example/b"}}},
		{Name: name.FromKey("urn:example:c"), Status: nomen.Retired, Locations: []nomen.Location{{URL: "https://a.example/c"}}},
		{Name: name.FromKey("urn:example:d")},
	})
	for _, c := range []struct {
		format Format
		want   string
		sum    Summary
	}{
		{
			NginxMap, nginxHead + `"/urn:example:1" "https://b.example/${nomen_dollar}";` + "\n" + `"/urn:example:A" "https://a.example/A";` + "\n",
			Summary{Read: 2, Refused: 1, LeftOut: 3},
		},
		{
			ApacheMap, apacheHead + "/urn:example:1 https://b.example/$\n/urn:example:A https://a.example/A\n/urn:example:a https://a.example/a\n",
			Summary{Read: 3, LeftOut: 3},
		},
		{
			URIList, "# urn:example:1\r\nhttps://b.example/$\r\nhttps://c.example/\r\nhttps://a.example/?x=$1;(y)#z\r\n# urn:example:A\r\nhttps://a.example/A\r\n# urn:example:a\r\nhttps://a.example/a\r\n",
			Summary{Read: 3, LeftOut: 3},
		},
	} {
		got, sum, refused := exported(t, s, ExportOptions{Format: c.format, Now: func() time.Time { return at }})
		if got != c.want || sum != c.sum {
			t.Errorf("%s: %+v, %v\n%s", c.format, sum, refused, cmp.Diff(c.want, got))
		}
	}
}

// TestBestLocation checks that a map leads to the location to which nomen itself redirects.
func TestBestLocation(t *testing.T) {
	times := []string{"", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		var all []nomen.Location
		for i := range rapid.IntRange(0, 5).Draw(t, "n") {
			all = append(all, nomen.Location{
				URL: fmt.Sprintf("https://example.org/%d", i), Priority: rapid.IntRange(0, 3).Draw(t, "priority"), Weight: rapid.IntRange(0, 3).Draw(t, "weight"),
				Component: rapid.SampledFrom([]string{"", "toc"}).Draw(t, "component"),
				Rel:       rapid.SampledFrom([]string{"", "archive", "describedby"}).Draw(t, "rel"), Down: rapid.Bool().Draw(t, "down"),
				ValidFrom: rapid.SampledFrom(times).Draw(t, "from"), ValidUntil: rapid.SampledFrom(times).Draw(t, "until"),
			})
		}
		rec := &store.Record{Name: name.MustParse("urn:example:1"), Locations: all}
		e := resolve.New(put(t, []*store.Record{rec}), resolve.Options{Now: func() time.Time { return at }})
		a, err := e.Resolve(context.Background(), nomen.Question{Name: rec.Name, Service: nomen.I2Ls})
		if err != nil {
			t.Fatal(err)
		}
		rec.Status = nomen.Active
		got := usable(rec, at)
		if len(got) != len(a.Locations) {
			t.Fatalf("got %v, want %v", got, a.Locations)
		}
		for i := range got {
			if got[i].URL != a.Locations[i].URL {
				t.Fatalf("got %v, want %v", got, a.Locations)
			}
		}
	})
}
