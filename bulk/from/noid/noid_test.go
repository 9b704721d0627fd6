package noid

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/store"
)

// The files in testdata were made by the tools of Berkeley DB 5.3: db5.3_load made the databases, with
// pages of 512 bytes, and db5.3_dump -p made minter.txt from minter.bdb.

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// input returns the input of a file.
func input(b []byte) *from.Input {
	return &from.Input{Reader: bytes.NewReader(b), At: bytes.NewReader(b), Size: int64(len(b)), File: "noid.bdb", Path: "noid.bdb"}
}

// pairsOf returns the pairs of a file as text, without their numbers.
func pairsOf(b []byte) (all []string, err error) {
	err = pairs(input(b), func(p pair) error {
		all = append(all, fmt.Sprintf("%q: %q %s", p.key, p.value, p.lost))
		return nil
	})
	return all, err
}

// TestPairs compares the pairs of a database with those in the dump of Berkeley DB.
func TestPairs(t *testing.T) {
	got, err := pairsOf(readFile(t, "testdata/minter.bdb"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := pairsOf(readFile(t, "testdata/minter.txt"))
	if err != nil || !slices.Equal(got, want) || len(want) != 619 {
		t.Errorf("%d pairs, %v, want %d", len(got), err, len(want))
	}
	long := slices.ContainsFunc(got, func(s string) bool { return len(s) > 5000 && strings.Contains(s, `text. \\ends in a backslash é`) })
	if !long {
		t.Error("the long value is missing")
	}
}

const shared = "../../../../shared/data/migrate/"

// TestSharedMinters compares the pairs of real databases with their twins: JSON, and the output of
// db5.3_dump.
func TestSharedMinters(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Log("no shared data:", err)
		return
	}
	var twin map[string]string
	if err := json.Unmarshal(readFile(t, shared+"ezid-77913_r7.json"), &twin); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := pairs(input(readFile(t, shared+"ezid-77913_r7.bdb")), func(p pair) error {
		n++
		if want, ok := twin[strings.TrimPrefix(string(p.key), ":/")]; !ok || want != string(p.value) || p.lost != "" {
			t.Errorf("%q: got %q, want %q", p.key, p.value, want)
		}
		return nil
	})
	if err != nil || n != len(twin) {
		t.Errorf("%d pairs, %v, want %d", n, err, len(twin))
	}
	for _, file := range []string{"ezid-77913_r7.bdb", "ezid-77913_r7_last_before_template_extend.bdb"} {
		text, err := exec.Command("db5.3_dump", "-p", shared+file).Output()
		if errors.Is(err, exec.ErrNotFound) {
			t.Log("no db5.3_dump")
			return
		}
		got, failed := pairsOf(readFile(t, shared+file))
		want, broken := pairsOf(text)
		if err != nil || failed != nil || broken != nil || !slices.Equal(got, want) || len(want) != 613 {
			t.Errorf("%s: %d pairs, want %d; %v", file, len(got), len(want), errors.Join(err, failed, broken))
		}
	}
}

// result is what a conversion gives.
type result struct {
	records   []string
	templates []string
	report    from.Report
}

func convertAll(t *testing.T, b []byte, base string) (result, error) {
	t.Helper()
	var lines bytes.Buffer
	out := from.NewOutput("noid.bdb", &lines)
	in := input(b)
	in.Base = base
	err := convert(t.Context(), in, out)
	r := result{report: out.Report()}
	for line := range strings.Lines(lines.String()) {
		if line != "\n" {
			r.records = append(r.records, strings.TrimSuffix(line, "\n"))
		}
	}
	for _, change := range out.Authorities() {
		a := &store.Authority{Prefix: change.Prefix, Policy: store.Policy{Mint: []string{"xf{seq}", "other{seq}"}}}
		change.Change(a)
		r.templates = append(append(r.templates, change.Prefix.String()), a.Mint...)
	}
	return r, err
}

// TestConvert compares records with what was bound in the database, and the template with its
// counters.
func TestConvert(t *testing.T) {
	for _, file := range []string{"testdata/minter.bdb", "testdata/minter.txt"} {
		r, err := convertAll(t, readFile(t, file), "")
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			`{"name":"ark:13030/xf133","status":"reserved","locations":[{"url":"https://example.org/objects/2"}]}`,
			`{"name":"ark:13030/xf400","status":"reserved"}`,
			`{"name":"ark:13030/xf509","status":"active","locations":[{"url":"https://example.org/objects/1"}],"metadata":{"creator":["Proust, Marcel"],"date":["1922"],"title":["Remembrance of Things Past"]}}`,
			`{"name":"ark:13030/xf78p","status":"reserved"}`,
			`{"name":"ark:13030/xfc5w","status":"reserved"}`,
			`{"name":"ark:13030/xfh23","status":"reserved"}`,
			`{"name":"ark:13030/xfn0n","status":"active","locations":[{"url":"https://mirror.example.org/5"},{"url":"https://example.org/5","priority":2}]}`,
			`{"name":"ark:13030/xfr70","status":"reserved","metadata":{"description":["` + strings.Repeat("A long text. ", 400) + `\\ends in a backslash é"]}}`,
			`{"name":"ark:13030/xfw5j","status":"reserved"}`,
		}
		if !slices.Equal(r.records, want) {
			t.Errorf("%s: got %s\nwant %s", file, strings.Join(r.records, "\n"), strings.Join(want, "\n"))
		}
		if want := []string{"ark:13030", "other{seq}", "xf{noid:redk:9}"}; !slices.Equal(r.templates, want) {
			t.Errorf("%s: got templates %q, want %q", file, r.templates, want)
		}
		var refused []string
		for _, l := range r.report.Refused {
			if !strings.Contains(l.Text, ":/c") {
				refused = append(refused, l.Text)
			}
		}
		lost := []string{"13030/xfw5j\t_t", "13030/xfw5j\tmyGoto", ":/erc", ":/idmap/_t\t^13030/zz", ":/longterm", ":/naa", ":/subnaa", ":/version"}
		if !slices.Equal(refused, lost) {
			t.Errorf("%s: got refusals %q, want %q", file, refused, lost)
		}
		if n := int64(len(r.report.Refused)); r.report.Directives != 619 || r.report.Handled+n != 619 || n != 9+int64(len(lost)) {
			t.Errorf("%s: got %d entries, %d handled, %d refused", file, r.report.Directives, r.report.Handled, n)
		}
	}
}

