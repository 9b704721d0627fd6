package bulk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/internal/rfcindex"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A bench is a store with its registrar and a clock that advances by a second at each call.
type bench struct {
	testing.TB
	store store.Store
	reg   *registrar.Registrar
}

func newBench(t testing.TB) *bench {
	s := memstore.New()
	t.Cleanup(func() { s.Close() })
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex // batches are checked by several goroutines
	return &bench{t, s, registrar.New(s, registrar.Options{Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Second)
		return at
	}})}
}

func frozen() time.Time { return time.Time{} }

// bring imports records, and returns the refusals as text.
func (b *bench) bring(r io.Reader, o ImportOptions) (Summary, []string, error) {
	b.Helper()
	var refused []string
	o.Now, o.Refused = frozen, func(r Refusal) { refused = append(refused, r.String()) }
	sum, err := Import(context.Background(), b.reg, registrar.Operator(), r, o)
	sum.Import = "" // it is random
	return sum, refused, err
}

func (b *bench) good(text string, o ImportOptions) Summary {
	b.Helper()
	sum, refused, err := b.bring(strings.NewReader(text), o)
	if err != nil || refused != nil {
		b.Fatalf("Import: %v, refused %q", err, refused)
	}
	return sum
}

// export returns all records. If bare is true, it omits the fields that the store sets.
func (b *bench) export(bare bool) string {
	b.Helper()
	var out bytes.Buffer
	if _, err := Export(context.Background(), b.store, &out, ExportOptions{Revisions: !bare}); err != nil {
		b.Fatalf("Export: %v", err)
	}
	return out.String()
}

func packed(text string) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	io.WriteString(z, text) // writing to a buffer never fails
	z.Close()
	return out.Bytes()
}

const hostile = `{"name":"urn:dns:example.org:1","locations":[{"url":"https://example.org/1"}],"revision":4}
{"name":"urn:dns:example.org:bad","locations":[
{"name":"urn:dns:example.org:2","colour":"red"}
{"name":"urn:dns:example.org:3","locations":[{"url":"three.html"}]}
{"name":"urn:dns:example.org:4","locations":[{"url":"https://example.org/4"},{"url":"javascript:alert(1)"}]}
{"name":"urn:dns:example.org:5","locations":[{"url":"https://example.org/\r\nSet-Cookie: a=b"}]}
{"name":"alb002","locations":[{"url":"https://example.org/6"}]}

{"name":"URN:DNS:Example.Org:1","locations":[{"url":"https://example.org/1b"}],"revision":9}
{"name":"urn:dns:example.org:1","locations":[{"url":"https://example.org/1"}],"revision":9}
{"name":"urn:dns:example.org:1","metadata":{"title":["One"]}}
{"name":"urn:dns:example.org:last","locations":[{"url":"https://example.org/%0D%0A"}]}
`

