//go:build clients

package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// earlierVar names the commit from which TestClientUpgrade upgrades, in place of earlierCommit.
const (
	earlierVar    = "NOMEN_EARLIER"
	earlierCommit = "9b4a6b03"
)

// buildEarlier builds the program of an earlier commit. A clone without it skips the test.
func buildEarlier(t *testing.T) string {
	t.Helper()
	commit := os.Getenv(earlierVar)
	if commit == "" {
		commit = earlierCommit
	}
	archive, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "archive", "--format=tar", commit).Output()
	if err != nil {
		t.Skipf("SKIPPED: this clone has no commit %s: no upgrade from it is tested (%s names another)", commit, earlierVar)
	}
	dir := t.TempDir()
	files := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := files.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, filepath.FromSlash(h.Name))
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(file, 0o755)
		case tar.TypeReg:
			var text []byte
			if text, err = io.ReadAll(files); err == nil {
				err = os.WriteFile(file, text, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "nomen-earlier")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-X main.version=earlier", "-o", program, "./cmd/nomen")
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build of %s: %v\n%s", commit, err, out)
	}
	return program
}

// A programOf is a program of one version, with its store.
type programOf struct {
	program string
	data    string
	args    []string // that name the store
}

// nomen runs a command, which must succeed, and returns what it printed.
func (v programOf) nomen(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), v.program, append(append(args[:1:1], v.args...), args[1:]...)...)
	cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1", "NOMEN_DATA="+v.data)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", filepath.Base(v.program), args, err, out)
	}
	return string(out)
}

// serve starts a server of the version.
func (v programOf) serve(t *testing.T) *process {
	t.Helper()
	p, err := startProgram(v.program, v.data, v.args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.kill() })
	return p
}

// sameAnswers checks that a server answers each path as it did before, or notes the answer.
func sameAnswers(t *testing.T, who string, p *process, noted map[string]string) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, path := range []string{
		"/urn:x-odd:1", "/urn:x-odd:2", "/urn:x-odd:a%2Fb", "/urn:x-odd:gone", "/urn:x-odd:old", "/urn:x-odd:none", "/urn:x-new:1",
		"/urn:x-odd:1?s=I2C&format=json", "/urn:x-odd:gone?s=I2C&format=json", "/urn:x-odd:urn+m", "/-/list/urn:x-odd", "/-/timemap/urn:x-odd:1",
	} {
		r, err := client.Get("http://" + p.public + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%d %s %s", r.StatusCode, r.Header.Get("Location"), strings.NewReplacer(p.public, "HOST", "nomen earlier", "nomen", "nomen (devel)", "nomen").Replace(string(body)))
		if want, ok := noted[path]; ok && got != want {
			t.Errorf("%s: %s\n got %s\nwant %s", who, path, got, want)
		}
		noted[path] = got
	}
}

