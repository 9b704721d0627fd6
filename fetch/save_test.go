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
	"time"

	"github.com/nomen-project/nomen/internal/flock"
	"github.com/nomen-project/nomen/uri"
)

// A flaky server sends a file in pieces until whole is set.
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
	if _, err := f.Save(t.Context(), at, own, path, SaveOptions{}); !errors.As(err, &part) || !part.Usable || part.Bytes != 4 || part.File != path+partSuffix {
		t.Fatalf("truncated: %v", err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"x.part", "x.part.json"}) {
		t.Errorf("remaining files: %q", got)
	}
	s.whole = true
	var last [2]int64
	saved, err := f.Save(t.Context(), at, own, path, SaveOptions{Continue: true, Progress: func(done, total int64) { last = [2]int64{done, total} }})
	if err != nil || saved.Resumed != 4 || saved.Bytes != 10 || last != [2]int64{10, 10} {
		t.Fatalf("continued: %+v, %v, progress %v", saved, err, last)
	}
	if got, _ := os.ReadFile(path); string(got) != s.text {
		t.Errorf("got %q", got)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"x"}) {
		t.Errorf("remaining files: %q", got)
	}
	if got := s.asked[len(s.asked)-1]; got != `bytes=4- "one"` {
		t.Errorf("asked for %q", got)
	}
	if _, err := f.Save(t.Context(), at, own, path, SaveOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing file: %v", err)
	}
	s.text = "abc"
	if _, err := f.Save(t.Context(), at, own, path, SaveOptions{Replace: true}); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "abc" {
		t.Errorf("replaced: got %q", got)
	}
}

// If a server sends parts whatever If-Range says, the file is not a mixture of two states of a
// resource.
func TestSaveMixture(t *testing.T) {
	for _, tt := range []struct{ what, field, before, after, text string }{
		{"by tag", "ETag", `"one"`, `"two"`, "ABCDEFGHIJ"},
		{"now weak", "ETag", `"one"`, `W/"one"`, "ABCDEFGHIJ"},
		{"by date", "Last-Modified", longAgo.Format(http.TimeFormat), longAgo.Add(time.Hour).Format(http.TimeFormat), "ABCDEFGHIJ"},
		{"now shorter", "ETag", `"one"`, `"two"`, "AB"},
		{"now as long as the part", "ETag", `"one"`, `"two"`, "ABCD"},
		{"now shorter, of unknown size", "ETag", `"one"`, "", "AB"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			changed := false
			at := uri.MustParse("http://" + serve(t, func(w http.ResponseWriter, r *http.Request) {
				if !changed {
					w.Header().Set(tt.field, tt.before)
					w.Header().Set("Content-Length", "10")
					_, _ = w.Write([]byte("0123"))
					return
				}
				if tt.after != "" {
					w.Header().Set(tt.field, tt.after)
				}
				from := 0
				fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
				switch {
				case from >= len(tt.text):
					w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", len(tt.text)))
					w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				case from > 0:
					w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(tt.text)-1, len(tt.text)))
					w.WriteHeader(http.StatusPartialContent)
					fallthrough
				default:
					_, _ = w.Write([]byte(tt.text[from:]))
				}
			}) + "/x")
			f := newFetcher(t, Options{})
			path := filepath.Join(t.TempDir(), "x")
			var part *PartError
			if _, err := f.Save(t.Context(), at, own, path, SaveOptions{}); !errors.As(err, &part) || !part.Usable {
				t.Fatalf("truncated: %v", err)
			}
			changed = true
			saved, err := f.Save(t.Context(), at, own, path, SaveOptions{Continue: true})
			if err != nil || saved.Resumed != 0 {
				t.Fatalf("got %+v, %v", saved, err)
			}
			if got, _ := os.ReadFile(path); string(got) != tt.text {
				t.Errorf("got %q, want %q", got, tt.text)
			}
		})
	}
}