func TestHostileFile(t *testing.T) {
	want := []string{
		`line 2, column 48: urn:dns:example.org:bad: locations[0]: expected an object, found the end of the line`,
		`line 3, column 33: urn:dns:example.org:2: colour: unknown field`,
		`line 4: urn:dns:example.org:3: locations[0].url: scheme, offset 10: `,
		`line 5: urn:dns:example.org:4: locations[1].url: scheme: javascript: makes a browser execute or display the content of the link itself`,
		`line 6: urn:dns:example.org:5: locations[0].url: text, offset 20: contains the control character U+000D`,
		`line 7: alb002: name: scheme, offset 6: `,
		`line 9: URN:DNS:Example.Org:1: revision: the line is based on revision 9, but the name has revision 1`,
	}
	for _, dry := range []bool{true, false} {
		b := newBench(t)
		sum, refused, err := b.bring(strings.NewReader(hostile), ImportOptions{DryRun: dry})
		if err != nil {
			t.Fatal(err)
		}
		if want := (Summary{Read: 11, Created: 2, Changed: 1, Unchanged: 1, Refused: 7}); sum != want {
			t.Errorf("dry %t: %+v, want %+v", dry, sum, want)
		}
		for i := range max(len(refused), len(want)) {
			if i >= len(refused) || i >= len(want) || !strings.HasPrefix(refused[i], want[i]) {
				t.Errorf("dry %t: refused\n got %q\nwant %q", dry, refused, want)
				break
			}
		}
		n, _, err := store.Count(context.Background(), b.store)
		if wantN := map[bool]int64{true: 0, false: 2}[dry]; err != nil || n != wantN {
			t.Errorf("dry %t: %d records, %v; want %d", dry, n, err, wantN)
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, in := range []string{"", "\n\n", "\uFEFF", "\uFEFF\r\n \t\n", string(packed(""))} {
		sum, refused, err := newBench(t).bring(strings.NewReader(in), ImportOptions{})
		if err != nil || refused != nil || sum != (Summary{}) {
			t.Errorf("%q: %+v, %q, %v; want nothing", in, sum, refused, err)
		}
	}
}

func TestTableWithoutHeader(t *testing.T) {
	for _, f := range []Format{CSV, TSV} {
		for _, in := range []string{"", "\n\n", "\uFEFF", string(packed(""))} {
			sum, _, err := newBench(t).bring(strings.NewReader(in), ImportOptions{Format: f})
			var bad *LineError
			if !errors.As(err, &bad) || bad.Line != 1 || sum != (Summary{}) {
				t.Errorf("%s: %q: %+v, %v; want a *LineError about line 1", f, in, sum, err)
			}
		}
	}
}

// TestDoubts checks the counts of records that may be mistakes, at the first import and when it is
// repeated.
func TestDoubts(t *testing.T) {
	const n = `{"name":"urn:dns:example.org:1"`
	for _, tt := range []struct {
		first, second string
		policy        Conflict
		once, again   Doubts
	}{
		{`,"metadata":{"title":["A"]}}`, `,"metadata":{"title":["B"]}}`, Merge, Doubts{1, 2}, Doubts{1, 2}},
		{`,"metadata":{"title":["A"]}}`, `,"metadata":{"title":["A"],"creator":["C"]}}`, Merge, Doubts{0, 2}, Doubts{}},
		{`,"locations":[{"url":"https://a.example/"}]}`, `,"locations":[{"url":"https://b.example/"}]}`, Merge, Doubts{0, 2}, Doubts{}},
		{`,"locations":[{"url":"https://a.example/"}]}`, `,"locations":[{"url":"https://b.example/"}]}`, Replace, Doubts{1, 2}, Doubts{1, 2}},
		{`,"locations":[{"url":"https://a.example/","lang":"en"}]}`, `,"locations":[{"url":"https://a.example/","lang":"fi"}]}`, Merge, Doubts{1, 2}, Doubts{1, 2}},
		{`,"same_as":["a:b"]}`, `,"same_as":["a:c"]}`, Merge, Doubts{0, 2}, Doubts{}},
		{`,"same_as":["a:b"]}`, `,"same_as":["a:c"]}`, Replace, Doubts{1, 2}, Doubts{1, 2}},
		{`,"successors":["a:b"]}`, `,"successors":["a:c"]}`, Replace, Doubts{1, 2}, Doubts{1, 2}},
		{`,"status":"reserved"}`, `,"status":"active"}`, Merge, Doubts{1, 2}, Doubts{}},
		{`,"status":"retired","reason":"a"}`, `,"reason":"b"}`, Merge, Doubts{1, 2}, Doubts{1, 2}},
		{`,"metadata":{"title":["A"]}}`, `,"metadata":{"title":["B"]}}`, Keep, Doubts{0, 1}, Doubts{}},
	} {
		b := newBench(t)
		for _, want := range []Doubts{tt.once, tt.again} {
			var got Doubts
			o := ImportOptions{OnConflict: tt.policy, Retired: true, Doubted: func(d Doubts) { got = d }}
			if _, _, err := b.bring(strings.NewReader(n+tt.first+"\n"+n+tt.second), o); err != nil || got != want {
				t.Errorf("%s of %s and %s: %+v, %v; want %+v", tt.policy, tt.first, tt.second, got, err, want)
			}
		}
	}
}

func TestLayout(t *testing.T) {
	b := newBench(t)
	got := b.good("\uFEFF{\"name\":\"urn:dns:example.org:1\"}\r\n\r\n\n  {\"name\":\"urn:dns:example.org:2\"}  \n{\"name\":\"urn:dns:example.org:3\"}", ImportOptions{})
	if want := (Summary{Read: 3, Created: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestBrokenOff(t *testing.T) {
	const two = `{"name":"urn:dns:example.org:1"}` + "\n" + `{"name":"urn:dns:example.org:2"}` + "\n"
	many := strings.Builder{}
	for i := range 3000 {
		fmt.Fprintf(&many, `{"name":"urn:dns:example.org:%d","metadata":{"title":["%x"]}}`+"\n", i, i*i*7919)
	}
	cut := packed(many.String())
	for _, c := range []struct {
		what    string
		in      io.Reader
		pack    Compression
		created int64 // at least
		line    int   // at least
	}{
		{"gzip cut short", bytes.NewReader(cut[:len(cut)/2]), Auto, 100, 100},
		{"gzip without its end", bytes.NewReader(cut[:len(cut)-4]), Auto, 3000, 3001},
		{"gzip with a broken header", strings.NewReader("\x1f\x8b\x08"), Auto, 0, 1},
		{"gzip promised", strings.NewReader(""), Gzip, 0, 1},
		{"zstd with a broken header", strings.NewReader("\x28\xb5\x2f\xfd"), Auto, 0, 1},
		{"a line cut short", strings.NewReader(two + `{"name":"urn:dns:exa`), Auto, 2, 3},
		{"a read that fails", io.MultiReader(strings.NewReader(two+`{"name":"urn:dns:exa`), iotest.ErrReader(errors.New("unplugged"))), Auto, 2, 3},
		{"UTF-16", strings.NewReader("\xff\xfe{\x00"), Auto, 0, 1},
	} {
		b := newBench(t)
		sum, refused, err := b.bring(c.in, ImportOptions{Compression: c.pack})
		var broken *BrokenError
		if !errors.As(err, &broken) || broken.Line < c.line || sum.Created < c.created || refused != nil || c.line < 100 && (broken.Line != c.line || sum.Created != c.created) {
			t.Errorf("%s: %+v, %q, %v; want %d created, broken off in line %d", c.what, sum, refused, err, c.created, c.line)
		}
		if n, _, err := store.Count(context.Background(), b.store); err != nil || n != sum.Created {
			t.Errorf("%s: %d records, %v; want %d", c.what, n, err, sum.Created)
		}
	}
}

// TestDamaged checks that the caller gets an error if the checksum at the end of a compressed file
// is wrong, because the records before it may be wrong.
func TestDamaged(t *testing.T) {
	const line = `{"name":"urn:dns:example.org:1"}` + "\n"
	gz := packed(line)
	gz[len(gz)-8] ^= 1 // of the CRC32 (RFC 1952, 2.3.1)
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zst := enc.EncodeAll([]byte(line), nil)
	zst[len(zst)-1] ^= 1 // of the Content_Checksum (RFC 8878, 3.1.1)
	for what, in := range map[string][]byte{"gzip": gz, "zstd": zst} {
		b := newBench(t)
		_, _, err := b.bring(bytes.NewReader(in), ImportOptions{})
		var broken *BrokenError
		if !errors.As(err, &broken) || !strings.Contains(broken.Error(), "may have been read wrong") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestLongLines(t *testing.T) {
	line := func(element string, size int) string {
		head := `{"name":"urn:dns:example.org:` + element + `"`
		return head + strings.Repeat(" ", size-len(head)-1) + "}\n"
	}
	in := line("1", maxLine) + line("2", maxLine+1) + line("3", bufferSize) + line("4", bufferSize-1) + line("5", maxLine+bufferSize)
	sum, refused, err := newBench(t).bring(strings.NewReader(in), ImportOptions{})
	if want := (Summary{Read: 5, Created: 3, Refused: 2}); err != nil || sum != want || len(refused) != 2 || !strings.HasPrefix(refused[0], "line 2, column 4194305: the line is longer") {
		t.Errorf("got %+v, %q, %v; want %+v", sum, refused, err, want)
	}
	sum, _, err = newBench(t).bring(strings.NewReader(strings.TrimSuffix(line("5", 2*maxLine), "\n")), ImportOptions{})
	if want := (Summary{Read: 1, Refused: 1}); err != nil || sum != want {
		t.Errorf("a last line that is too long: %+v, %v", sum, err)
	}
}

func TestImportAgainDoesNothing(t *testing.T) {
	b := newBench(t)
	in := `{"name":"urn:dns:example.org:1","locations":[{"url":"https://a.example/"},{"url":"https://a.example/"}],"same_as":["a:b","a:b"],"revision":7}
{"name":"urn:dns:example.org:2","status":"retired","reason":"lost","metadata":{"title":["B"]}}
`
	b.good(in, ImportOptions{})
	before := b.export(false)
	for _, o := range []ImportOptions{{}, {OnConflict: Replace}, {DryRun: true}} {
		if got, want := b.good(in+in, o), (Summary{Read: 4, Unchanged: 4}); got != want {
			t.Errorf("%+v: %+v, want %+v", o, got, want)
		}
	}
	if after := b.export(false); after != before {
		t.Errorf("got\n%swant\n%s", after, before)
	}
}

func TestOnConflict(t *testing.T) {
	const first = `{"name":"urn:dns:example.org:1","locations":[{"url":"https://a.example/","type":"text/html"}],"metadata":{"title":["A"],"creator":["C"]},"same_as":["a:b"]}`
	const second = `{"name":"urn:dns:example.org:1","locations":[{"url":"https://b.example/"}],"metadata":{"title":["B"]}}`
	const same = `{"name":"urn:dns:example.org:1","locations":[{"url":"https://a.example/"}],"metadata":{"creator":["C"]}}`
	const fresh = `{"name":"urn:dns:example.org:2"}`
	const kept = `{"name":"urn:dns:example.org:1","status":"active","locations":[{"url":"https://a.example/","type":"text/html"}],"metadata":{"creator":["C"],"title":["A"]},"same_as":["a:b"],"successors":[],"reason":""}` + "\n"
	const created = `{"name":"urn:dns:example.org:2","status":"active","locations":[],"metadata":{},"same_as":[],"successors":[],"reason":""}` + "\n"
	for _, c := range []struct {
		policy Conflict
		want   string
		sum    Summary
		same   Summary // summary for the line that changes nothing
	}{
		{
			Merge, `{"name":"urn:dns:example.org:1","status":"active","locations":[{"url":"https://a.example/","type":"text/html"},{"url":"https://b.example/"}],"metadata":{"creator":["C"],"title":["B"]},"same_as":["a:b"],"successors":[],"reason":""}` + "\n",
			Summary{Read: 2, Created: 1, Changed: 1},
			Summary{Read: 1, Unchanged: 1},
		},
		{
			Replace, `{"name":"urn:dns:example.org:1","status":"active","locations":[{"url":"https://b.example/"}],"metadata":{"title":["B"]},"same_as":["a:b"],"successors":[],"reason":""}` + "\n",
			Summary{Read: 2, Created: 1, Changed: 1},
			Summary{Read: 1, Changed: 1},
		},
		{Keep, kept, Summary{Read: 2, Created: 1, Unchanged: 1}, Summary{Read: 1, Unchanged: 1}},
		{Fail, kept, Summary{Read: 2, Created: 1, Refused: 1}, Summary{Read: 1, Unchanged: 1}},
	} {
		b := newBench(t)
		b.good(first, ImportOptions{})
		if got, refused, err := b.bring(strings.NewReader(same), ImportOptions{OnConflict: c.policy, DryRun: true}); err != nil || got != c.same {
			t.Errorf("%s, nothing new: %+v, %q, %v; want %+v", c.policy, got, refused, err, c.same)
		}
		got, refused, err := b.bring(strings.NewReader(second+"\n"+fresh), ImportOptions{OnConflict: c.policy})
		if err != nil || got != c.sum {
			t.Errorf("%s: %+v, %q, %v; want %+v", c.policy, got, refused, err, c.sum)
		}
		if c.policy == Fail && (len(refused) != 1 || !strings.HasSuffix(refused[0], "name: exists: the name exists already, and this would change its locations, metadata")) {
			t.Errorf("fail: refused %q", refused)
		}
		if got, want := b.export(true), c.want+created; got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.policy, got, want)
		}
		if p, ok := ParseConflict(c.policy.String()); !ok || p != c.policy {
			t.Errorf("ParseConflict(%q): %v, %t", c.policy, p, ok)
		}
	}
}

func TestRevisions(t *testing.T) {
	b := newBench(t)
	b.good(`{"name":"urn:dns:example.org:1","revision":40}`, ImportOptions{}) // now 1
	line := func(revision int, title string) string {
		return fmt.Sprintf(`{"name":"urn:dns:example.org:1","metadata":{"title":[%q]},"revision":%d}`+"\n", title, revision)
	}
	for _, c := range []struct {
		what, in         string
		changed, refused int64
	}{
		{"another", line(40, "A"), 0, 1},
		{"the right one", line(1, "A"), 1, 0}, // now 2
		{"again", line(1, "A"), 0, 0},
		{"made from the same", line(2, "B") + line(2, "C"), 1, 1}, // now 3
		{"far apart", line(3, "C") + strings.Repeat(`{"name":"urn:dns:example.org:2"}`+"\n", batchSize) + line(3, "D") + line(3, "C"), 1, 1}, // now 4
		{"contradicting", line(4, "D") + line(3, "E"), 1, 1}, // now 5
		{"none", `{"name":"urn:dns:example.org:1","metadata":{"title":["F"]},"revision":0}`, 1, 0},
	} {
		sum, refused, err := b.bring(strings.NewReader(c.in), ImportOptions{})
		if err != nil || sum.Changed != c.changed || sum.Refused != c.refused {
			t.Errorf("%s: %+v, %q, %v; want %d changed, %d refused", c.what, sum, refused, err, c.changed, c.refused)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	a := newBench(t)
	a.good(
		`{"name":"URN:DNS:Example.ORG:1","status":"reserved","locations":[{"url":"https://a.example/?a=1&b=2","note":"<\"ä\\\n\u2028>","priority":2,"weight":3,"country":"de"}]}
{"name":"ark:/12345/x-1","metadata":{"title":["T","U"],"date":["1999"]},"same_as":["a:b","a:b"],"successors":["ark:12345/y"]}
{"name":"https://purl.example/x","status":"retired","reason":"lost\tand\ngone"}
`, ImportOptions{})
	for range 2 { // revisions differ
		a.good(`{"name":"ark:12345/x1","metadata":{"title":["V"]}}`, ImportOptions{})
		a.good(`{"name":"ark:12345/x1","metadata":{"title":["W"]}}`, ImportOptions{})
	}
	for _, pack := range []Compression{Auto, Plain, Gzip, Zstd} {
		var file bytes.Buffer
		sum, err := Export(context.Background(), a.store, &file, ExportOptions{Compression: pack, Now: frozen})
		if err != nil || sum != (Summary{Read: 3}) {
			t.Fatalf("Export: %+v, %v", sum, err)
		}
		b := newBench(t)
		b.good(file.String(), ImportOptions{})
		if diff := cmp.Diff(a.export(true), b.export(true)); diff != "" {
			t.Errorf("compression %d (-first +second)\n%s", pack, diff)
		}
		if got, want := b.good(file.String(), ImportOptions{}), (Summary{Read: 3, Unchanged: 3}); got != want {
			t.Errorf("compression %d, again: %+v, want %+v", pack, got, want)
		}
	}
}

func TestExportSome(t *testing.T) {
	b := newBench(t)
	b.good(`{"name":"urn:dns:example.org:1"}
{"name":"urn:dns:example.org:2","status":"reserved"}
{"name":"ark:12345/x"}
`, ImportOptions{})
	var out bytes.Buffer
	_, err := Export(context.Background(), b.store, &out, ExportOptions{Prefix: "urn:", Statuses: []nomen.Status{nomen.Active, nomen.Retired}})
	if err != nil || strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), "org:1") {
		t.Errorf("Export = %s, %v; want urn:dns:example.org:1", out.String(), err)
	}
	if _, err := Export(context.Background(), b.store, &failing{}, ExportOptions{}); err == nil {
		t.Error("Export to a full disk: no error")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestStoreFails(t *testing.T) {
	b := newBench(t)
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.bring(strings.NewReader(`{"name":"a:b"}`), ImportOptions{}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Import into a closed store: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Import(ctx, newBench(t).reg, registrar.Operator(), strings.NewReader(`{"name":"a:b"}`), ImportOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Import cancelled: %v", err)
	}
}

func TestProgress(t *testing.T) {
	var in strings.Builder
	for i := range batchSize + 1 {
		fmt.Fprintf(&in, `{"name":"a:%d"}`+"\n", i)
	}
	var got []int64
	o := ImportOptions{Progress: func(s Summary) { got = append(got, s.Read) }}
	newBench(t).good(in.String(), o)
	if diff := cmp.Diff([]int64{batchSize, batchSize + 1}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSuffixes(t *testing.T) {
	for in, want := range map[string]struct {
		c  Compression
		ok bool
	}{
		"-": {Auto, true}, "a.jsonl": {Auto, true}, "dir.x/A.JSONL.GZ": {Gzip, true}, "a.ndjson.zst": {Zstd, true},
		"a.ods": {Auto, false}, "a.xlsx": {Auto, true}, "a.gz": {Gzip, true},
	} {
		if _, c, ok := Suffixes(in); c != want.c || ok != want.ok {
			t.Errorf("Suffixes(%q) = %d, %t; want %d, %t", in, c, ok, want.c, want.ok)
		}
	}
}

// index returns the RFC index as JSON Lines.
func index(b testing.TB) []byte {
	r, err := rfcindex.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func BenchmarkRead(b *testing.B) {
	text := index(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		lines, _, _ := all(b, bytes.NewReader(text))
		n += len(lines)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "records/s")
}

// scattered returns lines whose names occur again in other batches: with other content, with the
// same content, or with a revision.
func scattered(seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 1))
	var text strings.Builder
	for range 2*batchSize + batchSize/2 {
		n := random.IntN(batchSize)
		fmt.Fprintf(&text, `{"name":"urn:example:%d"`, n)
		switch random.IntN(5) {
		case 0:
			fmt.Fprintf(&text, `,"status":"retired","reason":"%d"`, random.IntN(2))
		case 1:
			fmt.Fprintf(&text, `,"revision":%d,"metadata":{"title":["%d"]}`, 1+random.IntN(3), random.IntN(2))
		case 2:
			text.WriteString(`,"status":"reserved"`)
		default:
			fmt.Fprintf(&text, `,"locations":[{"url":"https://example.org/%d"}]`, random.IntN(3))
		}
		text.WriteString("}\n")
	}
	return text.String()
}

// A dry run reports for a whole file what an import does, even if a name occurs again in a later
// batch.
func TestDryRunOfAll(t *testing.T) {
	text := scattered(7)
	for c := Merge; c <= Fail; c++ {
		t.Run(c.String(), func(t *testing.T) {
			b := newBench(t)
			b.good(`{"name":"urn:example:1","locations":[{"url":"https://example.org/1"}]}`, ImportOptions{})
			before := b.export(false)
			run := func(dry bool) (Summary, []string, []Change) {
				var changes []Change
				sum, refused, err := b.bring(strings.NewReader(text), ImportOptions{
					OnConflict: c, DryRun: dry, Changed: func(change Change) { changes = append(changes, change) },
				})
				if err != nil {
					t.Fatal(err)
				}
				return sum, refused, changes
			}
			sum, refused, changes := run(true)
			if after := b.export(false); after != before {
				t.Fatal("the dry run has changed something")
			}
			wantSum, wantRefused, wantChanges := run(false)
			if sum != wantSum || sum.Created > batchSize || sum.Created < batchSize/2 {
				t.Errorf("got %+v, and the import %+v", sum, wantSum)
			}
			if diff := cmp.Diff(refused, wantRefused); diff != "" {
				t.Errorf("refused:\n%.2000s", diff)
			}
			if diff := cmp.Diff(changes, wantChanges); diff != "" {
				t.Errorf("changes:\n%.2000s", diff)
			}
		})
	}
}

// brokenScratch cannot keep anything.
type brokenScratch struct{ memory }

var errScratch = errors.New("no room")

func (brokenScratch) Keep([]*store.Record) error { return errScratch }

// A dry run that cannot store its results ends with an error. A dry run of a single batch needs no
// storage.
func TestDryRunWithoutRoom(t *testing.T) {
	b := newBench(t)
	text := scattered(7)
	for _, scratch := range []func() (Scratch, error){
		func() (Scratch, error) { return nil, errScratch },
		func() (Scratch, error) { return brokenScratch{}, nil },
	} {
		o := ImportOptions{DryRun: true, Scratch: scratch}
		if _, _, err := b.bring(strings.NewReader(text), o); !errors.Is(err, errScratch) {
			t.Errorf("a large file: %v", err)
		}
		if sum, _, err := b.bring(strings.NewReader(`{"name":"urn:example:1"}`), o); err != nil || sum.Created != 1 {
			t.Errorf("a small one: %+v, %v", sum, err)
		}
	}
}

// TestNothingInMuch imports small compressed files that expand to much data without a record: blank
// lines, rows without cells, and a line that does not end.
func TestNothingInMuch(t *testing.T) {
	const head = "name,url\n"
	for n, c := range []struct {
		title        string
		format       Format
		head, filler string
	}{
		{"blank lines", JSONLines, "", "\n"},
		{"white space", JSONLines, "", " "},
		{"blank rows", CSV, head, "\n"},
		{"rows of empty cells", CSV, head, ",\r\n"},
		{"rows of empty cells with tabs", TSV, "name\turl\n", "\t\n"},
		{"lines that are not records", JSONLines, "", "x\n"},
		{"rows without a name", CSV, head, ",x\n"},
		{"a line without an end", CSV, head, "x"},
		{"a quote without an end", CSV, head + "\"", "x\n"},
	} {
		for i, how := range []Compression{Gzip, Zstd} {
			if testrun.Reduced() && i != n%2 {
				continue // in turn
			}
			var file bytes.Buffer
			w, err := compress(&file, how)
			if err != nil {
				t.Fatal(err)
			}
			filler := strings.Repeat(c.filler, (64<<10)/len(c.filler))
			io.WriteString(w, c.head)
			for range (7 << 20) / (64 << 10) {
				io.WriteString(w, filler)
			}
			w.Close()
			sum, err := Import(t.Context(), registrar.New(memstore.New(), registrar.Options{}), registrar.Operator(), &file, ImportOptions{Format: c.format, Compression: how})
			if !errors.As(err, new(*BrokenError)) || !strings.Contains(fmt.Sprint(err), "no record") {
				t.Errorf("%s, %v: %+v, %v", c.title, how, sum, err)
			}
		}
		if !strings.HasPrefix(c.title, "blank") && !strings.HasPrefix(c.title, "rows of") {
			continue
		}
		plain := c.head + strings.Repeat(c.filler, (5<<20)/len(c.filler))
		sum, err := Import(t.Context(), registrar.New(memstore.New(), registrar.Options{}), registrar.Operator(), strings.NewReader(plain), ImportOptions{Format: c.format})
		if err != nil || sum.Read != 0 {
			t.Errorf("%s, not compressed: %+v, %v", c.title, sum, err)
		}
	}
}

// An import rests while requests are answered: when it reads the file, and when it checks the
// records.
func TestImportRests(t *testing.T) {
	const batches = 10 // so that each step takes several milliseconds
	var file strings.Builder
	for i := range batches * batchSize {
		fmt.Fprintf(&file, `{"name":"urn:dns:example.org:%d","locations":[{"url":"https://a.example/%d"}]}`+"\n", i, i)
	}
	p := pacer.New()
	ctx := pacer.With(t.Context(), p)
	b := newBench(t)
	load, err := b.reg.NewLoad(registrar.Operator(), "")
	if err != nil {
		t.Fatal(err)
	}
	in, err := newReader(strings.NewReader(file.String()), JSONLines, 0, Sheet{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	i := &importer{load: load}
	read := make(chan *batch, batches+1)
	all := func() (reqs []registrar.Request) {
		for len(reqs) < batches*batchSize {
			reqs = append(reqs, (<-read).reqs...)
		}
		return reqs
	}
	var checked *registrar.Batch
	for _, tt := range []struct {
		what string
		do   func() error
	}{
		{"reading", func() error { i.read(ctx, in, make(chan *batch, batches+1), read); return nil }},
		{"checking", func() (err error) { checked, err = load.Check(ctx, all()); return err }},
		{"planning", func() error { _, err := load.Preview(ctx, checked); return err }},
	} {
		before := p.Rested()
		p.Request()
		if err := tt.do(); err != nil {
			t.Fatalf("%s: %v", tt.what, err)
		}
		if p.Rested()-before < time.Millisecond {
			t.Errorf("%s: did not rest", tt.what)
		}
	}
}
