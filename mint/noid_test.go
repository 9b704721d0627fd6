package mint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomen-project/nomen/name"
)

// noidShared are 1,000,000 strings that a minter of N2T made, one a line, after its first 2,191,
// followed by three lines that are not strings.
const noidShared = "../../shared/data/migrate/ezid-perl_77913_r7_1000000_spings.csv.xz"

// noidStrings returns the strings of the file, or a part of them if the file does not exist.
func noidStrings(t *testing.T) (in io.Reader, count int) {
	t.Helper()
	if _, err := os.Stat(noidShared); err == nil {
		xz := exec.Command("xz", "-dc", noidShared)
		out, err := xz.StdoutPipe()
		if err == nil {
			err = xz.Start()
		}
		if err == nil {
			t.Cleanup(func() { _, _ = io.Copy(io.Discard, out); _ = xz.Wait() })
			return out, 1_000_000
		}
	}
	f, err := os.Open("testdata/noid_77913_r7.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, 8000
}

// TestNoidOrder compares names with those that a NOID minter made, in order. The mask grows after
// the first 6,219 of them.
func TestNoidOrder(t *testing.T) {
	in, count := noidStrings(t)
	r := start(t, "ark:77913", "r7{noid:eedk:add3:2191}")
	lines := bufio.NewScanner(in)
	for i := range count {
		n, err := r.candidate()
		if err != nil || !lines.Scan() {
			t.Fatalf("string %d: %v, %v", i, err, lines.Err())
		}
		if got, want := n.Key(), "ark:77913/r7"+lines.Text(); got != want {
			t.Fatalf("string %d: got %s, want %s", i, got, want)
		}
	}
}

// The masks are those of the documentation of NOID, which gives the first strings of sequential
// minters.
func TestNoidMasks(t *testing.T) {
	for _, tt := range []struct {
		prefix, text string
		skip         int
		want         []string
	}{
		{"ark:13030", "{noid:sd}", 0, []string{"ark:13030/0", "ark:13030/1", "ark:13030/2"}},
		{"ark:13030", "{noid:sddd}", 0, []string{"ark:13030/000", "ark:13030/001"}},
		{"ark:13030", "bc{noid:sdddd}", 9998, []string{"ark:13030/bc9998", "ark:13030/bc9999", "exhausted"}},
		{"ark:13030", "8rf{noid:sdd}", 98, []string{"ark:13030/8rf98", "ark:13030/8rf99", "exhausted"}},
		{"ark:13030", "{noid:se}", 28, []string{"ark:13030/z", "exhausted"}},
		{"ark:13030", "h9{noid:sdd:97}", 2, []string{"ark:13030/h999", "exhausted"}},
		{"ark:13030", "{noid:zd}", 9, []string{"ark:13030/9", "ark:13030/10", "ark:13030/11"}},
		{"ark:13030", "6n{noid:zede}", 8409, []string{"ark:13030/6nz9z", "ark:13030/6n1000"}},
		{"ark:13030", "xf93gt{noid:sdk}", 1, []string{"ark:13030/xf93gt18", "ark:13030/xf93gt2q"}},
		{"ark:13030", "{noid:sd:add1}", 9, []string{"ark:13030/9", "ark:13030/00"}},
		{"ark:13030", "{noid:sd:add1:10}", 0, []string{"ark:13030/00"}},
		{"urn:example", "{year}-{noid:sd}", 0, []string{"urn:example:2026-0"}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			r := start(t, tt.prefix, tt.text)
			if !r.noid.advance(uint64(tt.skip)) {
				t.Fatalf("no %d strings", tt.skip)
			}
			for _, want := range tt.want {
				got, err := take(r, 1)
				if err == nil && got[0] != want || err != nil && (want != "exhausted" || !errors.As(err, new(*ExhaustedError))) {
					t.Errorf("got %q, %v, want %s", got, err, want)
				}
			}
		})
	}
}

