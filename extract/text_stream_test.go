package extract

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/nomen-project/nomen/internal/testrun"
)

// everything selects all kinds of identifiers.
var everything = Options{Abbreviated: true, Mail: true, IRI: true}

// corpus has an example of each rule, so that every window boundary is a hard
// case.
const corpus = `Yes, Jim, I found it under "http://www.w3.org/Addressing/",
but you can probably pick it up from <ftp://ds.internic.
   net/rfc/>.  Note the warning in <URL: http://www.ics.uci.edu/pub/
   ietf/uri/historical.html#WARNING>.  See (https://www.iana.org/assignments/character-
sets), http://en.example/Foo_(bar)_(baz), www.w3.org/x, (www.example.com:80/a?b#c),
mail to jim@example.org or <mailto:jim@example.org?subject=a>, urn:isbn:0-395-36341-1,
<URN:DNS:example.com:a b	c>; doi:10.1000/182.  Not std::string, 10:30, C:\x, a:b.
"http://a.example/one\
   two/three" www.x.example or http://b.example/%4
1 http://[2001:db8::1]:80/x https://u:p@h.example/ http://x.example/{id} http://y.example/&gt;
> http://quoted.example/one-
> two.
> More http://größe.example/ü, http://a/,http://b/ 'http://c/' **http://d/**
{"a":"\nhttp://json.example/\u003chttps://j.example/\u003e","b":"http:\/\u002fu.example\u002f?a\u0026b\ud83d\ude00"} http://p.example:%d/ http://p.example:<port>/
^https://p\.example http://m.example/&#039; http://m.example/&#x26;a http://m.example/&apos; http://rule.example/
_______________________________________________
http://phone.example/
+1-201-555-0123 http://list.example/
list.example.com/a/b http://assign.example/
a_b = c
https://my\-host.example/b\_c\%20d http://e.example/\- (http://f.example/g\#h\-i)
ftp.example.com/README tag:example.com,2005:x data:text/plain;base64,AAAA
   see <https://tools.ietf.org/html/draft-ietf-



Bradner                      Informational                    [Page 3]
` + "\f" + `RFC 9999                         Title                    December 2018


   tsvwg-datagram-plpmtud-14>.
` + "http://too.example/" + `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/http://no.example/
http://last.example/a`

// smallLimit allows small windows.
const smallLimit = 256

// whole returns the findings in a text that is one window.
func whole(text []byte, o Options, limit int) []Finding { return wholeAfter(0, text, o, limit) }

// wholeAfter is like whole, as if count findings came before. The fast path is
// used only after the first finding, and never if count is negative.
func wholeAfter(count int, text []byte, o Options, limit int) []Finding {
	s := newScanner(o, limit)
	s.texts.count = count
	s.b, s.final = text, true
	var list []Finding
	for s.next() {
		if f, ok := s.finding(); ok {
			list = append(list, f)
		}
	}
	return list
}

// streamed returns the findings in windows of the smallest allowed size.
func streamed(t testing.TB, r io.Reader, o Options, limit int) []Finding {
	t.Helper()
	w := newReading(r, o, limit, maxBehind+2*(limit+maxAhead))
	var list []Finding
	w.all(func(f Finding, err error) bool {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
		return true
	})
	return list
}

// TestEverySplit checks that the findings do not depend on where the reader
// splits the text, nor on where windows end.
func TestEverySplit(t *testing.T) {
	text := []byte(corpus)
	want := whole(text, everything, smallLimit)
	if len(want) < 28 {
		t.Fatalf("%d findings in the corpus", len(want))
	}
	check := func(name string, got, want []Finding) {
		t.Helper()
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("%s: finding %d is\n%+v, want\n%+v", name, i, got[i], want[i])
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d findings, want %d", name, len(got), len(want))
		}
	}
	check("by octets", streamed(t, iotest.OneByteReader(bytes.NewReader(text)), everything, smallLimit), want)
	for i := range len(text) + 1 {
		r := io.MultiReader(bytes.NewReader(text[:i]), bytes.NewReader(text[i:]))
		check(fmt.Sprintf("split at %d", i), streamed(t, r, everything, smallLimit), want)
	}
	// With padding of every length, each position comes to lie at the end of a
	// window.
	filling := bytes.Repeat([]byte("lorem ipsum\n"), 1000)
	size := maxBehind + 2*(smallLimit+maxAhead)
	for n := size - len(text) - 64; n < size+64; n += 1 {
		text := slices.Concat(filling[:n], []byte("\n\n"), text)
		check(fmt.Sprintf("after %d octets", n), streamed(t, bytes.NewReader(text), everything, smallLimit), whole(text, everything, smallLimit))
	}
}

