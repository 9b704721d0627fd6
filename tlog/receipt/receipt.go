// Package receipt implements receipts of changes. A receipt is a file with which anyone can verify
// offline that the published log of a store contains a change, and what was changed.
//
// A receipt is a proof of C2SP (https://c2sp.org/tlog-proof), which other programs can read. Its
// extra data are JSON ([Extra]): the leaf of the change, and the salt and content from which the
// digest in the leaf was computed.
package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
)

// MediaType is the media type of a receipt.
const MediaType = "text/plain; charset=utf-8"

// Extension is the extension of files with receipts (tlog-proof).
const Extension = ".tlog-proof"

// Values of [Extra].Format, which contain the version of the format. A receipt has the second
// version only if it contains a private hash.
const (
	format1 = "nomen-receipt/1"
	format2 = "nomen-receipt/2"
)

// A Content is the amount of content that a receipt has of a change.
type Content int

const (
	None   Content = iota
	Public         // the public part, if the digest of the change is split; otherwise nothing
	All
)

// An Extra is the extra data of a receipt. [Check] verifies all of it against the proof.
type Extra struct {
	Format string `json:"format"`
	Part

	// Redaction is the change that removed the content of this change, or nil.
	Redaction *Redaction `json:"redaction,omitempty"`
}

// A Part is the leaf of a change and its content. If Salt is set, Content is the value of the
// change (docs/reference/files.md#values). If PrivateHash is set, Content is the public part of the
// value, and PrivateHash is the hash of the private part. If neither is set, there is no content.
type Part struct {
	Leaf        []byte `json:"leaf"`
	Salt        []byte `json:"salt,omitempty"`
	Content     []byte `json:"content,omitempty"`
	PrivateHash []byte `json:"private_hash,omitempty"`
}

// A Redaction is a change that removed content, and the proof that the log contains this change.
type Redaction struct {
	Part
	Index  uint64   `json:"index"`
	Hashes [][]byte `json:"hashes,omitempty"`
}

// New returns the receipt for an entry. The parameter content determines how much content the
// receipt has. The hashes prove that the entry is in the log with the signed checkpoint.
func New(e *store.Entry, content Content, hashes []tlog.Hash, checkpoint []byte, redaction *Redaction) []byte {
	extra := Extra{Format: format1, Part: NewPart(e, content), Redaction: redaction}
	if extra.hasPrivateHash() {
		extra.Format = format2
	}
	b, _ := json.Marshal(extra) // extra has only bytes, numbers and strings
	p := tlog.Proof{Extra: b, Index: e.Seq - 1, Hashes: hashes, Checkpoint: checkpoint}
	return p.Append(nil)
}

func (e *Extra) hasPrivateHash() bool {
	return len(e.PrivateHash) > 0 || e.Redaction != nil && len(e.Redaction.PrivateHash) > 0
}

// NewPart returns the leaf of an entry, and as much of its content as the parameter content
// determines. A redacted entry has no content.
func NewPart(e *store.Entry, content Content) Part {
	p := Part{Leaf: codec.AppendLeaf(nil, e)}
	if content == None || e.Change.Redacted {
		return p
	}
	value := codec.Append(nil, e.Change)
	if content == All {
		p.Salt, p.Content = bytes.Clone(e.Salt[:]), value
		return p
	}
	if public, private, ok := codec.SplitValue(value); ok {
		hash := codec.SaltedHash(e.Salt, private)
		p.Content, p.PrivateHash = public, hash[:]
	}
	return p
}

// A Result is what a verified receipt proves.
type Result struct {
	Log        *tlog.Signed
	Seq        uint64        // number of the change, from 1
	Leaf       *codec.Leaf   // the parsed leaf of the change
	Hash       tlog.Hash     // hash of the leaf
	Change     *store.Change // the content; nil if the receipt does not have it
	Public     bool          // Change has only the public content, for example without the author
	RedactedBy *Result       // the change that removed the content, or nil
}

