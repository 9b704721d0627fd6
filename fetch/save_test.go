package fetch

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/uri"
)

// A flaky server gives a file in pieces, until it is told to be whole.
type flaky struct {
	text, tag string
	whole     bool
	asked     []string
}

func (s *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.Header.Get("Range")+" "+r.Header.Get("If-Range"))
	if s.tag != "" {
		w.Header().Set("ETag", s.tag)
	}
	if s.whole {
		http.ServeContent(w, r, "x.bin", longAgo, strings.NewReader(s.text))
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(s.text)))
	_, _ = w.Write([]byte(s.text[:4]))
}

func names(t *testing.T, dir string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

func TestSave(t *testing.T) {
	s := &flaky{text: "0123456789", tag: `"one"`}
	at := uri.MustParse("http://" + serve(t, s.ServeHTTP) + "/x")
	f := newFetcher(t, Options{})
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	var part *PartError
	if _, err := f.Save(t.Context(), at, own, path, SaveOptions{}); !errors.As(err, &part) || !part.Usable || part.Bytes != 4 || part.File != path+PartSuffix {
		t.Fatalf("cut off: %v", err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"x.part", "x.part.json"}) {
		t.Errorf("left behind: %q", got)
	}
	s.whole = true
	var last [2]int64
	saved, err := f.Save(t.Context(), at, own, path, SaveOptions{Continue: true, Progress: func(done, total int64) { last = [2]int64{done, total} }})
	if err != nil || saved.Resumed != 4 || saved.Bytes != 10 || last != [2]int64{10, 10} {
		t.Fatalf("gone on: %+v, %v, progress %v", saved, err, last)
	}
	if got, _ := os.ReadFile(path); string(got) != s.text {
		t.Errorf("got %q", got)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"x"}) {
		t.Errorf("left behind: %q", got)
	}
	if got := s.asked[len(s.asked)-1]; got != `bytes=4- "one"` {
		t.Errorf("asked for %q", got)
	}
	if _, err := f.Save(t.Context(), at, own, path, SaveOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	s.text = "abc"
	if _, err := f.Save(t.Context(), at, own, path, SaveOptions{Replace: true}); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "abc" {
		t.Errorf("replaced: got %q", got)
	}
}

// A part is of use only for the same object, at the same location.
func TestSaveAnew(t *testing.T) {
	for _, tt := range []struct {
		what   string
		change func(s *flaky, path string)
	}{
		{"the object has changed", func(s *flaky, _ string) { s.text, s.tag = "ABCDEFGHIJ", `"two"` }},
		{"the server no longer says", func(s *flaky, _ string) { s.tag = "" }},
		{"no note", func(_ *flaky, path string) { os.Remove(path + NoteSuffix) }},
		{"a note of another time", func(_ *flaky, path string) { os.WriteFile(path+NoteSuffix, []byte(`{"version":9}`), 0o600) }},
		{"a torn note", func(_ *flaky, path string) { os.WriteFile(path+NoteSuffix, []byte(`{"vers`), 0o600) }},
		{"an empty part", func(_ *flaky, path string) { os.Truncate(path+PartSuffix, 0) }},
		{"no part", func(_ *flaky, path string) { os.Remove(path + PartSuffix) }},
	} {
		t.Run(tt.what, func(t *testing.T) {
			s := &flaky{text: "0123456789", tag: `"one"`}
			at := uri.MustParse("http://" + serve(t, s.ServeHTTP) + "/x")
			f := newFetcher(t, Options{})
			path := filepath.Join(t.TempDir(), "x")
			if _, err := f.Save(t.Context(), at, own, path, SaveOptions{}); err == nil {
				t.Fatal("not cut off")
			}
			tt.change(s, path)
			s.whole = true
			saved, err := f.Save(t.Context(), at, own, path, SaveOptions{Continue: true})
			if err != nil || saved.Resumed != 0 {
				t.Fatalf("got %+v, %v", saved, err)
			}
			if got, _ := os.ReadFile(path); string(got) != s.text {
				t.Errorf("got %q, want %q", got, s.text)
			}
		})
	}
	s := &flaky{text: "0123456789"}
	at := uri.MustParse("http://" + serve(t, s.ServeHTTP) + "/x")
	var part *PartError
	if _, err := newFetcher(t, Options{}).Save(t.Context(), at, own, filepath.Join(t.TempDir(), "x"), SaveOptions{}); !errors.As(err, &part) || part.Usable {
		t.Errorf("without a validator: %v", err)
	}
}

// What is not there leaves nothing behind, and no part is lost by it.
func TestSaveNothing(t *testing.T) {
	at := uri.MustParse("http://" + serve(t, site) + "/404")
	f := newFetcher(t, Options{})
	dir := t.TempDir()
	if _, err := f.Save(t.Context(), at, own, filepath.Join(dir, "x"), SaveOptions{}); err == nil || len(names(t, dir)) > 0 {
		t.Errorf("got %v, %q", err, names(t, dir))
	}
	if _, err := f.Save(t.Context(), at, Request{Trusted: true, Offset: 1}, filepath.Join(dir, "x"), SaveOptions{}); err == nil {
		t.Error("a range: no error")
	}
}

func FuzzNote(f *testing.F) {
	f.Add([]byte(`{"version":1,"location":"http://a/","validator":"\"x\"","size":9,"type":"text/plain"}`))
	f.Add([]byte(`{"version":1,"validator":"a\r\nb"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := readNote(text)
		if err == nil && (n.Version != NoteVersion || n.Validator == "" || strings.ContainsAny(n.Validator, "\r\n\x00")) {
			t.Errorf("readNote(%q) = %+v", text, n)
		}
	})
}
