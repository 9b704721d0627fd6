package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/audit"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// writeProofs makes a store of three changes, the first of which is redacted, and writes proofs of
// changes 1 and 2. It returns the directory and the head.
func writeProofs(t *testing.T) (dir string, head store.Head) {
	t.Helper()
	dir = t.TempDir()
	data := filepath.Join(dir, "data")
	for _, args := range []string{"put urn:example:a https://example.org/a", "put urn:example:b https://example.org/b", "put urn:example:a https://example.org/c", "redact urn:example:a --revision 1 --reason x --yes"} {
		if status, out := ran(t, "", append(strings.Fields(args), "--data", data)...); status != 0 {
			t.Fatal(args, out)
		}
	}
	s, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(data, "store"), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if head, err = s.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	for seq := range uint64(2) {
		p, err := audit.Prove(t.Context(), s, head.Size, seq+1)
		if err != nil {
			t.Fatal(err)
		}
		writeProof(t, filepath.Join(dir, fmt.Sprint(seq+1)), adminapi.NewProof(adminapi.NewEntry(p.Entry), p.Head, p.Hashes))
	}
	return dir, head
}

func writeProof(t *testing.T, file string, p adminapi.Proof) {
	t.Helper()
	b, err := json.Marshal(p)
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ran runs a command and returns its status and everything that it prints.
func ran(t *testing.T, in string, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	status := run(t.Context(), args, streams{in: strings.NewReader(in), out: &out, err: &out})
	return status, out.String()
}

// A proof is checked without a store and without a server.
func TestVerifyProof(t *testing.T) {
	t.Parallel()
	dir, head := writeProofs(t)
	b, err := os.ReadFile(filepath.Join(dir, "2"))
	if err != nil {
		t.Fatal(err)
	}
	other := store.Head{Size: head.Size}
	for _, tt := range []struct {
		name, from, to string // what to replace in the file
		args           string
		status         int
		want           string
	}{
		{name: "sound", want: "contains this change with this content"},
		{name: "head", args: "--head " + head.String(), want: "head " + head.String() + "\n"},
		{name: "json", args: "--json", want: `"change":2,"key":"urn:example:b","content":true}`},
		{name: "other head", args: "--head " + other.String(), status: exitNo, want: "fault: the proof is for another log"},
		{name: "other size", args: "--head 9:" + strings.Repeat("0", 64), status: exitUsage, want: "GET changes/2?size=9"},
		{name: "since", args: "--since " + head.String(), status: exitUsage, want: "--since cannot be used with --proof"},
		{name: "content", from: "example.org/b", to: "example.org/x", status: exitNo, want: "fault: the content of the change does not match its digest"},
		{name: "number", from: `"seq":2`, to: `"seq":1`, status: exitNo, want: "fault: the hashes do not prove"},
		{name: "json fault", from: `"seq":2`, to: `"seq":1`, args: "--json", status: exitNo, want: `"fault":"the hashes do not prove`},
		{name: "no proof", from: `"entry"`, to: `"entrx"`, status: exitUsage, want: "not a proof"},
		{name: "cut", from: "}}", to: "", status: exitUsage, want: "not a proof"},
	} {
		in := strings.Replace(string(b), tt.from, tt.to, 1)
		if tt.name == "cut" {
			in = in[:len(in)/2]
		}
		status, out := ran(t, in, append(strings.Fields("verify --proof - "+tt.args), "--data", filepath.Join(dir, "none"))...)
		if status != tt.status || !strings.Contains(out, tt.want) {
			t.Errorf("%s: got %d %q, want %d and %q", tt.name, status, out, tt.status, tt.want)
		}
	}
	if status, out := ran(t, "", "verify", "--proof", filepath.Join(dir, "1")); status != 0 || !strings.Contains(out, "its content was removed") {
		t.Errorf("a redacted change: %d %q", status, out)
	}
	if status, out := ran(t, "", "verify", "--proof", filepath.Join(dir, "missing")); status == 0 {
		t.Errorf("a missing file: %d %q", status, out)
	}
}