// Errors of [Check].
var (
	ErrFormat  = errors.New("not a receipt of nomen: the extra data of the proof are missing or invalid")
	ErrContent = errors.New("the content does not match the digest or the status in the log")
	ErrRemoved = errors.New("the receipt says that another change removed the content, but this is not so")
)

// Parse parses a receipt without verifying it.
func Parse(data []byte) (*tlog.Proof, *Extra, error) {
	p, err := tlog.ParseProof(data)
	if err != nil {
		return nil, nil, err
	}
	var e Extra
	d := json.NewDecoder(bytes.NewReader(p.Extra))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil || d.More() || e.Format != format1 && e.Format != format2 || e.hasPrivateHash() != (e.Format == format2) {
		return nil, nil, ErrFormat
	}
	if e.Redaction != nil && len(e.Redaction.Hashes) > tlog.MaxProofHashes {
		return nil, nil, ErrFormat
	}
	return p, &e, nil
}

// Check verifies a receipt with the public keys of the log and of witnesses. It does not use the
// network. It returns the errors of [Parse], [tlog.Open] and [tlog.CheckInclusion], and
// [ErrContent] and [ErrRemoved].
func Check(data []byte, log note.Verifier, witnesses ...note.Verifier) (*Result, error) {
	p, extra, err := Parse(data)
	if err != nil {
		return nil, err
	}
	signed, err := tlog.Open(p.Checkpoint, log, witnesses...)
	if err != nil {
		return nil, err
	}
	r, err := check(signed, extra.Part, p.Index, p.Hashes)
	if err != nil || extra.Redaction == nil {
		return r, err
	}
	hashes := make([]tlog.Hash, len(extra.Redaction.Hashes))
	for i, h := range extra.Redaction.Hashes {
		if copy(hashes[i][:], h) != len(hashes[i]) || len(h) != len(hashes[i]) {
			return nil, ErrFormat
		}
	}
	by, err := check(signed, extra.Redaction.Part, extra.Redaction.Index, hashes)
	if err != nil {
		return nil, fmt.Errorf("redaction: %w", err)
	}
	if by.Leaf.Subject != r.Leaf.Subject || !contains(by.Leaf.Redacts, r.Leaf.Revision) {
		return nil, ErrRemoved
	}
	r.RedactedBy = by
	return r, nil
}

func contains(list []uint64, n uint64) bool {
	for _, m := range list {
		if m == n {
			return true
		}
	}
	return false
}

func check(signed *tlog.Signed, part Part, index uint64, hashes []tlog.Hash) (*Result, error) {
	if err := tlog.CheckInclusion(hashes, signed.Checkpoint, index, part.Leaf); err != nil {
		return nil, err
	}
	leaf, err := codec.ParseLeaf(part.Leaf)
	if err != nil {
		return nil, err
	}
	r := &Result{Log: signed, Seq: index + 1, Leaf: leaf, Hash: tlog.EntryHash(part.Leaf)}
	switch {
	case len(part.Content) == 0 && len(part.Salt) == 0 && len(part.PrivateHash) == 0:
		return r, nil
	case len(part.PrivateHash) == sha256.Size && len(part.Salt) == 0 && codec.PublicDigest(part.Content, [sha256.Size]byte(part.PrivateHash)) == leaf.Digest:
		r.Public = true
		r.Change, err = codec.DecodePublic(leaf.Subject, part.Content)
	case len(part.Salt) == store.SaltSize && len(part.PrivateHash) == 0 && codec.Digest([store.SaltSize]byte(part.Salt), part.Content) == leaf.Digest:
		r.Change, err = codec.Decode(leaf.Subject, part.Content)
	default:
		return nil, ErrContent
	}
	if err != nil {
		return nil, err
	}
	// A malicious log could contain a leaf whose status, time or revision differs from the content.
	if !bytes.Equal(codec.AppendLeaf(nil, &store.Entry{Change: r.Change, Digest: leaf.Digest}), part.Leaf) {
		return nil, ErrContent
	}
	return r, nil
}