// TestBase checks what --base puts before identifiers.
func TestBase(t *testing.T) {
	r, err := convertAll(t, readFile(t, "testdata/minter.txt"), "hdl:")
	if err != nil || !strings.HasPrefix(r.records[0], `{"name":"hdl:13030/xf133"`) || r.templates[0] != "hdl:13030" {
		t.Errorf("got %q, %q, %v", r.records[0], r.templates, err)
	}
}

// dumpOf returns a dump of the pairs.
func dumpOf(pairs ...string) []byte {
	return []byte("VERSION=3\nformat=print\ntype=btree\nHEADER=END\n " + strings.Join(pairs, "\n ") + "\nDATA=END\n")
}

// TestMinters checks which minters can be continued, and that the others are reported.
func TestMinters(t *testing.T) {
	sequential := []string{":/generator_type", "sequential", ":/mask", "sdd", ":/naan", "13030", ":/oacounter", "5", ":/template", "b.sdd"}
	with := func(pairs ...string) []string { return append(slices.Clone(sequential), pairs...) }
	for _, tt := range []struct {
		name, base string
		pairs      []string
		want       string // the template, or a part of the reason
	}{
		{"sequential", "", sequential, "b{noid:sdd:5}"},
		{"sequential of Nog", "", []string{":/mask", "dd", ":/oacounter", "5", ":/template", "13030/b{dd}", ":/type", "seq"}, "b{noid:sdd:5}"},
		{"growing", "", with(":/atlast", "add2"), "b{noid:sdd:add2:5}"},
		{"without NAAN", "ark:99999/", []string{":/mask", "zd", ":/oacounter", "0", ":/template", ".zd"}, "{noid:zd:0}"},
		{"no NAAN at all", "", []string{":/mask", "zd", ":/oacounter", "0", ":/template", ".zd"}, "the base must have it"},
		{"wrapping", "", with(":/atlast", "wrap"), "same identifiers again"},
		{"wrapping Noid", "", with(":/wrap", "1"), `wrap="1"`},
		{"with a germ", "", with(":/germ", "7"), `germ="7"`},
		{"counters of something else", "", []string{":/mask", "redk", ":/naan", "1", ":/oacounter", "1", ":/template", "b.redk"}, "counters"},
		{"too far", "", []string{":/mask", "sd", ":/naan", "1", ":/oacounter", "11", ":/template", "b.sd"}, "only 10"},
		{"no counter", "", []string{":/mask", "sd", ":/naan", "1", ":/template", "b.sd"}, "oacounter"},
		{"unknown type", "", []string{":/mask", "dd", ":/oacounter", "5", ":/template", "1/b{dd}", ":/type", "odd"}, "odd"},
		{"unknown setting", "", with(":/wonder", "1"), "not a known setting"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := convertAll(t, dumpOf(tt.pairs...), tt.base)
			if err != nil {
				t.Fatal(err)
			}
			refused := fmt.Sprint(r.report.Refused)
			if !slices.Contains(r.templates, tt.want) && !strings.Contains(refused, tt.want) {
				t.Errorf("got %q, %s, want %s", r.templates, refused, tt.want)
			}
		})
	}
}

