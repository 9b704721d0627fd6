package adminapi

import (
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nomen-project/nomen/store"
)

// The kinds of subjects of changes.
const (
	KindOfName      = "name"
	KindOfAuthority = "authority"
	KindOfUser      = "user"
	KindOfToken     = "token" // the rights of a token
)

// A LogQuery selects entries of the log. An empty field does not restrict the selection.
type LogQuery struct {
	After  uint64 // number of the entry after which to begin
	Until  uint64 // number of the last entry; 0 for the end of the log
	Limit  uint64 // maximum number of entries
	Who    string // who made the change: an exact ID, or the present name of a user in any letter case
	Prefix string // prefix of the key
	Kind   string // kind of the changed subject: KindOfName, KindOfAuthority, KindOfUser or KindOfToken
	Batch  string // ID of the import, relocation or undo
}

func (q LogQuery) values() url.Values {
	v := url.Values{}
	setNumber(v, "after", q.After)
	setNumber(v, "until", q.Until)
	setNumber(v, "limit", q.Limit)
	for key, text := range map[string]string{"who": q.Who, "prefix": q.Prefix, "kind": q.Kind, "batch": q.Batch} {
		setText(v, key, text)
	}
	return v
}

// Search yields the entries that q selects in the scope of the token, in the order of the log, with
// the names of users.
func (c *Client) Search(ctx context.Context, q LogQuery) iter.Seq2[Entry, error] {
	return lines[Entry](ctx, c, "changes", q.values())
}

// HeadAt returns the head that the log had at a time. If several servers write to the store, the
// accuracy of the result depends on their clocks.
func (c *Client) HeadAt(ctx context.Context, at time.Time) (store.Head, error) {
	q := url.Values{}
	setTime(q, "at", at)
	j, err := request[Head](ctx, c, http.MethodGet, "head", q, nil)
	if err != nil {
		return store.Head{}, err
	}
	return j.head()
}

// A Proof is the response to GET changes/{seq}. It has a change and the proof that the log with a
// certain head contains the change (RFC 6962, section 2.1.1).
type Proof struct {
	Entry  Entry    `json:"entry"`
	Head   Head     `json:"head"`
	Hashes []string `json:"hashes"` // in hex
}

// NewProof returns the JSON form of a proof.
func NewProof(e Entry, h store.Head, hashes [][32]byte) Proof {
	p := Proof{Entry: e, Head: NewHead(h), Hashes: []string{}}
	for i := range hashes {
		p.Hashes = append(p.Hashes, hex.EncodeToString(hashes[i][:]))
	}
	return p
}

const maxProof = 64

// Parts converts a proof to the types of package store.
func (p Proof) Parts() (e *store.Entry, h store.Head, hashes [][32]byte, err error) {
	if len(p.Hashes) > maxProof {
		return nil, h, nil, fmt.Errorf("adminapi: a proof with %d hashes, expected at most %d", len(p.Hashes), maxProof)
	}
	if e, err = p.Entry.Stored(); err == nil {
		h, err = p.Head.head()
	}
	if err != nil {
		return nil, h, nil, err
	}
	hashes = make([][32]byte, len(p.Hashes))
	for i, text := range p.Hashes {
		if err := unhex(hashes[i][:], text); err != nil {
			return nil, h, nil, fmt.Errorf("adminapi: hash %d of the proof: %w", i+1, err)
		}
	}
	return e, h, hashes, nil
}

// Prove returns the proof that the log contains the change seq. If size is not 0, the proof is for
// the head of the log at this size.
func (c *Client) Prove(ctx context.Context, seq, size uint64) (Proof, error) {
	q := url.Values{}
	setNumber(q, "size", size)
	return request[Proof](ctx, c, http.MethodGet, "changes/"+strconv.FormatUint(seq, 10), q, nil)
}
