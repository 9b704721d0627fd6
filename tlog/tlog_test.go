package tlog_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"
	xtlog "golang.org/x/mod/sumdb/tlog"

	"github.com/nomen-project/nomen/tlog"
)

// The example of the specifications tlog-checkpoint and tlog-cosignature.
const (
	exampleText = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
	exampleSigs = "\n— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n" +
		"— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n"
)

func TestCheckpointOfTheSpecification(t *testing.T) {
	c, err := tlog.Peek([]byte(exampleText + exampleSigs))
	if err != nil {
		t.Fatal(err)
	}
	if c.Origin != "example.com/behind-the-sofa" || c.Size != 20852163 || c.Text() != exampleText {
		t.Errorf("got %+v, want the example", c)
	}
	// The example has the time at which the witness signed: 1679315147.
	sig := note.Signature{Name: "witness.example.com/w1", Base64: "jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA=="}
	if at, err := tlog.CosignatureTime(sig); err != nil || at.Unix() != 1679315147 {
		t.Errorf("got the time %v, %v, want 1679315147", at.Unix(), err)
	}
}

func TestParseCheckpoint(t *testing.T) {
	root := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	empty := tlog.EmptyRoot()
	emptyRoot := base64.StdEncoding.EncodeToString(empty[:])
	for _, tt := range []struct{ name, text, rule string }{
		{"valid", "o\n1\n" + root + "\n", ""},
		{"empty log", "o\n0\n" + emptyRoot + "\n", ""},
		{"extension lines are kept", "o\n1\n" + root + "\nmore\nand more\n", ""},
		{"largest size", "o\n9223372036854775807\n" + root + "\n", ""},
		{"too large", "o\n9223372036854775808\n" + root + "\n", "at most 2^63-1"},
		{"larger than 64 bits", "o\n99999999999999999999\n" + root + "\n", "at most 2^63-1"},
		{"leading zero", "o\n01\n" + root + "\n", "leading zero"},
		{"two zeros", "o\n00\n" + emptyRoot + "\n", "leading zero"},
		{"sign", "o\n+1\n" + root + "\n", "decimal digits"},
		{"no size", "o\n\n" + root + "\n", "number is missing"},
		{"CRLF", "o\r\n1\r\n" + root + "\r\n", "carriage return"},
		{"CRLF at the end", "o\n1\n" + root + "\r\n", "carriage return"},
		{"no origin", "\n1\n" + root + "\n", "origin must not be empty"},
		{"no last line feed", "o\n1\n" + root, "line feed"},
		{"empty extension line", "o\n1\n" + root + "\n\n", "must not be empty"},
		{"short root", "o\n1\n" + root[:40] + "\n", "32 bytes in base64"},
		{"root with other bits", "o\n1\n" + root[:42] + "d=\n", "32 bytes in base64"},
		{"root of zeros at size 0", "o\n0\n" + base64.StdEncoding.EncodeToString(make([]byte, 32)) + "\n", "empty string"},
		{"control character", "o\x01\n1\n" + root + "\n", "control characters"},
		{"not UTF-8", "o\xff\n1\n" + root + "\n", "UTF-8"},
		{"long origin", strings.Repeat("o", 2000) + "\n1\n" + root + "\n", "too long"},
		{"too long", strings.Repeat("o", tlog.MaxCheckpoint+1), "too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := tlog.ParseCheckpoint(tt.text)
			check(t, err, tt.rule)
			if err == nil && c.Text() != tt.text {
				t.Errorf("got the text %q, want %q", c.Text(), tt.text)
			}
		})
	}
}

// check fails unless err is a FormatError with the rule, or nil if the rule is empty.
func check(t *testing.T, err error, rule string) {
	t.Helper()
	var format *tlog.FormatError
	switch {
	case rule == "" && err != nil:
		t.Errorf("got the error %v, want none", err)
	case rule != "" && (!errors.As(err, &format) || !strings.Contains(err.Error(), rule)):
		t.Errorf("got the error %v, want a FormatError with %q", err, rule)
	}
}

const logName, witnessName = "names.example.org/-/log", "witness.example.org/w"

func clock(at int64) func() time.Time { return func() time.Time { return time.Unix(at, 0) } }