// TestClientUpgrade writes a store with the program of an earlier commit, changes it with this one,
// and goes back: each version serves and verifies what the other wrote.
func TestClientUpgrade(t *testing.T) {
	earlier := buildEarlier(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("pebble", func(t *testing.T) {
		data := filepath.Join(t.TempDir(), "data")
		before, after := programOf{earlier, data, nil}, programOf{exe, data, nil}
		upgradeAndBack(t, before, after, func() store.Store {
			s, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(data, "store")})
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
		for _, v := range []programOf{before, after} { // each restores the backup of the other
			backup := filepath.Join(t.TempDir(), "backup")
			v.nomen(t, "backup", backup)
			other := programOf{after.program, filepath.Join(t.TempDir(), "restored"), nil}
			if v.program == after.program {
				other.program = before.program
			}
			other.nomen(t, "restore", backup)
			other.nomen(t, "verify")
		}
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		db := startDatabase(t, pgtest.Options{})
		of := func(program string) programOf {
			return programOf{program, filepath.Join(t.TempDir(), "data"), []string{"--store", db.URL()}}
		}
		upgradeAndBack(t, of(earlier), of(exe), func() store.Store {
			s, err := pgstore.Open(t.Context(), pgstore.Options{URL: db.URL()})
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
		sideBySide(t, of(earlier), of(exe))
	})
}

// upgradeAndBack changes a store with one version after the other. open opens the store in
// this process.
func upgradeAndBack(t *testing.T, before, after programOf, open func() store.Store) {
	t.Helper()
	before.nomen(t, "authority", "put", "urn:x-odd", "--owner", "archive", "--owner", "library", "--list", "--redirect-status", "308")
	for _, name := range []string{"1", "2", "a%2Fb", "gone", "old"} {
		before.nomen(t, "put", "urn:x-odd:"+name, "https://www.example.edu/"+name, "--title", "Title of "+name)
	}
	before.nomen(t, "retire", "urn:x-odd:gone", "--reason", "withdrawn")
	before.nomen(t, "token", "make", "--who", "anna", "--role", "editor", "--prefix", "urn:x-odd")
	noted := map[string]string{}
	p := before.serve(t)
	sameAnswers(t, "earlier program", p, noted)
	stopProcess(t, p)
	head := headOfStore(before.nomen(t, "verify"))

	p = after.serve(t)
	sameAnswers(t, "this program, after the upgrade", p, noted)
	stopProcess(t, p)
	after.nomen(t, "verify", "--head", head)
	after.nomen(t, "put", "urn:x-odd:2", "https://www.example.edu/two", "--replace")
	after.nomen(t, "put", "urn:x-new:1", "https://www.example.edu/new")
	after.nomen(t, "retire", "urn:x-odd:old", "--reason", "a new number", "--successor", "urn:x-odd:1")
	keepSecret(t, open())
	noted = map[string]string{}
	p = after.serve(t)
	sameAnswers(t, "this program, after changes", p, noted)
	stopProcess(t, p)
	head = headOfStore(after.nomen(t, "verify"))

	p = before.serve(t)
	sameAnswers(t, "earlier program, after the downgrade", p, noted)
	stopProcess(t, p)
	before.nomen(t, "verify", "--head", head)
	before.nomen(t, "put", "urn:x-odd:1", "https://www.example.edu/one", "--replace")
	head = headOfStore(before.nomen(t, "verify"))

	after.nomen(t, "verify", "--head", head)
	if got := after.nomen(t, "token", "list"); !strings.Contains(got, "anna") {
		t.Errorf("the token is lost: %s", got)
	}
	s := open()
	defer s.Close()
	vault, err := store.VaultOf(s)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := vault.Secret(t.Context(), "upgrade"); err != nil || string(got) != "kept" {
		t.Errorf("the secret after the downgrade and the upgrade: %q %v", got, err)
	}
}

// keepSecret stores a secret, which earlier programs do not support.
func keepSecret(t *testing.T, s store.Store) {
	t.Helper()
	defer s.Close()
	vault, err := store.VaultOf(s)
	if err == nil {
		err = vault.PutSecret(t.Context(), "upgrade", []byte("kept"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// sideBySide runs a server of each version on one database, as while nodes are upgraded.
func sideBySide(t *testing.T, before, after programOf) {
	t.Helper()
	nodes := []*process{before.serve(t), after.serve(t)}
	for i, v := range []programOf{before, after} {
		url := fmt.Sprintf("https://www.example.edu/node/%d", i)
		local := programOf{v.program, v.data, nil} // through the running server
		local.nomen(t, "put", "urn:x-odd:2", url, "--replace")
		for _, p := range nodes {
			redirectsTo(t, p, "/urn:x-odd:2", url)
		}
	}
	for _, p := range nodes {
		stopProcess(t, p)
	}
	head := headOfStore(before.nomen(t, "verify"))
	after.nomen(t, "verify", "--head", head)
}

func stopProcess(t *testing.T, p *process) {
	t.Helper()
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
}

// headOfStore returns the head that verify printed.
func headOfStore(printed string) string {
	for _, word := range strings.Fields(printed) {
		if size, hash, ok := strings.Cut(strings.Trim(word, ",.;"), ":"); ok && len(hash) == 64 && size != "" {
			return size + ":" + hash
		}
	}
	return "no head in: " + printed
}
