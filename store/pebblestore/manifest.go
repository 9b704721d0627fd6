package pebblestore

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/store"
)

// manifestFile is the manifest of a backup, which lists the files. The last line contains the
// SHA-256 hash of all previous lines. The manifest is written last, so a complete manifest shows
// that the backup is complete.
const manifestFile = "backup.jsonl"

// manifestFormat and manifestVersion are in the first line of every manifest.
// docs/reference/files.md has the history of the versions.
const (
	manifestFormat  = "nomen-backup"
	manifestVersion = 1
)

// Limits for reading a manifest.
const (
	maxManifest      = 256 << 20 // length, in bytes
	maxManifestFiles = 1 << 20
)

// ErrBackup is returned by [Open] if a backup is to be opened for writing, which would invalidate
// the manifest.
var ErrBackup = errors.New("this is a backup, which must not be changed: restore it to another directory")

// A Manifest describes a backup and lists its files.
type Manifest struct {
	Made    time.Time // when the backup began
	Program string    // version of the program that made the backup; "" if unknown
	Format  uint64    // version of the store format
	Rules   uint64    // version of the rules of names
	Head    store.Head
	Files   []BackupFile // files in the order of their names
}

// A BackupFile is a file of a backup.
type BackupFile struct {
	Name   string
	Size   int64
	SHA256 [32]byte
}

// A ManifestError reports that the manifest of a backup, or the manifest of the database of a
// store, cannot be used.
type ManifestError struct {
	File    string
	Problem string
}

func (e *ManifestError) Error() string { return e.File + ": " + e.Problem }

type (
	manifestHead struct {
		Format  string    `json:"format"`
		Version int       `json:"version"`
		Made    time.Time `json:"made"`
		Program string    `json:"program,omitempty"`
		Store   uint64    `json:"store"`
		Rules   uint64    `json:"rules"`
		Head    string    `json:"head"`
		Files   int       `json:"files"` // number of file lines that follow
	}
	manifestLine struct {
		Name   string `json:"name"`
		Size   int64  `json:"size"`
		SHA256 string `json:"sha256"`
	}
	manifestEnd struct {
		Manifest string `json:"manifest"` // SHA-256 of the lines before this one
	}
)

// beginManifest writes an incomplete manifest. It distinguishes an unfinished backup from a backup
// whose manifest is missing.
func beginManifest(files vfs.FS, dir string) error {
	return writeManifestText(files, dir, []byte(`{"format":"`+manifestFormat+`","version":1}`+"\n"))
}

func writeManifest(files vfs.FS, dir string, m *Manifest) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	head := manifestHead{manifestFormat, manifestVersion, m.Made, m.Program, m.Format, m.Rules, m.Head.String(), len(m.Files)}
	err := e.Encode(head)
	for _, f := range m.Files {
		err = errors.Join(err, e.Encode(manifestLine{f.Name, f.Size, hex.EncodeToString(f.SHA256[:])}))
	}
	sum := sha256.Sum256(b.Bytes())
	if err := errors.Join(err, e.Encode(manifestEnd{hex.EncodeToString(sum[:])})); err != nil {
		return err
	}
	return writeManifestText(files, dir, b.Bytes())
}

func writeManifestText(files vfs.FS, dir string, text []byte) error {
	return durable.Write(disk{files}, files.PathJoin(dir, manifestFile), text)
}

// ReadManifest returns the manifest of the backup in a directory, without reading other files. If
// there is no manifest, the error is [fs.ErrNotExist]. If the manifest is damaged or incomplete,
// the error is a [*ManifestError].
func ReadManifest(dir string) (*Manifest, error) { return readManifest(vfs.Default, dir) }

// Size returns the total size of the files of the backup, in bytes.
func (m *Manifest) Size() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

func readManifest(files vfs.FS, dir string) (*Manifest, error) {
	path := files.PathJoin(dir, manifestFile)
	info, err := files.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // opening a pipe would block until another program writes to it
		return nil, &ManifestError{path, "not a regular file"}
	}
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, &ManifestError{path, "cannot be read: " + err.Error()}
	}
	m, problem := parseManifest(text)
	if problem != "" {
		return nil, &ManifestError{path, problem}
	}
	return m, nil
}

// parseManifest parses a manifest. The result problem is the reason why the manifest is invalid, or
// "".
func parseManifest(text []byte) (m *Manifest, problem string) {
	body, last := text, []byte(nil)
	if bytes.HasSuffix(text, []byte("\n")) {
		at := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
		body, last = text[:at], text[at:]
	}
	var end manifestEnd
	if err := json.Unmarshal(last, &end); err != nil || end.Manifest == "" {
		return nil, "the last line is missing: the backup was interrupted, or the file is truncated"
	}
	if sum := sha256.Sum256(body); end.Manifest != hex.EncodeToString(sum[:]) {
		return nil, "damaged: its SHA-256 does not match its last line"
	}
	return parseManifestBody(body)
}

// parseManifestBody parses a manifest without the last line. The hash in the last line has been
// checked, so an error means that another program wrote the manifest.
func parseManifestBody(body []byte) (m *Manifest, problem string) {
	lines := bufio.NewScanner(bytes.NewReader(body))
	next := func(v any) bool { return lines.Scan() && json.Unmarshal(lines.Bytes(), v) == nil }
	var head manifestHead
	switch {
	case !next(&head) || head.Format != manifestFormat:
		return nil, "this is not the manifest of a backup"
	case head.Version != manifestVersion:
		return nil, fmt.Sprintf("unsupported manifest version %d, expected %d", head.Version, manifestVersion)
	case head.Files < 0 || head.Files > maxManifestFiles:
		return nil, fmt.Sprintf("it lists %d files, more than the limit of %d", head.Files, maxManifestFiles)
	}
	m = &Manifest{Made: head.Made, Program: head.Program, Format: head.Store, Rules: head.Rules}
	var err error
	if m.Head, err = store.ParseHead(head.Head); err != nil || m.Head.String() != head.Head {
		return nil, fmt.Sprintf("invalid head %q", head.Head)
	}
	for range head.Files {
		var line manifestLine
		ok := next(&line) && line.Size >= 0 && isEngineFile(line.Name)
		sum, err := hex.DecodeString(line.SHA256)
		if !ok || err != nil || len(sum) != sha256.Size {
			return nil, fmt.Sprintf("line %d is invalid", len(m.Files)+2)
		}
		m.Files = append(m.Files, BackupFile{line.Name, line.Size, [32]byte(sum)})
	}
	if lines.Scan() {
		return nil, fmt.Sprintf("it has more lines than the %d files that its first line announces", head.Files)
	}
	if !slices.IsSortedFunc(m.Files, func(a, b BackupFile) int { return strings.Compare(a.Name, b.Name) }) {
		return nil, "the files are not sorted by name"
	}
	return m, ""
}

func refuseBackup(files vfs.FS, dir string) error {
	there, err := isThere(files, files.PathJoin(dir, manifestFile))
	if err == nil && there {
		err = ErrBackup
	}
	return err
}