func TestReaderError(t *testing.T) {
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader("http://a.example/ and"), iotest.ErrReader(broken))
	var got []string
	for f, err := range Text(r, Options{}) {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, f.Spelling)
	}
	if want := []string{"http://a.example/", "broken"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, err := range Text(silent{}, Options{}) {
		if !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("reader that returns no data: %v, want %v", err, io.ErrNoProgress)
		}
	}
}

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

func TestStop(t *testing.T) {
	text := strings.Repeat("http://a.example/ ", 10)
	for name, seq := range map[string]iter.Seq2[Finding, error]{"Text": Text(strings.NewReader(text), Options{})} {
		n := 0
		for range seq {
			if n++; n == 3 {
				break
			}
		}
		if n != 3 {
			t.Errorf("%s: %d findings, want 3", name, n)
		}
	}
	n := 0
	for range Bytes([]byte(text), Options{}) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("Bytes: %d findings, want 3", n)
	}
}

// An endless reader generates text as it is read.
type generated struct {
	unit []byte
	at   int
	left int64
}

func (g *generated) Read(p []byte) (int, error) {
	if g.left == 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && g.left > 0 {
		k := copy(p[n:min(int64(len(p)), int64(n)+g.left)], g.unit[g.at:])
		g.at = (g.at + k) % len(g.unit)
		g.left -= int64(k)
		n += k
	}
	return n, nil
}

// scale divides the size of tests whose only purpose is a large input.
func scale() int { return testrun.Repeats(1, 8) }

// TestConstantMemory reads a large text; set NOMEN_LONG to read a gigabyte.
func TestConstantMemory(t *testing.T) {
	size := int64(64 << 20)
	if os.Getenv(testrun.Long) != "" {
		size = 1 << 30
	}
	unit := []byte(strings.Repeat("Lorem ipsum: dolor sit amet, consectetur\n", 50) + "see <http://a.example/x-\n  y> and more\n")
	peak, n := uint64(0), int64(0)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	for _, err := range Text(&generated{unit: unit, left: size}, everything) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%4096 == 0 {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	}
	if want := size / int64(len(unit)); n < want {
		t.Errorf("%d findings, want %d", n, want)
	}
	if grown := int64(peak) - int64(before); grown > 16<<20 {
		t.Errorf("%d octets of memory for a text of %d", grown, size)
	}
}

// work returns how many octets decisions examine, one by one, in n octets.
func work(unit string, n int, o Options) int {
	s := newScanner(o, MaxLength)
	s.b, s.final = bytes.Repeat([]byte(unit), n/len(unit)), true
	for s.next() {
		s.finding()
	}
	return s.work
}

// TestLinear reads texts constructed to be hard: ten times the text takes ten
// times the work, and no octet is examined more than a few times.
func TestLinear(t *testing.T) {
	for _, unit := range []string{"<", "://", "(", "a.", "a:", "\""} {
		testLinear(t, unit, 1<<20/scale(), everything)
	}
	for _, unit := range []string{
		"http://a/-\n", "<http://a/ ", ")", "a@", "@", ".", "/", "a", "%", "&", "'", "#", "\n", " ", "-\n", "é", "http://", "http://a/", "<http://a/\n",
		"\"http://a/\n", "(http://a/", "http://a/-\n ", "urn:a:", "mailto:a@", "a@b.", "www.", "http://a/(", "http://a/,http:",
		"http://a/%\n", "http://a/\\\n", "x+http:", "x.http://", "data:,", "a:a/", "http://[", "http://a@", "<URL:", "<URL: ",
		"[Page 1]\n\f\n", "http://a/-\n\n\f", "http://a/b-\n  c", "> http://a/-\n", "a.b.c.de@", "-.", "a-.com ", "http://a/'",
		"'http://a/'", "http://a.éé", "www.a.com/(", "urn:aa:a", "tel:123", "http://a/b,c;", "x:a@b.com",
	} {
		testLinear(t, unit, 1<<15/scale(), everything)
		testLinear(t, unit, 1<<15/scale(), Options{})
		line, size := strings.Repeat(unit, MaxLength*2/3/len(unit))+"\n", 1<<20
		if w := work(line, size, everything); w > 64*size {
			t.Errorf("lines of %q: %d octets examined in %d", unit, w, size)
		}
	}
}

func testLinear(t *testing.T, unit string, size int, o Options) {
	t.Helper()
	small, large := work(unit, size, o), work(unit, 10*size, o)
	if large > 11*small+size+2*maxExcess {
		t.Errorf("%q: %d octets examined in %d, %d in ten times as many", unit, small, size, large)
	}
	if most := 64*10*size + 2*maxExcess; large > most {
		t.Errorf("%q: %d octets examined in %d, want %d at most", unit, large, 10*size, most)
	}
}