func TestNoidRefuses(t *testing.T) {
	for _, tt := range []struct {
		text   string
		offset int
		rule   string
	}{
		{"{noid}", 5, "mask"},
		{"{noid:}", 6, "mask"},
		{"{noid:r}", 7, "mask"},
		{"{noid:rk}", 7, "mask"},
		{"{noid:rede}{noid:rede}", 11, "noid"},
		{"{noid:rexd}", 7, "mask"},
		{"{noid:ek}x", 0, "check"},
		{"{noid:eeeeeeeeeeee}", 6, "mask"},
		{"{noid:e:add2}", 11, "add"},
		{"{noid:e:add0}", 11, "add"},
		{"{noid:e:many}", 8, "noid"},
		{"{noid:e:30}", 0, "noid"},
		{"{noid:e}{random:2}", 8, "noid"},
		{"{noid:e}{check:luhn}", 8, "noid"},
	} {
		_, err := Parse(name.MustParsePrefix("ark:12345"), tt.text)
		var bad *Error
		if !errors.As(err, &bad) || bad.Offset != tt.offset || bad.Rule != tt.rule {
			t.Errorf("%s: got %v, want offset %d, rule %s", tt.text, err, tt.offset, tt.rule)
		}
	}
}

// TestNoidAll checks that a minter makes every string of its mask once, whatever the mask.
func TestNoidAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mask := rapid.StringOfN(rapid.SampledFrom([]rune("ed")), 1, 3, -1).Draw(t, "mask")
		kind := rapid.SampledFrom([]string{"r", "s", ""}).Draw(t, "kind")
		r := start(t, "ark:12345", "{noid:"+kind+mask+"}")
		total := int(noidTotal(mask))
		keys, err := take(r, -1)
		if !errors.As(err, new(*ExhaustedError)) || len(keys) != total {
			t.Fatalf("got %d names, %v, want %d", len(keys), err, total)
		}
		slices.Sort(keys)
		if n := len(slices.Compact(keys)); n != total {
			t.Fatalf("%d different names, want %d", n, total)
		}
	})
}

// TestNoidSeek checks that a run continues where the names end, wherever that is, with few lists,
// although names that other people chose are among them.
func TestNoidSeek(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"{noid:reedk}", "x{noid:dd:add2}", "{noid:sedk}", "x{noid:zd}", "{noid:eed:add1:8000}"}).Draw(t, "template")
		made := rapid.IntRange(0, 800).Draw(t, "made")
		r := start(t, "ark:12345", text)
		var there []string
		var err error
		if made > 0 {
			there, err = take(r, made)
		}
		if err != nil && !errors.As(err, new(*ExhaustedError)) {
			t.Fatal(err)
		}
		want, wantErr := take(r, 1)
		there = append(there, "ark:12345/other", "ark:12345/x")
		slices.Sort(there)
		again := start(t, "ark:12345", text)
		lists := 0
		if err := again.Seek(func(prefix string) iter.Seq2[name.Name, error] {
			lists++
			return listOf(there, prefix)
		}); err != nil {
			t.Fatal(err)
		}
		if most := noidWindow * 24; lists > most {
			t.Errorf("%d lists, want at most %d", lists, most)
		}
		got, err := take(again, 1)
		if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("got %q, %v, want %q, %v", got, err, want, wantErr)
		}
	})
}

func TestNoidSeekFails(t *testing.T) {
	broken := errors.New("broken")
	for fail := range 12 {
		lists := 0
		err := start(t, "ark:12345", "{noid:sddd}").Seek(func(prefix string) iter.Seq2[name.Name, error] {
			return func(yield func(name.Name, error) bool) {
				if lists++; lists > fail {
					yield(name.Name{}, broken)
					return
				}
				yield(name.MustParse(prefix), nil)
			}
		})
		if !errors.Is(err, broken) {
			t.Errorf("after %d lists: %v", fail, err)
		}
	}
}

// TestCounters compares the counters with those of a minter of N2T after 2,191 strings, of which the
// file has the first 30.
func TestCounters(t *testing.T) {
	c, ok := mustParse("ark:77913", "r7{noid:reedk:2191}").Counters()
	want := []uint64{9, 7}
	if !ok || len(c.Values) != 290 || len(c.Active) != 290 || !slices.Equal(c.Values[:2], want) || c.Values[10] != 8 {
		t.Errorf("got %v, %t", c, ok)
	}
	if c, ok := mustParse("ark:77913", "r7{noid:sd:5}").Counters(); ok {
		t.Errorf("a sequential minter has counters %v", c)
	}
}

func BenchmarkNoid(b *testing.B) {
	m := noidPart{mask: "eedeed", kind: 'r'}.start()
	for b.Loop() {
		if _, ok := m.step(); !ok {
			b.Fatal("no strings are left")
		}
	}
}