func keys(t testing.TB, name string, witness bool, now func() time.Time) (note.Signer, note.Verifier) {
	t.Helper()
	skey, vkey, err := tlog.GenerateKey(rand.Reader, name, witness)
	if err != nil {
		t.Fatal(err)
	}
	s, err := tlog.NewSigner(skey, now)
	if err != nil {
		t.Fatal(err)
	}
	v, err := tlog.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	if public, err := tlog.PublicKey(skey); err != nil || public != vkey {
		t.Errorf("got the public key %q, %v, want %q", public, err, vkey)
	}
	if tlog.IsWitnessKey(v) != witness || s.KeyHash() != v.KeyHash() || s.Name() != v.Name() {
		t.Errorf("the signer and the verifier of %s do not match", name)
	}
	return s, v
}

func TestOpen(t *testing.T) {
	s, v := keys(t, logName, false, nil)
	_, other := keys(t, logName, false, nil)
	w, wv := keys(t, witnessName, true, clock(1679315147))
	c := tlog.Checkpoint{Origin: logName, Size: 3, Root: sha256.Sum256([]byte("root"))}
	msg, err := c.Sign(s, w)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := tlog.Checkpoint{Origin: "other.example.org", Size: 3, Root: c.Root}.Sign(s)
	if err != nil {
		t.Fatal(err)
	}
	onlyWitness, err := c.Sign(w)
	if err != nil {
		t.Fatal(err)
	}

	got, err := tlog.Open(msg, v, wv)
	if err != nil {
		t.Fatal(err)
	}
	want := []tlog.Cosignature{{Witness: witnessName, Time: time.Unix(1679315147, 0).UTC()}}
	if diff := cmp.Diff(want, got.Cosignatures); diff != "" {
		t.Errorf("cosignatures (-want +got):\n%s", diff)
	}
	if got, err := tlog.Open(msg, v); err != nil || len(got.Cosignatures) != 0 {
		t.Errorf("without witnesses: got %v, %v, want the checkpoint without cosignatures", got, err)
	}

	for _, tt := range []struct {
		name string
		msg  []byte
		log  note.Verifier
		want error
	}{
		{"unknown key", msg, other, tlog.ErrUnsigned},
		{"wrong origin", foreign, v, tlog.ErrOrigin},
		{"only a witness signed", onlyWitness, v, tlog.ErrUnsigned},
	} {
		if _, err := tlog.Open(tt.msg, tt.log, wv); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
	altered := bytes.Replace(msg, []byte("\n3\n"), []byte("\n4\n"), 1)
	var invalid *note.InvalidSignatureError
	if _, err := tlog.Open(altered, v, wv); !errors.As(err, &invalid) {
		t.Errorf("altered size: got %v, want an InvalidSignatureError", err)
	}
	_, err = tlog.Open(bytes.ReplaceAll(msg, []byte("\n"), []byte("\r\n")), v, wv)
	check(t, err, "carriage return")
	_, err = tlog.Open(bytes.Repeat([]byte("x"), tlog.MaxCheckpoint+1), v)
	check(t, err, "too long")
	// A signature by the key of a log is not a cosignature, and the reverse, because their hashes differ.
	if s.KeyHash() == w.KeyHash() {
		t.Error("the two types of keys have the same hash")
	}
}

// TestCosignedMessage shows that the signed message is that of tlog-cosignature, section "Ed25519
// signed message".
func TestCosignedMessage(t *testing.T) {
	skey, vkey, err := tlog.GenerateKey(rand.Reader, witnessName, true)
	if err != nil {
		t.Fatal(err)
	}
	s, err := tlog.NewSigner(skey, clock(1679315147))
	if err != nil {
		t.Fatal(err)
	}
	sig, err := s.Sign([]byte(exampleText))
	if err != nil {
		t.Fatal(err)
	}
	// A key of type 1 signs the whole message as the specification writes it.
	raw, err := base64.StdEncoding.DecodeString(strings.SplitN(vkey, "+", 3)[2])
	if err != nil {
		t.Fatal(err)
	}
	raw[0] = 1
	sum := sha256.Sum256(append([]byte(witnessName+"\n"), raw...))
	plain, err := note.NewVerifier(fmt.Sprintf("%s+%08x+%s", witnessName, binary.BigEndian.Uint32(sum[:]), base64.StdEncoding.EncodeToString(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if !plain.Verify([]byte("cosignature/v1\ntime 1679315147\n"+exampleText), sig[8:]) {
		t.Error("the signature is not over the message of the specification")
	}
	if _, err := s.Sign([]byte("no checkpoint\n")); err == nil {
		t.Error("a text that is not a checkpoint was cosigned")
	}
	v, err := tlog.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	later := slices.Clone(sig)
	later[7]++
	if v.Verify([]byte(exampleText), later) || v.Verify([]byte(exampleText), sig[:71]) || !v.Verify([]byte(exampleText), sig) {
		t.Error("a cosignature with another time or length was accepted, or the right one was not")
	}
}

func TestKeys(t *testing.T) {
	skey, vkey, err := tlog.GenerateKey(rand.Reader, logName, false)
	if err != nil {
		t.Fatal(err)
	}
	wkey, _, err := tlog.GenerateKey(rand.Reader, witnessName, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, key, rule string }{
		{"private key", skey, "never pass it"},
		{"other name", "x" + vkey, "hash does not match"},
		{"no hash", logName, "NAME+HASH+KEY"},
		{"no name", vkey[len(logName):], "NAME+HASH+KEY"},
		{"unknown type", logName + "+12345678+" + base64.StdEncoding.EncodeToString(make([]byte, 33)), "Ed25519"},
		{"short key", vkey[:len(vkey)-4], "Ed25519"},
		{"upper case hash", logName + "+ABCDEF01+" + strings.SplitN(vkey, "+", 3)[2], "hash does not match"},
		{"too long", strings.Repeat("k", 3000), "too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tlog.NewVerifier(tt.key)
			check(t, err, tt.rule)
		})
	}
	_, err = tlog.NewSigner(vkey, nil)
	check(t, err, "PRIVATE+KEY+")
	_, err = tlog.PublicKey(wkey[:len(wkey)-1])
	check(t, err, "Ed25519")
	for _, name := range []string{"", "a b", "a+b", "a\nb", "a\u00a0b"} {
		if _, _, err := tlog.GenerateKey(rand.Reader, name, false); err == nil {
			t.Errorf("a key with the name %q was made", name)
		}
	}
	// A signer of x/mod reads the keys of logs.
	if _, err := note.NewSigner(skey); err != nil {
		t.Error(err)
	}
}

func TestTilePath(t *testing.T) {
	for _, tt := range []struct {
		tile tlog.Tile
		path string
	}{
		{tlog.Tile{Level: 0, N: 0, Width: 256}, "tile/0/000"},
		{tlog.Tile{Level: 0, N: 1234067, Width: 256}, "tile/0/x001/x234/067"}, // the example of tlog-tiles
		{tlog.Tile{Level: 1, N: 1000, Width: 17}, "tile/1/x001/000.p/17"},
		{tlog.Tile{Level: tlog.EntriesLevel, N: 273, Width: 112}, "tile/entries/273.p/112"},
		{tlog.Tile{Level: 0, N: 36028797018963966, Width: 255}, "tile/0/x036/x028/x797/x018/x963/966.p/255"},
		{tlog.Tile{Level: 7, N: 0, Width: 127}, "tile/7/000.p/127"},
	} {
		if got := tt.tile.Path(); got != tt.path {
			t.Errorf("got %s, want %s", got, tt.path)
		}
		if got, err := tlog.ParseTilePath(tt.path); err != nil || got != tt.tile {
			t.Errorf("%s: got %+v, %v, want %+v", tt.path, got, err, tt.tile)
		}
	}
	for _, path := range []string{
		"", "tile", "tile/", "tile/0", "tile/0/", "/tile/0/000", "tile/0/000/", "tile/00/000", "tile/01/000", "tile/8/000", "tile/-1/000",
		"tile/64/000", "tile/x/000", "tile/data/000", "tile/0/0", "tile/0/00", "tile/0/0000", "tile/0/001/234", "tile/0/x001", "tile/0/x001/x234",
		"tile/0/x000/001", "tile/0/x1/000", "tile/0/000.p", "tile/0/000.p/", "tile/0/000.p/0", "tile/0/000.p/00", "tile/0/000.p/01", "tile/0/000.p/256",
		"tile/0/000.p/1.p/1", "tile/0/000.p/1/", "tile/0/+00", "tile/0/-01", "tile/0/０００", "tile/0/X001/000", "tile/0/x001/000/000",
		"tile/0/x999/x999/x999/x999/x999/x999/999", "tile/7/001", "tile/6/128", "tile/entries/x036/x028/x797/x018/x963/968", "tile/0/000?", "tile/0/..", strings.Repeat("tile/0/x001", 9),
	} {
		_, err := tlog.ParseTilePath(path)
		var format *tlog.FormatError
		if !errors.As(err, &format) {
			t.Errorf("%q: got %v, want a FormatError", path, err)
		}
	}
}

// TestTiles checks the example of tlog-tiles, section "Partial Tiles", and that no tile has a width
// beyond the size of the log.
func TestTiles(t *testing.T) {
	got := map[string]int{}
	for tile := range tlog.Tiles(70_000, true) {
		got[fmt.Sprintf("%d/%d", tile.Level, tile.Width)]++
		if wider := (tlog.Tile{Level: tile.Level, N: tile.N, Width: tile.Width + 1}); wider.In(70_000) || !tile.In(70_000) {
			t.Errorf("%v: a log of 70000 has it or a wider one", tile)
		}
	}
	want := map[string]int{"-1/256": 273, "-1/112": 1, "0/256": 273, "0/112": 1, "1/256": 1, "1/17": 1, "2/1": 1}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for tile := range tlog.Tiles(0, true) {
		t.Errorf("an empty log has %v", tile)
	}
	got = map[string]int{}
	for tile := range tlog.Tiles(256, false) {
		got[tile.Path()] = tile.Width
	}
	if want := map[string]int{"tile/0/000": 256, "tile/1/000.p/1": 1}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if w := tlog.WidthOf(7, 1, math.MaxInt64); w != 0 {
		t.Errorf("level 7 has %d hashes in its second tile, want 0", w)
	}
}

func TestBundle(t *testing.T) {
	var bundle []byte
	entries := [][]byte{{}, []byte("a"), bytes.Repeat([]byte("x"), tlog.MaxEntry)}
	for _, e := range entries {
		var err error
		if bundle, err = tlog.AppendEntry(bundle, e); err != nil {
			t.Fatal(err)
		}
	}
	got, err := tlog.ParseBundle(bundle, len(entries))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(entries, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		bundle []byte
		width  int
		rule   string
	}{
		{bundle, 2, "more than 2"},
		{bundle, 4, "after 3 of 4"},
		{bundle[:len(bundle)-1], 3, "inside entry 2"},
		{[]byte{0}, 1, "after 0 of 1"},
		{nil, 257, "at most 256"},
		{nil, -1, "at most 256"},
	} {
		_, err := tlog.ParseBundle(tt.bundle, tt.width)
		check(t, err, tt.rule)
	}
	if _, err := tlog.AppendEntry(nil, make([]byte, tlog.MaxEntry+1)); err == nil {
		t.Error("an entry that is too long was appended")
	}
}

// A testLog is a log in memory with its tiles as files.
type testLog struct {
	entries [][]byte
	hashes  []xtlog.Hash
}

func newLog(t testing.TB, n int) *testLog {
	t.Helper()
	l := new(testLog)
	for i := range n {
		l.add(t, []byte(fmt.Sprintf("entry %d", i)))
	}
	return l
}

func (l *testLog) add(t testing.TB, entry []byte) {
	t.Helper()
	h, err := xtlog.StoredHashes(int64(len(l.entries)), entry, l.reader())
	if err != nil {
		t.Fatal(err)
	}
	l.entries, l.hashes = append(l.entries, entry), append(l.hashes, h...)
}

func (l *testLog) reader() xtlog.HashReader {
	return xtlog.HashReaderFunc(func(indexes []int64) ([]xtlog.Hash, error) {
		h := make([]xtlog.Hash, len(indexes))
		for i, n := range indexes {
			h[i] = l.hashes[n]
		}
		return h, nil
	})
}

func (l *testLog) at(t testing.TB, size int) tlog.Checkpoint {
	t.Helper()
	h, err := xtlog.TreeHash(int64(size), l.reader())
	if err != nil {
		t.Fatal(err)
	}
	return tlog.Checkpoint{Origin: logName, Size: uint64(size), Root: h}
}

// files returns the tiles of the log as a directory.
func (l *testLog) files(t testing.TB) files {
	t.Helper()
	f := files{}
	for tile := range tlog.Tiles(uint64(len(l.entries)), true) {
		var data []byte
		for i := range tile.Width {
			n := int64(tile.N)*tlog.TileWidth + int64(i)
			if tile.Level == tlog.EntriesLevel {
				data, _ = tlog.AppendEntry(data, l.entries[n])
				continue
			}
			h := l.hashes[xtlog.StoredHashIndex(8*tile.Level, n)]
			data = append(data, h[:]...)
		}
		f[tile.Path()] = data
	}
	return f
}

type files map[string][]byte

func (f files) ReadTile(_ context.Context, path string) ([]byte, error) {
	if data, ok := f[path]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func TestTree(t *testing.T) {
	ctx := t.Context()
	l := newLog(t, 70_000)
	f := l.files(t)
	c := l.at(t, 70_000)
	tree := tlog.NewTree(f, c)
	for _, index := range []int{0, 255, 256, 65_535, 65_536, 69_999} {
		p, err := tree.ProveInclusion(ctx, uint64(index))
		if err != nil {
			t.Fatal(err)
		}
		if err := tlog.CheckInclusion(p, c, uint64(index), l.entries[index]); err != nil {
			t.Errorf("entry %d: %v", index, err)
		}
		if err := tlog.CheckInclusion(p, c, uint64(index)^1, l.entries[index]); err == nil {
			t.Errorf("entry %d: the proof also holds for its neighbour", index)
		}
	}
	for _, size := range []int{0, 1, 255, 256, 257, 65_536, 69_999, 70_000} {
		older := l.at(t, size)
		if size == 0 {
			older.Root = tlog.EmptyRoot()
		}
		p, err := tree.ProveConsistency(ctx, uint64(size))
		if err != nil {
			t.Fatal(err)
		}
		if err := tlog.CheckConsistency(p, older, c); err != nil {
			t.Errorf("size %d: %v", size, err)
		}
		if root, err := tree.RootAt(ctx, uint64(size)); err != nil || root != older.Root {
			t.Errorf("size %d: got the root %x, %v, want %x", size, root, err, older.Root)
		}
		older.Root[0] ^= 1
		if size > 0 && tlog.CheckConsistency(p, older, c) == nil {
			t.Errorf("size %d: the proof also holds for another root", size)
		}
	}
	hashes, err := tree.EntryHashes(ctx, 512, 256)
	if err != nil || hashes[3] != tlog.EntryHash(l.entries[515]) {
		t.Errorf("got the hashes %x, %v, want those of the entries", hashes, err)
	}
	if _, err := tree.EntryHashes(ctx, 69_888, 113); err == nil {
		t.Error("hashes beyond the log were returned")
	}
	if _, err := tree.ProveInclusion(ctx, 70_000); err == nil {
		t.Error("an entry beyond the log has a proof")
	}
	// A flipped bit in any tile is found by whoever reads the tile.
	for _, path := range []string{"tile/0/000", "tile/0/273.p/112", "tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1"} {
		bad := maps.Clone(f)
		bad[path] = slices.Clone(f[path])
		bad[path][0] ^= 1
		_, err := tlog.NewTree(bad, c).ProveConsistency(ctx, 1)
		var tile *tlog.TileError
		if !errors.As(err, &tile) {
			t.Errorf("%s with a flipped bit: got %v, want a TileError", path, err)
		}
		bad[path] = f[path][1:]
		_, err = tlog.NewTree(bad, c).ProveConsistency(ctx, 1)
		if !errors.As(err, &tile) || tile.Path != path {
			t.Errorf("%s too short: got %v, want a TileError with the path", path, err)
		}
	}
}

// TestPartialTileGone reads a log that has grown since its checkpoint, and no longer has the partial
// tiles (tlog-tiles, section "Partial Tiles").
func TestPartialTileGone(t *testing.T) {
	l := newLog(t, 512)
	f := l.files(t)
	delete(f, "tile/1/000.p/2")
	f["tile/1/000.p/1"] = nil
	delete(f, "tile/1/000.p/1")
	full := newLog(t, 65_536).files(t)
	maps.Copy(f, full)
	c := l.at(t, 300)
	p, err := tlog.NewTree(f, c).ProveConsistency(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	if err := tlog.CheckConsistency(p, l.at(t, 100), c); err != nil {
		t.Error(err)
	}
	bundle, err := tlog.ReadTile(t.Context(), f, tlog.Tile{Level: tlog.EntriesLevel, N: 1, Width: 44})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := tlog.ParseBundle(bundle, 44)
	if err != nil || !bytes.Equal(entries[43], l.entries[299]) {
		t.Errorf("got %v, want the first 44 entries", err)
	}
	if _, err := tlog.ReadTile(t.Context(), files{}, tlog.Tile{N: 1, Width: 44}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that the tile does not exist", err)
	}
}

func TestProof(t *testing.T) {
	s, _ := keys(t, logName, false, nil)
	l := newLog(t, 300)
	msg, err := l.at(t, 300).Sign(s)
	if err != nil {
		t.Fatal(err)
	}
	hashes, err := tlog.NewTree(l.files(t), l.at(t, 300)).ProveInclusion(t.Context(), 299)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*tlog.Proof{
		{Index: 299, Hashes: hashes, Checkpoint: msg},
		{Extra: []byte("salt"), Index: 0, Checkpoint: msg},
		{Extra: []byte{}, Index: 0, Checkpoint: msg},
	} {
		got, err := tlog.ParseProof(p.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Errorf("proof (-want +got):\n%s", diff)
		}
	}
	good := string((&tlog.Proof{Extra: []byte("salt"), Index: 299, Hashes: hashes, Checkpoint: msg}).Append(nil))
	many := func(n int) string {
		return string((&tlog.Proof{Index: 1, Hashes: make([]tlog.Hash, n), Checkpoint: msg}).Append(nil))
	}
	for _, tt := range []struct{ name, text, rule string }{
		{"63 hashes", many(63), ""},
		{"64 hashes", many(64), "at most 63 hashes"},
		{"CRLF", strings.ReplaceAll(good, "\n", "\r\n"), "carriage return"},
		{"leading zero", strings.Replace(good, "index 299", "index 0299", 1), "leading zero"},
		{"other version", strings.Replace(good, "@v1", "@v2", 1), "first line"},
		{"no index", strings.Replace(good, "index 299\n", "", 1), "line with the index"},
		{"extra not base64", strings.Replace(good, "extra ", "extra !", 1), "base64"},
		{"two extras", strings.Replace(good, "extra ", "extra YQ==\nextra ", 1), "line with the index"},
		{"no checkpoint", good[:strings.Index(good, "\n\n")+2], "signatures must follow"},
		{"broken off", good[:40], "line feed"},
		{"empty", "", "line feed"},
		{"too long", strings.Repeat("x", tlog.MaxProof+1), "too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tlog.ParseProof([]byte(tt.text))
			check(t, err, tt.rule)
		})
	}
}

func TestCheckConsistencyRefuses(t *testing.T) {
	l := newLog(t, 10)
	c := l.at(t, 10)
	other := c
	other.Root[3]++
	renamed := l.at(t, 5)
	renamed.Origin = "other.example.org"
	for _, tt := range []struct {
		name         string
		hashes       []tlog.Hash
		older, newer tlog.Checkpoint
	}{
		{"rollback", nil, c, l.at(t, 5)},
		{"fork of the same size", nil, c, other},
		{"no proof", nil, l.at(t, 5), c},
		{"other log", nil, renamed, c},
		{"hashes for the same size", make([]tlog.Hash, 1), c, c},
		{"64 hashes", make([]tlog.Hash, 64), l.at(t, 5), c},
	} {
		if err := tlog.CheckConsistency(tt.hashes, tt.older, tt.newer); !errors.Is(err, tlog.ErrProof) {
			t.Errorf("%s: got %v, want ErrProof", tt.name, err)
		}
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add([]byte(exampleText + exampleSigs))
	f.Add([]byte("o\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\nx\n\n"))
	_, v := keys(f, logName, false, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := tlog.ParseCheckpoint(string(data)); err == nil && c.Text() != string(data) {
			t.Errorf("got the text %q, want %q", c.Text(), data)
		}
		if s, err := tlog.Open(data, v); err == nil {
			t.Errorf("opened %q without the key", s.Note.Text)
		}
	})
}

func FuzzTilePath(f *testing.F) {
	f.Add("tile/0/x001/x234/067.p/12")
	f.Add("tile/entries/000")
	f.Fuzz(func(t *testing.T, path string) {
		tile, err := tlog.ParseTilePath(path)
		if err != nil {
			return
		}
		if got := tile.Path(); got != path {
			t.Errorf("got %q, want %q", got, path)
		}
		if tile.In(0) || tlog.WidthOf(tile.Level, tile.N, math.MaxInt64) < 0 {
			t.Errorf("%q is in an empty log", path)
		}
	})
}

func FuzzBundle(f *testing.F) {
	f.Add([]byte{0, 1, 'a', 0, 0}, 2)
	f.Fuzz(func(t *testing.T, data []byte, width int) {
		entries, err := tlog.ParseBundle(data, width)
		if err != nil {
			return
		}
		var again []byte
		for _, e := range entries {
			again, _ = tlog.AppendEntry(again, e)
		}
		if !bytes.Equal(again, data) || len(entries) != width {
			t.Errorf("got %d entries that give %x, want %d that give %x", len(entries), again, width, data)
		}
	})
}

func FuzzProof(f *testing.F) {
	f.Add([]byte("c2sp.org/tlog-proof@v1\nextra YQ==\nindex 3\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n" + exampleText + exampleSigs))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := tlog.ParseProof(data); err == nil && !bytes.Equal(p.Append(nil), data) {
			t.Errorf("got %q, want %q", p.Append(nil), data)
		}
	})
}

func FuzzKey(f *testing.F) {
	for _, witness := range []bool{false, true} {
		skey, vkey, err := tlog.GenerateKey(rand.Reader, logName, witness)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(skey)
		f.Add(vkey)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if v, err := tlog.NewVerifier(key); err == nil && !tlog.ValidKeyName(v.Name()) {
			t.Errorf("the key has the name %q", v.Name())
		}
		if s, err := tlog.NewSigner(key, time.Now); err == nil {
			if _, err := s.Sign([]byte(exampleText)); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestWitnessRequest(t *testing.T) {
	hash := "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
	for _, tt := range []struct{ name, text, rule string }{
		{"first", "old 0\n\n" + exampleText + exampleSigs, ""},
		{"63 lines", "old 20852014\n" + strings.Repeat(hash, 63) + "\n" + exampleText + exampleSigs, ""},
		{"64 lines", "old 20852014\n" + strings.Repeat(hash, 64) + "\n" + exampleText + exampleSigs, "at most 63 hashes"},
		{"leading zero", "old 01\n\n" + exampleText + exampleSigs, "leading zero"},
		{"no size", "old \n\n" + exampleText + exampleSigs, "number is missing"},
		{"other word", "new 0\n\n" + exampleText + exampleSigs, "must be old"},
		{"CRLF", "old 0\r\n\r\n" + exampleText + exampleSigs, "carriage return"},
		{"no checkpoint", "old 0\n\n", "signatures must follow"},
		{"wrong hash", "old 1\nabc\n\n" + exampleText + exampleSigs, "32 bytes"},
		{"too long", strings.Repeat("x", tlog.MaxWitnessRequest+1), "too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := tlog.ParseWitnessRequest([]byte(tt.text))
			check(t, err, tt.rule)
			if err == nil && string(r.Append(nil)) != tt.text {
				t.Errorf("got %q, want %q", r.Append(nil), tt.text)
			}
		})
	}
	if n, err := tlog.ParseSize([]byte(tlog.FormatSize(math.MaxInt64))); err != nil || n != math.MaxInt64 {
		t.Errorf("got %d, %v, want the largest size", n, err)
	}
	for _, body := range []string{"", "1", "01\n", "1\n\n", "1\r\n", "-1\n", strings.Repeat("9", 30) + "\n"} {
		if n, err := tlog.ParseSize([]byte(body)); err == nil {
			t.Errorf("%q: got the size %d, want an error", body, n)
		}
	}
}

func FuzzWitnessRequest(f *testing.F) {
	f.Add([]byte("old 3\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n" + exampleText + exampleSigs))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := tlog.ParseWitnessRequest(data); err == nil && !bytes.Equal(r.Append(nil), data) {
			t.Errorf("got %q, want %q", r.Append(nil), data)
		}
		if n, err := tlog.ParseSize(data); err == nil && tlog.FormatSize(n) != string(data) {
			t.Errorf("got %q, want %q", tlog.FormatSize(n), data)
		}
	})
}
