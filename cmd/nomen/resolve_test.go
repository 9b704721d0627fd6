package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// That standard input broke off is said, also after names that nobody could be asked
// about.
func TestResolveReadingFails(t *testing.T) {
	var out, log bytes.Buffer
	in := io.MultiReader(strings.NewReader("urn:ietf:rfc:1\n"), iotest.ErrReader(errors.New("the wire is cut")))
	status := run(t.Context(), []string{"resolve", "--via", "127.0.0.1:1", "--retries", "0", "-"}, streams{in: in, out: &out, err: &log})
	if status != exitFailure || !strings.Contains(log.String(), "standard input: the wire is cut") || !strings.Contains(log.String(), "127.0.0.1:1") {
		t.Errorf("status %d:\n%s", status, &log)
	}
}
