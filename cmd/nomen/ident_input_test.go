package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// A cutLine is what a lineSplitter says of a line.
type cutLine struct {
	text    string
	tooLong bool
}

// splitInto feeds a text in pieces of n bytes.
func splitInto(text string, n, limit int) (lines []cutLine) {
	l := lineSplitter{limit: limit}
	add := func(s string, tooLong bool) { lines = append(lines, cutLine{s, tooLong}) }
	for piece := range slices.Chunk([]byte(text), n) {
		l.split(string(piece), add)
	}
	l.end(add)
	return lines
}

func TestLines(t *testing.T) {
	const limit = 4
	good := func(lines ...string) (all []cutLine) {
		for _, s := range lines {
			all = append(all, cutLine{s, false})
		}
		return all
	}
	for _, tt := range []struct {
		text string
		want []cutLine
	}{
		{"", nil},
		{"\n", good("")},
		{"a", good("a")},
		{"a\n", good("a")},
		{"a\nb", good("a", "b")},
		{"a\n\nb\n", good("a", "", "b")},
		{"a\r\nb\r\n", good("a", "b")},
		{"\r\n", good("")},
		{"a\rb\r\r\n", good("a\rb\r")},
		{"abcd\nabcd\r\nabcd", good("abcd", "abcd", "abcd")},
		{"abcde\nf\n", []cutLine{{"abcde", true}, {"f", false}}},
		{"abcdefghij\r\nk", []cutLine{{"abcde", true}, {"k", false}}},
		{"abcdef", []cutLine{{"abcde", true}}},
	} {
		for n := 1; n <= len(tt.text)+1; n++ {
			got := splitInto(tt.text, n, limit)
			if diff := cmp.Diff(got, tt.want, cmp.AllowUnexported(cutLine{})); diff != "" {
				t.Errorf("%q in pieces of %d: -got +want\n%s", tt.text, n, diff)
			}
		}
	}
}

// FuzzLines compares the lines with those of a simple reader.
func FuzzLines(f *testing.F) {
	f.Add("a\r\nbcdefgh\n\n\rx", uint8(3))
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		const limit = 5
		var want []cutLine
		for s := range strings.Lines(text) {
			s = strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
			want = append(want, cutLine{s[:min(len(s), limit+1)], len(s) > limit})
		}
		got := splitInto(text, max(int(n), 1), limit)
		for i := range got { // the CR of a line that was cut may be gone
			if got[i].tooLong && i < len(want) {
				want[i].text = strings.TrimSuffix(want[i].text, "\r")
			}
		}
		if diff := cmp.Diff(got, want, cmp.AllowUnexported(cutLine{})); diff != "" {
			t.Errorf("%q in pieces of %d: -got +want\n%s", text, n, diff)
		}
	})
}

// command runs a command line.
func command(ctx context.Context, in io.Reader, args ...string) (status int, out, log string) {
	var o, e bytes.Buffer
	status = run(ctx, args, streams{in, &o, &e})
	return status, o.String(), e.String()
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("a", maxLine+1)
	status, out, log := command(t.Context(), strings.NewReader(long+"\nB:\n"+long[1:]+"\n"), "normalize", "-")
	if status != exitNo || out != "\nb:\n"+long[1:]+"\n" || log != "nomen: line 1: longer than 16777216 bytes\n" {
		t.Errorf("normalize: status %d, %d bytes, log %q", status, len(out), log)
	}
	pair := long + "\t" + long
	status, out, _ = command(t.Context(), strings.NewReader(pair+"\n"+long+"\tb\na:\tA:"), "compare", "--json", "-")
	lines := strings.Split(out, "\n")
	want := `{"input":"` + strings.Repeat("a", maxEcho) + `...","error":{"code":"too-long","message":"longer than 33554433 bytes"}}`
	if status != exitNo || len(lines) != 4 || lines[0] != want {
		t.Fatalf("compare: status %d, %d lines, first %.300q", status, len(lines), lines[0])
	}
	if !strings.Contains(lines[1], `"code":"malformed","offset":16777216`) || !strings.HasSuffix(lines[2], `"level":"case"}`) {
		t.Errorf("compare: ...%q, %q", lines[1][len(lines[1])-200:], lines[2])
	}
}

// TestAnswersDoNotWait asks line by line, and gets each answer before the next
// question.
func TestAnswersDoNotWait(t *testing.T) {
	in, questions := io.Pipe()
	answers, out := io.Pipe()
	status := make(chan int)
	go func() {
		status <- run(t.Context(), []string{"normalize", "-"}, streams{in, out, io.Discard})
		out.Close()
	}()
	r := bufio.NewReader(answers)
	for _, tt := range []struct{ ask, want string }{{"A:\n", "a:\n"}, {"B:\nC:\n", "b:\n"}, {"", "c:\n"}, {"x y\n", "\n"}} {
		if _, err := io.WriteString(questions, tt.ask); err != nil {
			t.Fatal(err)
		}
		if got, err := r.ReadString('\n'); got != tt.want || err != nil {
			t.Fatalf("%q: got %q, %v, want %q", tt.ask, got, err, tt.want)
		}
	}
	questions.Close()
	if got := <-status; got != exitNo {
		t.Errorf("status %d, want %d", got, exitNo)
	}
}