// The scanner skips text if decisions about it read too much. Which text it skips does not depend
// on how the text is split, and reading resumes on the next line.
func TestGreedyTextInStream(t *testing.T) {
	doc := strings.Repeat(strings.Repeat("(http://a/", 4000)+" tel:123tel:123\n", 4) + "http://b.example/\n"
	whole, _ := collectText(strings.NewReader(doc))
	if n := len(whole); n == 0 || whole[n-1].Spelling != "http://b.example/" {
		t.Fatalf("%d findings, want the last to be http://b.example/", n)
	}
	for _, size := range []int{1, 4099, 1 << 16} {
		r := strings.NewReader(doc)
		cut, err := collectText(readFunc(func(p []byte) (int, error) { return r.Read(p[:min(size, len(p))]) }))
		if err != nil || !slices.Equal(cut, whole) {
			t.Errorf("reads of %d: %d findings, want %d (%v)", size, len(cut), len(whole), err)
		}
	}
}

func collectText(r io.Reader) (found []Finding, err error) {
	for f, e := range Text(r, everything) {
		if e != nil {
			return found, e
		}
		found = append(found, f)
	}
	return found, nil
}

// U97-04: a text in UTF-16 has the same identifiers, at their offsets in the
// file.
func TestUTF16(t *testing.T) {
	const text = "\ufeffsee <http://a.example/x\n y>, größe \U0001f600 http://b.example/\u2026 (urn:isbn:1)"
	want := spellings(text, Options{})
	if len(want) != 3 {
		t.Fatalf("found %q in UTF-8, want 3", want)
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		var doc []byte
		for _, c := range utf16.Encode([]rune(text)) {
			doc = append(doc, 0, 0)
			order.PutUint16(doc[len(doc)-2:], c)
		}
		for _, r := range []io.Reader{bytes.NewReader(doc), iotest.OneByteReader(bytes.NewReader(doc)), iotest.DataErrReader(bytes.NewReader(doc))} {
			var got []string
			for f, err := range Text(r, Options{}) {
				if err != nil {
					t.Fatal(err)
				}
				if f.Text != string(doc[f.Start:f.End]) || len(f.Text) < 2*len(f.Spelling) {
					t.Errorf("%s: %q at %d to %d is %q", order, f.Spelling, f.Start, f.End, f.Text)
				}
				got = append(got, f.Spelling)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: found %q, want %q", order, got, want)
			}
		}
		broken, last := errors.New("broken"), error(nil)
		for _, err := range Text(io.MultiReader(bytes.NewReader(doc), iotest.ErrReader(broken)), Options{}) {
			last = err
		}
		if !errors.Is(last, broken) {
			t.Errorf("%s: got error %v, want that of the reader", order, last)
		}
	}
	for _, short := range []string{"", "\xff", "\xfe", "\xff\xfe", "\xfe\xff\x00"} {
		for f, err := range Text(strings.NewReader(short), Options{}) {
			t.Errorf("in %q: %v, %v", short, f, err)
		}
	}
}

// RFC 5545, 3.1: a text that is a calendar is unfolded.
func TestFoldedText(t *testing.T) {
	const doc = "BEGIN:VCALENDAR\r\nURL:http://a.exam\r\n ple/b/\r\n\tc\r\nSUMMARY:d.html\r\n  http://b.example/\r\nURL:http://c.example/\r\n"
	want := []string{"http://a.example/b/c", "http://b.example/", "http://c.example/"}
	for _, r := range []io.Reader{strings.NewReader(doc), iotest.OneByteReader(strings.NewReader(doc))} {
		var got []string
		for f, err := range Text(r, Options{}) {
			if err != nil || f.Text != doc[f.Start:f.End] {
				t.Errorf("%q at %d to %d is %q, %v", f.Spelling, f.Start, f.End, f.Text, err)
			}
			got = append(got, f.Spelling)
		}
		if !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	found(t, Options{}, "BEGIN:V http://a.example/", "http://a.example/")
}

// Text that has been read is searched before more is read.
func TestTextDoesNotWait(t *testing.T) {
	more := readFunc(func([]byte) (int, error) {
		t.Error("reads on before the first text is searched")
		return 0, io.EOF
	})
	for f, err := range Text(io.MultiReader(strings.NewReader("http://a.example/ ,\n\n"), more), Options{}) {
		if f.Spelling != "http://a.example/" || err != nil {
			t.Errorf("found %q, %v", f.Spelling, err)
		}
		return
	}
}
