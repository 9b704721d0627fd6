package fetch

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/extra"
)

// file implements [plan.Step] for the scheme file. It also implements the scheme afs, if the AFS
// file system is mounted. For a directory, it returns a list of names.
func (j *retrieval) file(_ context.Context, r plan.Request) (plan.Outcome, error) {
	if strings.IndexByte(r.Object, 0) >= 0 {
		return plan.Outcome{}, j.refuse(r.URI, "invalid file name", nil)
	}
	info, err := os.Stat(r.Object)
	if err != nil {
		return plan.Outcome{}, fileError(r, err)
	}
	if !info.Mode().IsRegular() && !info.IsDir() { // opening a pipe or a device may block for ever
		return plan.Outcome{}, j.refuse(r.URI, "not a regular file or directory", nil)
	}
	f, err := os.Open(r.Object)
	if err != nil {
		return plan.Outcome{}, fileError(r, err)
	}
	o, err := j.fileObject(r, f)
	if err != nil {
		f.Close()
		return plan.Outcome{}, fileError(r, err)
	}
	return j.found(o)
}

func fileError(r plan.Request, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", err, plan.ErrNotAvailable)
	}
	return fmt.Errorf("fetch: %s: %w", r.URI.Redacted(), err)
}

func (j *retrieval) fileObject(r plan.Request, f *os.File) (*Object, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return listing(f)
	}
	o := &Object{
		Resource: nomen.Resource{Type: r.Format, Size: info.Size(), Body: f},
		Modified: info.ModTime(), Validator: fmt.Sprintf("file:%d:%d", info.Size(), info.ModTime().UnixNano()),
	}
	if j.canResume(o.Validator) {
		if o.Offset, err = f.Seek(j.request.Offset, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// canResume reports whether to read the object from the requested offset instead of from the
// beginning. It returns false if the request has no offset, or has the validator of another
// version.
func (j *retrieval) canResume(validator string) bool {
	return j.request.Offset > 0 && (j.request.Validator == "" || j.request.Validator == validator)
}

const maxEntries = 1 << 20

// listing returns an object with the names in a directory, one per line. A slash follows the name
// of a subdirectory.
func listing(dir *os.File) (*Object, error) {
	defer dir.Close()
	entries, err := dir.ReadDir(maxEntries)
	if err != nil && err != io.EOF {
		return nil, err
	}
	var b bytes.Buffer
	for _, e := range entries {
		b.WriteString(shown.Line(e.Name()))
		if e.IsDir() {
			b.WriteByte('/')
		}
		b.WriteByte('\n')
	}
	return &Object{Resource: nomen.Resource{Type: typeText + "; charset=utf-8", Size: int64(b.Len()), Body: io.NopCloser(&b)}}, nil
}

const typeText = "text/plain"

// data implements [plan.Step] for the scheme data (RFC 2397).
func (j *retrieval) data(_ context.Context, r plan.Request) (plan.Outcome, error) {
	parts := extra.Catalogue().Parts(r.URI)
	mediatype, _ := scheme.Get(parts, "mediatype")
	var text []byte
	for _, p := range parts {
		switch p.Name {
		case "parameter":
			mediatype += ";" + shown.Line(string(p.Data()))
		case "data":
			text = []byte(p.Data())
		}
	}
	if mediatype == "" {
		mediatype = ";charset=US-ASCII" // RFC 2397, section 2
	}
	if strings.HasPrefix(mediatype, ";") {
		mediatype = typeText + mediatype
	}
	_, isBase64 := scheme.Get(parts, "encoding")
	if isBase64 {
		plain := strings.TrimRight(strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "").Replace(string(text)), "=")
		decoded, err := base64.RawStdEncoding.DecodeString(plain)
		if err != nil {
			return plan.Outcome{}, &FormatError{URL: "data:", Protocol: "data", Message: err.Error(), Err: err}
		}
		text = decoded
	}
	return j.found(&Object{Resource: nomen.Resource{Type: mediatype, Size: int64(len(text)), Body: io.NopCloser(bytes.NewReader(text))}})
}
