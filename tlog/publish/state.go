package publish

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
)

// SecretKey is the key of the store's secret with the state of publication.
const SecretKey = "log.published"

const stateVersion = 1

// maxStateFile is the maximum size of the file with the state, in bytes.
const maxStateFile = store.MaxSecret

// A State is the state of publication of a log.
type State struct {
	Version int    `json:"version"`
	Origin  string `json:"origin,omitempty"` // origin of the checkpoints

	// Signed is the newest signed checkpoint. Published is the newest checkpoint that clients can
	// get, with its cosignatures. While the witnesses are asked, Signed is newer than Published.
	// Both are "" before the first checkpoint.
	Signed    string `json:"signed,omitempty"`
	Published string `json:"published,omitempty"`

	// Restored is the head of the backup from which the store was restored. It is "" after the first
	// checkpoint.
	Restored string `json:"restored,omitempty"`

	// Ended has the last checkpoint of each origin that was abandoned or handed over.
	Ended []string `json:"ended,omitempty"`

	// Notes has the hand-over notes that lead from the first key of the log to the current key. See
	// [tlog.Handover].
	Notes []string `json:"notes,omitempty"`
}

func (s *State) encode() []byte {
	s.Version = stateVersion
	b, _ := json.Marshal(s) // a state has only strings and a number
	return append(b, '\n')
}

func parseState(b []byte) (*State, error) {
	s := new(State)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("the state of the published log is damaged: %w", err)
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("the state of the published log has version %d, expected %d: a newer version of the program is needed", s.Version, stateVersion)
	}
	return s, nil
}

// signed returns the newest signed checkpoint. If no checkpoint was signed, ok is false.
func (s *State) signed() (c tlog.Checkpoint, ok bool, err error) {
	if s == nil || s.Signed == "" {
		return c, false, nil
	}
	c, err = tlog.Peek([]byte(s.Signed))
	return c, err == nil, err
}

func readFile(path string) (*State, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxStateFile+1))
	if err != nil {
		return nil, err
	}
	s, err := parseState(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// MarkRestored records in the file with the state of publication that the store was restored from a
// backup with this head. If the file has a checkpoint, MarkRestored does not change it.
func MarkRestored(path string, head store.Head) error {
	s, err := readFile(path)
	if err != nil || s != nil && s.Signed != "" {
		return err
	}
	return durable.WriteFile(path, string((&State{Restored: head.String()}).encode()))
}

// LastHead returns the head of the newest checkpoint in a file with the state of publication. If
// the file has no checkpoint, ok is false. After the start of a new origin, it is a head of that
// origin.
func LastHead(path string) (h store.Head, ok bool) {
	s, err := readFile(path)
	if err != nil {
		return h, false
	}
	c, ok, err := s.signed()
	if err != nil || !ok || c.Size == 0 {
		return h, false
	}
	return store.Head{Size: c.Size, Hash: c.Root}, true
}

// load reads the state in the vault and the state in the file. It returns the state with the newer
// checkpoint, the encoded state in the vault, and the other state.
func load(ctx context.Context, v store.Vault, path string) (s *State, stored []byte, other *State, err error) {
	stored, err = v.Secret(ctx, SecretKey)
	switch {
	case errors.Is(err, store.ErrNotFound):
		stored = nil
	case err != nil:
		return nil, nil, nil, err
	default:
		if s, err = parseState(stored); err != nil {
			return nil, nil, nil, err
		}
	}
	other, err = readFile(path)
	return s, stored, other, err
}

// ReadState returns the state of publication of a store. It returns nil if nothing was published.
// The parameter path is the path of the file with a copy of the state, or "".
func ReadState(ctx context.Context, v store.Vault, path string) (*State, error) {
	s, _, filed, err := load(ctx, v, path)
	if s == nil || s.Signed == "" && filed != nil {
		s = filed
	}
	return s, err
}

// TakeOver stores the publication history of a log in a new store after a hand-over. This is the
// last checkpoint of each origin, and the hand-over notes. From these checkpoints, [OwnReceipt]
// makes receipts signed by the earlier keys. If the store already has a state, TakeOver does
// nothing.
func TakeOver(ctx context.Context, v store.Vault, ended, notes []string) error {
	if len(ended) == 0 && len(notes) == 0 {
		return nil
	}
	_, err := v.SwapSecret(ctx, SecretKey, nil, (&State{Ended: ended, Notes: notes}).encode())
	return err
}

// SignerFor returns the signer and the public key for an origin. The private key must be that of
// this origin, or of the origin that was abandoned with 'nomen log resume --accept-rollback'.
func SignerFor(skey, origin string) (signer note.Signer, vkey string, err error) {
	signer, _, vkey, err = keyFor(skey, origin)
	return signer, vkey, err
}

var errForeignKey = errors.New("the last checkpoint of this log was signed with another key; use that key, or begin a new origin (docs/howto/publish-the-log.md)")

// Rename returns the same private key under another name.
func Rename(skey, name string) (string, error) {
	if _, err := tlog.PublicKey(skey); err != nil {
		return "", err
	}
	parts := strings.SplitN(strings.TrimPrefix(skey, "PRIVATE+KEY+"), "+", 3) // the base64 may contain plus signs
	key, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(key) == 0 {
		return "", errors.New("invalid key")
	}
	renamed, _, err := tlog.GenerateKey(bytes.NewReader(key[1:]), name, false)
	return renamed, err
}

func keyFor(skey, origin string) (note.Signer, note.Verifier, string, error) {
	vkey, err := tlog.PublicKey(skey)
	if err != nil {
		return nil, nil, "", err
	}
	name, _, _ := strings.Cut(vkey, "+")
	if origin != "" && origin != name {
		if !strings.HasPrefix(origin, name+"/") {
			return nil, nil, "", fmt.Errorf("the key is for %s, but the log was published as %s", name, origin)
		}
		if skey, err = Rename(skey, origin); err == nil {
			vkey, err = tlog.PublicKey(skey)
		}
		if err != nil {
			return nil, nil, "", err
		}
	}
	verifier, err := tlog.NewVerifier(vkey)
	if err != nil {
		return nil, nil, "", err
	}
	if tlog.IsWitnessKey(verifier) {
		return nil, nil, "", errors.New("the key is that of a witness; a log needs a key of its own")
	}
	signer, err := tlog.NewSigner(skey, nil)
	return signer, verifier, vkey, err
}