// A partial file is used only for the same object at the same location.
func TestSaveAnew(t *testing.T) {
	for _, tt := range []struct {
		what   string
		change func(s *flaky, path string)
	}{
		{"the object has changed", func(s *flaky, _ string) { s.text, s.tag = "ABCDEFGHIJ", `"two"` }},
		{"the server no longer says", func(s *flaky, _ string) { s.tag = "" }},
		{"no note", func(_ *flaky, path string) { os.Remove(path + noteSuffix) }},
		{"a note of another time", func(_ *flaky, path string) { os.WriteFile(path+noteSuffix, []byte(`{"version":9}`), 0o600) }},
		{"a torn note", func(_ *flaky, path string) { os.WriteFile(path+noteSuffix, []byte(`{"vers`), 0o600) }},
		{"an empty part", func(_ *flaky, path string) { os.Truncate(path+partSuffix, 0) }},
		{"no part", func(_ *flaky, path string) { os.Remove(path + partSuffix) }},
	} {
		t.Run(tt.what, func(t *testing.T) {
			s := &flaky{text: "0123456789", tag: `"one"`}
			at := uri.MustParse("http://" + serve(t, s.ServeHTTP) + "/x")
			f := newFetcher(t, Options{})
			path := filepath.Join(t.TempDir(), "x")
			if _, err := f.Save(t.Context(), at, own, path, SaveOptions{}); err == nil {
				t.Fatal("not truncated")
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

// No existing file is lost, and pointless requests are not sent.
func TestSaveWhereSomethingIs(t *testing.T) {
	s := &flaky{text: "0123456789", tag: `"one"`, whole: true}
	at := uri.MustParse("http://" + serve(t, s.ServeHTTP) + "/x")
	f := newFetcher(t, Options{})
	for _, tt := range []struct {
		what  string
		make  func(path string) error
		o     SaveOptions
		want  error
		saved bool // nevertheless
	}{
		{"a directory", func(path string) error { return os.Mkdir(path, 0o700) }, SaveOptions{Replace: true}, ErrNoFile, false},
		{"a pipe", func(path string) error { return mkfifo(path) }, SaveOptions{Replace: true}, ErrNoFile, false},
		{"a pipe as a part", func(path string) error { return mkfifo(path + partSuffix) }, SaveOptions{}, ErrNoFile, false},
		{"a link as a part", func(path string) error { return os.Symlink(path+".other", path+partSuffix) }, SaveOptions{Continue: true}, ErrNoFile, false},
		{"a part of another location", func(path string) error { return os.WriteFile(path+partSuffix, []byte("own"), 0o600) }, SaveOptions{}, fs.ErrExist, false},
		{"a part to replace", func(path string) error { return os.WriteFile(path+partSuffix, []byte("own"), 0o600) }, SaveOptions{Replace: true}, nil, true},
		{"an unusable part", func(path string) error {
			return errors.Join(os.WriteFile(path+partSuffix, []byte("own"), 0o600), os.WriteFile(path+noteSuffix, []byte(`{"version":1,"validator":""}`), 0o600))
		}, SaveOptions{}, nil, true},
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := tt.make(path); err != nil {
			t.Fatal(err)
		}
		before := len(s.asked)
		if _, err := f.Save(t.Context(), at, own, path, tt.o); !errors.Is(err, tt.want) || (err == nil) != tt.saved || !tt.saved && len(s.asked) > before {
			t.Errorf("%s: %v, want %v; asked %d times", tt.what, err, tt.want, len(s.asked)-before)
		}
	}
	if _, err := f.Save(t.Context(), at, own, filepath.Join(t.TempDir(), "no", "x"), SaveOptions{}); err == nil || !strings.Contains(err.Error(), "directory not found") {
		t.Errorf("no directory: %v", err)
	}
}

// Two concurrent calls do not mix what they write.
func TestSaveTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	gate, inside := make(chan struct{}), make(chan struct{}, 2)
	at := uri.MustParse("http://" + serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = w.Write([]byte("01234"))
		w.(http.Flusher).Flush()
		inside <- struct{}{}
		<-gate
		_, _ = w.Write([]byte("56789"))
	}) + "/x")
	f := newFetcher(t, Options{})
	first := make(chan error)
	go func() {
		_, err := f.Save(t.Context(), at, own, path, SaveOptions{})
		first <- err
	}()
	<-inside
	for _, err := os.Stat(path + noteSuffix); err != nil; _, err = os.Stat(path + noteSuffix) {
		time.Sleep(time.Millisecond) // until the partial file exists
	}
	if _, err := f.Save(t.Context(), at, own, path, SaveOptions{Replace: true}); !errors.Is(err, flock.ErrLocked) {
		t.Errorf("the second: %v", err)
	}
	close(gate)
	if err := <-first; err != nil {
		t.Errorf("the first: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "0123456789" {
		t.Errorf("got %q", got)
	}
}

// A missing resource leaves no file, and an existing part is kept.
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
		if err == nil && (n.Version != noteVersion || n.Validator == "" || strings.ContainsAny(n.Validator, "\r\n\x00")) {
			t.Errorf("readNote(%q) = %+v", text, n)
		}
	})
}
