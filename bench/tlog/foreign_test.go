package tlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	flog "github.com/transparency-dev/formats/log"
	fnote "github.com/transparency-dev/formats/note"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/api"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/witness"
)

const (
	origin      = "names.example.org/-/log"
	witnessName = "witness.example.org"
)

// changes is the number of changes in the log. With the default the test takes seconds.
var changes = flag.Int("changes", 2000, "number of changes in the log")

// TestForeignCheckers checks a log that 'nomen serve' publishes, and its static copy: checkpoint,
// cosignature, tiles, bundles, and proofs that Tessera computes from the tiles.
func TestForeignCheckers(t *testing.T) {
	dir := t.TempDir()
	nomen := filepath.Join(dir, "nomen")
	run(t, "go", "build", "-C", "../..", "-o", nomen, "./cmd/nomen")
	key := filepath.Join(dir, "log.key")
	vkey := strings.TrimSpace(run(t, nomen, "log", "key", "new", "--name", origin, key))
	v, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	data := "--data=" + filepath.Join(dir, "data")
	run(t, nomen, data, "authority", "put", "urn:dns:example.org", "--owner", "a", "--list")
	run(t, nomen, data, "import", records(t, dir))
	w, cosigner := startWitness(t, vkey)
	public := serve(t, nomen, data, "--log.key", key, "--log.entries", "--log.witness", w, "--log.quorum", "1")

	root, err := url.Parse("http://" + public + "/-/log/")
	if err != nil {
		t.Fatal(err)
	}
	served, err := client.NewHTTPFetcher(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	var checkpoint []byte
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if checkpoint, err = served.ReadCheckpoint(t.Context()); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	c, _, n, err := flog.ParseCheckpoint(checkpoint, origin, v, cosigner)
	if err != nil || c.Size != uint64(*changes)+1 || len(n.Sigs) != 2 {
		t.Fatalf("formats: %+v, %v, %v, want %d entries and two signatures", c, n, err, *changes+1)
	}
	if at, err := fnote.CoSigV1Timestamp(n.Sigs[1]); err != nil || time.Since(at) > time.Hour {
		t.Errorf("time of the cosignature: %v, %v", at, err)
	}
	if _, err := note.Open(checkpoint, note.VerifierList(v)); err != nil {
		t.Errorf("sumdb/note: %v", err)
	}
	check(t, "served", served, v, c)

	out := filepath.Join(dir, "static")
	stopServer(t)
	run(t, nomen, data, "log", "export", "--entries", out)
	check(t, "exported", client.FileFetcher{Root: out}, v, c)
	if b, err := os.ReadFile(filepath.Join(out, "checkpoint")); err != nil || !bytes.Equal(b, checkpoint) {
		t.Errorf("the exported checkpoint differs: %v", err)
	}
}

// check verifies a log with fsck, and proofs that the client of Tessera makes from its tiles.
func check(t *testing.T, what string, f fsck.Fetcher, v note.Verifier, c *flog.Checkpoint) {
	t.Helper()
	began := time.Now()
	if err := fsck.New(origin, v, f, leafHashes, fsck.Opts{N: 2}).Check(t.Context()); err != nil {
		t.Fatalf("%s: fsck: %v", what, err)
	}
	t.Logf("%s: fsck accepts %d entries in %v", what, c.Size, time.Since(began).Round(time.Millisecond))
	builder, err := client.NewProofBuilder(t.Context(), c.Size, f.ReadTile)
	if err != nil {
		t.Fatal(err)
	}
	for _, index := range []uint64{0, 255, 256, c.Size / 2, c.Size - 1} {
		hashes, err := builder.InclusionProof(t.Context(), index)
		if err != nil {
			t.Fatalf("%s: inclusion of %d: %v", what, index, err)
		}
		bundle, err := client.GetEntryBundle(t.Context(), f.ReadEntryBundle, index/256, c.Size)
		if err != nil {
			t.Fatalf("%s: bundle of %d: %v", what, index, err)
		}
		leaf := rfc6962.DefaultHasher.HashLeaf(bundle.Entries[index%256])
		if err := proof.VerifyInclusion(rfc6962.DefaultHasher, index, c.Size, leaf, hashes, c.Hash); err != nil {
			t.Errorf("%s: inclusion of %d: %v", what, index, err)
		}
	}
	if _, err := builder.ConsistencyProof(t.Context(), 100, c.Size); err != nil {
		t.Errorf("%s: consistency: %v", what, err)
	}
}

// leafHashes returns the hashes of the entries in a bundle.
func leafHashes(bundle []byte) (hashes [][]byte, err error) {
	var b api.EntryBundle
	if err := b.UnmarshalText(bundle); err != nil {
		return nil, err
	}
	for _, e := range b.Entries {
		h := sha256.Sum256(append([]byte{0}, e...))
		hashes = append(hashes, h[:])
	}
	return hashes, nil
}

// records writes the records to import.
func records(t *testing.T, dir string) string {
	t.Helper()
	var b bytes.Buffer
	for i := range *changes {
		fmt.Fprintf(&b, `{"name":"urn:dns:example.org:%d","status":"active","locations":[{"url":"https://example.org/%d"}]}`+"\n", i*7919%*changes, i)
	}
	file := filepath.Join(dir, "records.jsonl")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, messages.String())
	}
	return out.String()
}

// startWitness starts a witness of the log. It returns the value of --log.witness, and the verifier
// that package formats makes for the key of the witness.
func startWitness(t *testing.T, vkey string) (option string, cosigner note.Verifier) {
	t.Helper()
	log, err := tlog.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	skey, public, err := tlog.GenerateKey(random{}, witnessName, true)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := tlog.NewSigner(skey, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	w, err := witness.New(witness.Options{Signer: signer, Public: public, Logs: []note.Verifier{log}, Dir: t.TempDir(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w)
	t.Cleanup(func() {
		server.Close()
		_ = w.Close()
	})
	if cosigner, err = fnote.NewVerifierForCosignatureV1(public); err != nil {
		t.Fatal(err)
	}
	return public + " " + server.URL, cosigner
}

// random returns the same bytes each time: the key protects nothing.
type random struct{}

// Read implements [io.Reader].
func (random) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(i)
	}
	return len(b), nil
}

var server *exec.Cmd

// serve starts the server and returns the address of its public listener.
func serve(t *testing.T, nomen string, args ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	args = append([]string{"serve", "--listen", address, "--admin", "127.0.0.1:0", "--public-url", "https://names.example.org", "--no-access-log"}, args...)
	server = exec.Command(nomen, args...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill() })
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		req, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+address+"/-/readyz", nil)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return address
			}
		}
		if time.Now().After(end) {
			t.Fatal("the server does not become ready")
		}
	}
}

func stopServer(t *testing.T) {
	t.Helper()
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
}
