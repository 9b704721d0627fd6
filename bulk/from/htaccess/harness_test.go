package htaccess

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/internal/testrun"
)

// w3id returns the .htaccess files of w3id.org by their paths. Without them, it returns a sample.
func w3id(t testing.TB) map[string]string {
	t.Helper()
	data, ok := testrun.Beside(t, "data/migrate/w3id-htaccess.tar")
	if !ok {
		return map[string]string{"w/.htaccess": cascade}
	}
	files := make(map[string]string)
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(h.Name, "/"+fileName) {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_, below, _ := strings.Cut(h.Name, "/")
		files[below] = string(text)
	}
}

// A convertedFile is a file with the result of its conversion.
type convertedFile struct {
	*converter
	text   string
	report from.Report
}

func convertFile(t testing.TB, file, text string) convertedFile {
	t.Helper()
	out := from.NewOutput(file, nil)
	c, err := convert(&from.Input{Reader: strings.NewReader(text), Path: file, Base: "http://w3id.org/"}, out)
	if err != nil {
		t.Fatal(err)
	}
	return convertedFile{c, text, out.Report()}
}