// TestOddPairs checks that nothing is left out without a report.
func TestOddPairs(t *testing.T) {
	long := strings.Repeat("x", maxValue+1)
	r, err := convertAll(t, dumpOf("nokey", "v", "1/a\t:/p", "pepper", "1/a\tx", long, "1/b\ttitle", strings.Repeat("y", maxRecord), "1/b\twho", "w",
		":/a", strings.Repeat("z", maxSetting+1), ":/mask", "a", ":/mask", "b", strings.Repeat("k", 3*maxValue+9), "v"), "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range r.report.Refused {
		got = append(got, l.Reason)
	}
	for i, want := range []string{"not a key of NOID", "for NOID itself", "longer than 1 MiB", "longer than 1 MiB", "too long", "repeated", "of the key: it is longer", "cannot be continued"} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Errorf("refusal %d: got %q, want %q", i, got, want)
		}
	}
	if int64(len(got))+r.report.Handled != r.report.Directives || r.report.Directives != 9 {
		t.Errorf("got %d entries, %d handled, %d refused", r.report.Directives, r.report.Handled, len(got))
	}
}

// TestUnreadable checks the errors of files that are not databases of NOID.
func TestUnreadable(t *testing.T) {
	good := readFile(t, "testdata/minter.bdb")
	patch := func(at int, v byte) []byte {
		b := slices.Clone(good)
		b[at] = v
		return b
	}
	old := slices.Clone(good)
	binary.BigEndian.PutUint32(old, magicBtree)
	for _, tt := range []struct {
		name, want string
		file       []byte
	}{
		{"empty", "not a Berkeley DB file", nil},
		{"text", "not a Berkeley DB file", []byte(strings.Repeat("noid ", 100))},
		{"hash", "of type hash is not supported", readFile(t, "testdata/hash.bdb")},
		{"version 1", "version 1 is not supported", old},
		{"encrypted", "an encrypted database is not supported", patch(offEncryption, 1)},
		{"several databases", "several databases is not supported", patch(offFlags, flagDatabases)},
		{"compressed", "a compressed database is not supported", patch(offFlags, flagPacked)},
		{"recno", "type recno is not supported", patch(offFlags, 2)},
		{"partitioned", "a partitioned database is not supported", patch(offMetaFlags, 2)},
		{"page size", "invalid page size 512", patch(offPageSize, 1)},
		{"cut off", "not copied completely", good[:len(good)-512]},
		{"root", "page does not exist", patch(offRoot+3, 1)},
		{"dump of a hash", `a dump of a database of type "hash" is not supported`, []byte("VERSION=3\ntype=hash\nHEADER=END\nDATA=END\n")},
		{"dump of another format", `line 2: invalid format "x"`, []byte("VERSION=3\nformat=x\n")},
		{"dump without an end", "line 4: the dump ends without DATA=END", []byte("VERSION=3\nHEADER=END\n 61\n")},
		{"dump without a header", "line 100: the header has no end", []byte("VERSION=3\n" + strings.Repeat("a=b\n", 200))},
		{"dump with a key only", "line 4: the last key has no value", []byte("VERSION=3\nHEADER=END\n 61\nDATA=END\n")},
		{"dump with a wrong escape", "line 4: invalid escape", []byte("VERSION=3\nformat=print\nHEADER=END\n a\\zz\n")},
		{"dump with half a byte", "line 3: invalid escape", []byte("VERSION=3\nHEADER=END\n 6\n")},
		{"dump with another line", `line 3: unexpected "x"`, []byte("VERSION=3\nHEADER=END\nx\n")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "page size" {
				tt.want = "invalid page size 513"
				tt.file[offPageSize+1] = 2
			}
			_, err := pairsOf(tt.file)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	stream := input(good)
	stream.At = nil
	if err := pairs(stream, nil); err == nil || !strings.Contains(err.Error(), "standard input") {
		t.Errorf("stream: got %v", err)
	}
}

// TestBytevalue reads a dump with hexadecimal digits.
func TestBytevalue(t *testing.T) {
	got, err := pairsOf([]byte("VERSION=3\nformat=bytevalue\ntype=btree\nHEADER=END\n 3a2f61\n c3A9\nDATA=END"))
	if want := []string{`":/a": "é" `}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// FuzzPairs checks that no file makes the reader fail in another way than by an error, or read more
// than a multiple of its size. The seeds are small, because the fuzzer spends a minute on minimizing each
// interesting input as large as minter.bdb: long.bdb has a value with pages of its own, levels.bdb has
// two levels and checksums.
func FuzzPairs(f *testing.F) {
	for _, file := range []string{"testdata/long.bdb", "testdata/levels.bdb", "testdata/hash.bdb"} {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(dumpOf("1/a\\09_t", "https://example.org/1", ":/mask", "sdd"))
	f.Fuzz(func(t *testing.T, b []byte) {
		total := 0
		_ = pairs(input(b), func(p pair) error { // the error is about the file
			total += len(p.key) + len(p.value)
			return nil
		})
		if most := (maxShared+2)*len(b) + 1000; total > most {
			t.Errorf("%d bytes of pairs from a file of %d", total, len(b))
		}
	})
}
