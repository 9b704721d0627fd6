package bulktest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// bring imports a file and returns the names in the store. No record may be rejected.
func bring(t *testing.T, r io.Reader) (bulk.Summary, []name.Name) {
	t.Helper()
	s := memstore.New()
	reg := registrar.New(s, registrar.Options{})
	sum, err := bulk.Import(t.Context(), reg, registrar.Operator(), r, bulk.ImportOptions{Refused: func(r bulk.Refusal) { t.Error(r) }})
	if err != nil {
		t.Fatal(err)
	}
	var names []name.Name
	for rec, err := range s.List(t.Context(), store.Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, rec.Name)
	}
	return sum, names
}

// TestReader checks that, in any order, a Reader makes the requested number of different names, and
// that all are valid and covered by the authorities.
func TestReader(t *testing.T) {
	for _, o := range []Options{{}, {Shuffled: true}, {Rich: true}} {
		for _, n := range []int64{1, 19, 20, 21, 5000} {
			sum, names := bring(t, NewReader(uint64(n), o))
			if sum.Created != n || len(names) != int(n) {
				t.Errorf("%+v, %d: %+v", o, n, sum)
			}
			under := map[string]int{}
			for _, nm := range names {
				for _, a := range Authorities() {
					if a.Prefix.Covers(nm) {
						under[a.Prefix.String()]++
					}
				}
			}
			if n == 5000 && fmt.Sprint(under) != fmt.Sprint(map[string]int{
				"urn:dns:amd64.sid.contents.example.org": 2000, "urn:dns:arm64.sid.contents.example.org": 1000, "urn:nbn:fi:library": 1000, "ark:99999": 500, "urn:uuid": 500,
			}) {
				t.Errorf("%+v: under the authorities: %v", o, under)
			}
		}
	}
}

// TestReaderIsWriter checks that a file has the same bytes whether it is read in pieces of any size
// or written.
func TestReaderIsWriter(t *testing.T) {
	var written bytes.Buffer
	n, err := NewReader(3000, Options{Rich: true}).WriteTo(&written)
	if err != nil || n != int64(written.Len()) {
		t.Fatal(n, err)
	}
	for _, r := range []io.Reader{NewReader(3000, Options{Rich: true}), iotest.OneByteReader(NewReader(3000, Options{Rich: true}))} {
		read, err := io.ReadAll(struct{ io.Reader }{r})
		if err != nil || !bytes.Equal(read, written.Bytes()) {
			t.Errorf("%d bytes read, %d written, %v", len(read), written.Len(), err)
		}
	}
}

func TestWriteContents(t *testing.T) {
	const list = "bin/[\tadmin/coreutils\nusr/share/a b/ü%41\tdoc/one,contrib/doc/two+\nusr/share/urn+a\tdoc/g++\n"
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(list)), nil }
	var out bytes.Buffer
	if err := WriteContents(&out, 8, 2, open); err != nil {
		t.Fatal(err)
	}
	const second = `{"name":"urn:dns:amd64.bookworm.contents.example.org:usr/share/a%20b/%C3%BC%2541","locations":[{"url":"https://packages.example.org/one"},{"url":"https://packages.example.org/two%2B"}]}`
	lines := strings.Split(out.String(), "\n")
	if lines[1] != second || !strings.Contains(lines[6], `"urn:dns:amd64.bookworm.contents.example.org:bin/%5B.1"`) {
		t.Errorf("got %s", &out)
	}
	if sum, names := bring(t, &out); sum.Created != 8 || len(names) != 8 {
		t.Errorf("%+v", sum)
	}
	for _, bad := range []string{"", "no tab\n"} {
		err := WriteContents(io.Discard, 1, 1, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(bad)), nil })
		if err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