// TestInterrupt interrupts a command that waits for input.
func TestInterrupt(t *testing.T) {
	in, questions := io.Pipe()
	defer questions.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, _, _ := command(ctx, in, "normalize", "-"); got != exitFailure {
		t.Errorf("status %d, want %d", got, exitFailure)
	}
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestBrokenStreams(t *testing.T) {
	in := io.MultiReader(strings.NewReader("A:\nB"), iotest.ErrReader(errBroken))
	status, out, log := command(t.Context(), in, "normalize", "-")
	if status != exitFailure || out != "a:\n" || log != "nomen: standard input: broken\n" {
		t.Errorf("input: status %d, out %q, log %q", status, out, log)
	}
	for _, args := range [][]string{{"normalize", "A:"}, {"normalize", "-"}, {"parse", "--json", "-"}} {
		status = run(t.Context(), args, streams{strings.NewReader(strings.Repeat("a b\n", flushSize)), brokenWriter{}, io.Discard})
		if status != exitFailure {
			t.Errorf("output of %q: status %d, want %d", args, status, exitFailure)
		}
	}
}

// TestOneByteAtATime checks that the output is the same if the input arrives byte by byte.
func TestOneByteAtATime(t *testing.T) {
	const text = "HTTP://A/\r\nx y\n\nURN:EX:a#b"
	_, want, wantLog := command(t.Context(), strings.NewReader(text), "normalize", "-")
	_, got, log := command(t.Context(), iotest.OneByteReader(strings.NewReader(text)), "normalize", "-")
	if got != want || log != wantLog || strings.Count(got, "\n") != 4 {
		t.Errorf("got %q and %q, want %q and %q", got, log, want, wantLog)
	}
}

// TestRealLines normalizes URLs from real documents. Each has one line of output, and normalizing
// the output changes nothing.
func TestRealLines(t *testing.T) {
	urls := urlLines(t)
	_, once, _ := command(t.Context(), bytes.NewReader(urls), "normalize", "-")
	if got, want := strings.Count(once, "\n"), bytes.Count(urls, []byte("\n")); got != want {
		t.Errorf("%d answers to %d lines", got, want)
	}
	status, twice, log := command(t.Context(), strings.NewReader(once), "normalize", "-")
	if status != exitYes || twice != once {
		t.Errorf("the second time: status %d, log %q", status, log)
	}
}

// TestNormalizeAllocations checks that normalizing a line that is already in normal form allocates
// nothing.
func TestNormalizeAllocations(t *testing.T) {
	n := &normalizer{&dialects{uri: uri.Latest, urn: urn.Latest}, uri.LevelScheme}
	a := newAnswers(&cli{streams: streams{nil, io.Discard, io.Discard}})
	for _, s := range []string{"https://example.org/a/b?q", "urn:ietf:rfc:2648", "../a"} {
		if got := testing.AllocsPerRun(100, func() { n.answer(a, s); a.buf = a.buf[:0] }); got != 0 {
			t.Errorf("normalize %s: %v allocations, want none", s, got)
		}
	}
}

// FuzzIdentifierCommands gives commands arbitrary input: every line has one
// answer, which is JSON.
func FuzzIdentifierCommands(f *testing.F) {
	f.Add("http://[::1]/%7e/../?q#f\r\nurn:ex:a?+r\ta:\n<urn:dns:a.b: c>\n\x00\xff\t\t", uint8(0))
	f.Add("urn:isbn:0-395-36341-2?s=I2L&s=\turn:isbn:0395363411?c=1#\nurn:nbn:de:101:1-2\n10.1000/1\nisbn", uint8(6))
	f.Add("http://a/b\t../c\nurn:dns:a.b:c\turn:dns:A.b:%63", uint8(1))
	commands := [][]string{
		{"parse", "-"},
		{"check", "-"},
		{"normalize", "-"},
		{"compare", "-"},
		{"join", "-"},
		{"relativize", "-"},
		{"join", "http://a/b", "-"},
		{"check", "--rule", "host", "-"},
		{"check", "--rule", "NSS", "-"},
		{"namespaces", "--scheme-ids=false", "-"},
		{"services", "--keywords=false", "-"},
	}
	names := dialectNames()
	f.Fuzz(func(t *testing.T, text string, dialect uint8) {
		want := 0
		for range strings.Lines(text) {
			want++
		}
		for _, args := range commands {
			if !strings.HasPrefix(args[1], "--") {
				args = append([]string{args[0], "--dialect", names[int(dialect)%len(names)]}, args[1:]...)
			}
			status, out, log := command(t.Context(), strings.NewReader(text), append(args, "--json")...)
			if status > exitNo || log != "" {
				t.Fatalf("%q: status %d, log %q", args, status, log)
			}
			got := 0
			for line := range strings.Lines(out) {
				if got++; !json.Valid([]byte(line)) {
					t.Errorf("%q: %q is not JSON", args, line)
				}
			}
			if got != want {
				t.Errorf("%q: %d answers to %d lines", args, got, want)
			}
		}
	})
}
