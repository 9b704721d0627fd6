package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/watch"
	"github.com/nomen-project/nomen/tlog/witness"
)

// A library is a server that publishes its log, and a witness of the logs of the others.
type library struct {
	name             string
	data, key, wkey  string // directory, and files with private keys
	vkey, wvkey, url string // public keys, and the URL of the witness
	endWitness       func()
	server           *process
}

// newLibraries returns three libraries on loopback that witness each other.
func newLibraries(t *testing.T) []*library {
	t.Helper()
	all := make([]*library, 3)
	for i, name := range []string{"a", "b", "c"} {
		dir := t.TempDir()
		l := &library{name: name, data: filepath.Join(dir, "data"), key: filepath.Join(dir, "log.key"), wkey: filepath.Join(dir, "witness.key")}
		l.vkey = strings.TrimSpace(l.must(t, "log", "key", "new", "--public-url", "https://"+name+".example", l.key))
		l.wvkey = strings.TrimSpace(l.must(t, "log", "key", "new", "--witness", "--name", "witness."+name+".example", l.wkey))
		all[i] = l
	}
	for _, l := range all {
		args := []string{"witness", "serve", "--key", l.wkey, "--listen", "127.0.0.1:0", "--data", l.data}
		for _, other := range all {
			if other != l {
				args = append(args, "--log", other.vkey)
			}
		}
		l.url, l.endWitness = startWitness(t, args)
	}
	for _, l := range all {
		args := []string{"--public-url", "https://" + l.name + ".example", "--log.key", l.key, "--log.entries", "--log.content", "--log.quorum", "2"}
		for _, other := range all {
			if other != l {
				args = append(args, "--log.witness", other.wvkey+" "+other.url)
			}
		}
		l.must(t, "authority", "put", "urn:x-"+l.name, "--owner", "anna", "--owner", "ben", "--list")
		l.put(t, "urn:x-"+l.name+":first", "https://example.org/first")
		l.server = start(t, l.data, args...)
	}
	return all
}

// startWitness runs a witness in this process. It returns its URL, and a function that ends it.
func startWitness(t *testing.T, args []string) (address string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	var all sync.WaitGroup
	all.Go(func() {
		if status := run(ctx, args, streams{in: strings.NewReader(""), out: io.Discard, err: w}); status != exitYes {
			t.Errorf("the witness ended with status %d", status)
		}
		w.Close()
	})
	found := make(chan string, 1)
	all.Go(func() {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if _, rest, ok := strings.Cut(lines.Text(), "witness at "); ok {
				address, _, _ := strings.Cut(rest, ",")
				found <- address
			}
		}
		close(found)
	})
	end = sync.OnceFunc(func() { cancel(); all.Wait() })
	t.Cleanup(end)
	address, ok := <-found
	if !ok {
		t.Fatal("the witness did not start")
	}
	return address, end
}

// try runs a command on the data directory of the library.
func (l *library) try(t *testing.T, args ...string) (status int, said string) {
	t.Helper()
	status, out, log := command(t.Context(), strings.NewReader(""), append(args, "--data", l.data)...)
	return status, out + log
}

// must runs a command that succeeds, and returns its output.
func (l *library) must(t *testing.T, args ...string) string {
	t.Helper()
	status, out, log := command(t.Context(), strings.NewReader(""), append(args, "--data", l.data)...)
	if status != exitYes {
		t.Fatalf("nomen %s: status %d, %s%s", strings.Join(args, " "), status, out, log)
	}
	return out
}

func (l *library) put(t *testing.T, name, location string) {
	t.Helper()
	l.must(t, "put", name, location)
}

func (l *library) log() string { return "http://" + l.server.public + "/-/log" }

// checkpoint returns the newest checkpoint of the log as soon as it has the given number of entries.
func (l *library) checkpoint(t *testing.T, size uint64) []byte {
	t.Helper()
	return l.grown(t, strings.TrimSuffix(l.log(), "/-/log"), size)
}

// grown is like checkpoint, for a server at a URL.
func (l *library) grown(t *testing.T, base string, size uint64) []byte {
	t.Helper()
	for last := time.Now().Add(startTimeout); time.Now().Before(last); time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(base + "/-/log/checkpoint")
		if err != nil {
			t.Fatal(err)
		}
		msg, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if c, err := tlog.Peek(msg); err == nil && c.Size >= size {
			return msg
		}
	}
	t.Fatalf("the log of %s did not grow to %d entries: %s", l.name, size, l.server.output())
	return nil
}

// A reader is a client that follows the log of a library.
type reader struct {
	*library
	args []string
}

// watches returns the arguments of a client that knows the keys of these witnesses, and needs some of
// their cosignatures.
func (l *library) watches(t *testing.T, need int, witnesses ...*library) *reader {
	r := &reader{l, []string{"log", "watch", "--once", "--key", l.vkey, "--need", fmt.Sprint(need), "--state", filepath.Join(t.TempDir(), "state")}}
	for _, w := range witnesses {
		r.args = append(r.args, "--witness", w.wvkey)
	}
	return r
}

func (r *reader) want(t *testing.T, at string, status int, text string, more ...string) {
	t.Helper()
	got, said := r.try(t, append(append(r.args, more...), at)...)
	if got != status || !strings.Contains(said, text) {
		t.Errorf("nomen log watch: got status %d and %q, want %d and %q", got, said, status, text)
	}
}

// TestThreeLibraries has three servers that witness each other. One of the witnesses is killed, one
// lies, and one log is shown to a client with another history.
func TestThreeLibraries(t *testing.T) {
	t.Parallel()
	all := newLibraries(t)
	a, b, c := all[0], all[1], all[2]
	for i, l := range all {
		l.checkpoint(t, 2)
		others := []*library{all[(i+1)%3], all[(i+2)%3]}
		l.watches(t, 2, others...).want(t, l.log(), exitYes, "2 cosignatures")
		status, said := l.try(t, "audit", "--key", l.vkey, "--witness", others[0].wvkey, "--prefix", "urn:x-"+l.name, l.log())
		if status != exitYes || !strings.Contains(said, "1 name compared with the server") {
			t.Errorf("audit of %s: got status %d and %q, want 0, and one name compared", l.name, status, said)
		}
	}
	client := a.watches(t, 2, b, c)
	client.want(t, a.log(), exitYes, "2 cosignatures")
	honest := a.checkpoint(t, 2)

	// The witness of b is killed: a client that needs both cosignatures sees that one is missing. A
	// client that needs one does not care.
	b.endWitness()
	a.put(t, "urn:x-a:second", "https://example.org/second")
	msg := a.checkpoint(t, 3)
	client.want(t, a.log(), exitNo, "has 1 of 2 cosignatures")
	a.watches(t, 1, b, c).want(t, a.log(), exitYes, "1 cosignature")
	if n := strings.Count(string(msg), "\n— "); n != 2 {
		t.Errorf("got %d signatures, want that of the log and of one witness: %s", n, msg)
	}

	// The log of a is rewritten, with the key of a, and shown to one client. The witness of c lies: it
	// cosigns whatever it gets. The witness of b has come back, and is honest.
	fork := &library{name: "a", data: filepath.Join(t.TempDir(), "fork"), key: a.key, vkey: a.vkey}
	fork.must(t, "authority", "put", "urn:x-a", "--owner", "anna", "--owner", "ben", "--list")
	for _, n := range []string{"first", "second", "third", "fourth"} {
		fork.put(t, "urn:x-a:"+n, "https://evil.example/"+n)
	}
	liar := newLiar(t, c.wkey)
	fork.server = start(t, fork.data, "--public-url", "https://a.example", "--log.key", fork.key, "--log.entries", "--log.witness", c.wvkey+" "+liar, "--log.quorum", "1")
	forked := fork.checkpoint(t, 5)
	honestB, endB := startWitness(t, []string{"witness", "serve", "--key", b.wkey, "--listen", "127.0.0.1:0", "--data", b.data, "--log", a.vkey, "--log", c.vkey})
	defer endB()
	if err := askWitness(t, b.wvkey+" "+honestB, fork, forked); !errors.Is(err, witness.ErrFork) {
		t.Errorf("the honest witness: got %v, want that it refuses the fork", err)
	}
	shown := newMirror(t, fork, forked)
	a.watches(t, 2, b, c).want(t, shown, exitNo, "has 1 of 2 cosignatures")                                                   // a new client with a good policy
	a.watches(t, 1, b, c).want(t, shown, exitYes, "1 cosignature")                                                            // one lie suffices for a policy of one
	a.watches(t, 1, b, c).want(t, shown, exitNo, "different histories", "--seen", writeText(t, "seen", string(honest)))       // two clients compare
	a.watches(t, 1, b, c).want(t, a.log(), exitNo, "rollback: ", "--seen", writeText(t, "forked", string(forked)))            // and the other one too
	old := &reader{a, []string{"log", "watch", "--once", "--key", a.vkey, "--state", filepath.Join(t.TempDir(), "state")}}    // a client with heads of its own
	old.want(t, a.log(), exitYes, "3 entries")                                                                                // needs no witnesses
	old.want(t, shown, exitNo, "fork: the first 3 entries differ")                                                            // to see it
	if status, said := a.try(t, "audit", "--key", b.vkey, a.log()); status != exitNo || !strings.Contains(said, "origin: ") { // of another log
		t.Errorf("audit with the key of another log: got status %d and %q, want 1 and the origin", status, said)
	}
}

// writeText writes a file and returns its path.
func writeText(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// newLiar returns the URL of a witness with the key in a file, which cosigns everything.
func newLiar(t *testing.T, file string) string {
	t.Helper()
	skey, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := tlog.NewSigner(strings.TrimSpace(string(skey)), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		q, err := tlog.ParseWitnessRequest(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text, _, _ := strings.Cut(string(q.Checkpoint), "\n\n")
		msg, err := note.Sign(&note.Note{Text: text + "\n"}, signer)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(msg[len(text)+2:])
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// askWitness asks a witness for a cosignature of a checkpoint of a log.
func askWitness(t *testing.T, text string, l *library, checkpoint []byte) error {
	t.Helper()
	w, err := witness.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	remote, err := watch.NewRemote(l.log(), nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	c, err := tlog.Peek(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	tree := tlog.NewTree(remote, c)
	r, err := witness.NewGroup(witness.Policy{Witnesses: []witness.Witness{w}}, nil).Cosign(t.Context(), checkpoint, tree.ProveConsistency)
	if err != nil {
		t.Fatal(err)
	}
	return r.Outcomes[0].Err
}

// newMirror serves the tiles of a server, with a checkpoint.
func newMirror(t *testing.T, l *library, checkpoint []byte) string {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: l.server.public})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/checkpoint") {
			_, _ = w.Write(checkpoint)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/-/log"
}
