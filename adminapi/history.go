package adminapi

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// History is the response to GET names/{name}/history and GET authorities/{prefix}/history. In the
// format JSON Lines, the response is a sequence of all [Revision]s instead.
type History struct {
	Revisions []Revision `json:"revisions"`
	Truncated bool       `json:"truncated,omitempty"` // there are older revisions
}

// A Revision is one change of a name, an authority or a user.
type Revision struct {
	Revision  uint64           `json:"revision"`
	Time      time.Time        `json:"time"`
	Who       string           `json:"who,omitempty"`      // "" for the operator of the machine
	WhoName   string           `json:"who_name,omitempty"` // present name of Who, if Who is a user
	Why       string           `json:"why,omitempty"`
	Batch     string           `json:"batch,omitempty"`     // ID of the import, relocation or undo to which it belongs
	Record    *store.Record    `json:"record,omitempty"`    // the record after this change; absent if the name was deleted
	Authority *store.Authority `json:"authority,omitempty"` // the authority after this change
	User      *store.User      `json:"user,omitempty"`      // the user after this change
	Redacts   []uint64         `json:"redacts,omitempty"`   // earlier revisions whose content this change removed
	Redacted  bool             `json:"redacted,omitempty"`  // a later change removed the content, Who and Why of this revision
}

// NewRevision returns the revision for a change of a name, an authority or a user.
func NewRevision(c *store.Change) Revision {
	return Revision{
		Revision: c.Revision(), Time: c.Time, Who: c.Who, Why: c.Why, Batch: c.Batch,
		Record: c.Record, Authority: c.Authority, User: c.User, Redacts: c.Redacts, Redacted: c.Redacted,
	}
}

// A Redaction is the body of POST names/{name}/redact, authorities/{prefix}/redact,
// users/{id}/redact and tokens/{id}/redact.
type Redaction struct {
	registrar.Redaction
	Expected *uint64 `json:"expected,omitempty"` // expected revision; absent if any revision is accepted
}

// Registrar converts r to a redaction of package registrar.
func (r Redaction) Registrar() registrar.Redaction {
	red := r.Redaction
	red.Expected = revisionOrAny(r.Expected)
	return red
}

// An Entry is one line of the response to GET changes: the JSON form of a [store.Entry]. Exactly
// one of Record, Authority, User, Rights and Deleted is set.
type Entry struct {
	Seq       uint64             `json:"seq"` // the value of "after" for continuing after this entry
	Key       string             `json:"key"` // key of the name, prefix of the authority, or ID of the user or token
	Revision  uint64             `json:"revision"`
	Time      time.Time          `json:"time"`
	Who       string             `json:"who,omitempty"`
	WhoName   string             `json:"who_name,omitempty"` // as in a Revision
	Why       string             `json:"why,omitempty"`
	Batch     string             `json:"batch,omitempty"` // as in a Revision
	Record    *store.Record      `json:"record,omitempty"`
	Authority *store.Authority   `json:"authority,omitempty"`
	User      *store.User        `json:"user,omitempty"`
	Rights    *store.TokenRights `json:"rights,omitempty"`  // of a token
	Deleted   bool               `json:"deleted,omitempty"` // a reserved name was deleted
	Redacts   []uint64           `json:"redacts,omitempty"`
	Redacted  bool               `json:"redacted,omitempty"`
	Split     bool               `json:"split,omitempty"` // the digest has two parts (see docs/reference/files.md)
	Salt      string             `json:"salt,omitempty"`  // in hex, like the digest; empty if redacted
	Digest    string             `json:"digest"`
}

func NewEntry(e *store.Entry) Entry {
	c := e.Change
	j := Entry{
		Seq: e.Seq, Key: c.Subject().Key, Revision: c.Revision(), Time: c.Time, Who: c.Who, Why: c.Why, Batch: c.Batch,
		Record: c.Record, Authority: c.Authority, User: c.User, Rights: c.Rights, Deleted: !c.Delete.IsZero(),
		Redacts: c.Redacts, Redacted: c.Redacted, Split: c.Split, Digest: hex.EncodeToString(e.Digest[:]),
	}
	if !c.Redacted {
		j.Salt = hex.EncodeToString(e.Salt[:])
	}
	return j
}

// Stored converts j to a [store.Entry].
func (j Entry) Stored() (*store.Entry, error) {
	c := &store.Change{
		Authority: j.Authority, User: j.User, Rights: j.Rights, Expected: j.Revision - 1, Time: j.Time, Who: j.Who, Why: j.Why, Batch: j.Batch,
		Redacts: j.Redacts, Redacted: j.Redacted, Split: j.Split,
	}
	subjects := 0
	for _, there := range [...]bool{j.Record != nil, j.Authority != nil, j.User != nil, j.Rights != nil, j.Deleted} {
		if there {
			subjects++
		}
	}
	switch {
	case j.Revision == 0:
		return nil, fmt.Errorf("adminapi: change %d has no revision", j.Seq)
	case j.Key == "" || subjects != 1:
		return nil, fmt.Errorf("adminapi: change %d must be about exactly one record, authority, user or token; a newer version of the program may be needed", j.Seq)
	case j.Authority != nil && j.Authority.Prefix.String() != j.Key:
		return nil, fmt.Errorf("adminapi: change %d: prefix %q does not match key %q", j.Seq, j.Authority.Prefix, j.Key)
	case j.User != nil && j.User.ID != j.Key:
		return nil, fmt.Errorf("adminapi: change %d: user %q does not match key %q", j.Seq, j.User.ID, j.Key)
	case j.Rights != nil && j.Rights.ID != j.Key:
		return nil, fmt.Errorf("adminapi: change %d: token %q does not match key %q", j.Seq, j.Rights.ID, j.Key)
	case j.Record != nil:
		record := *j.Record
		record.Name = name.FromKey(j.Key)
		c.Record = &record
	case j.Deleted:
		c.Delete = name.FromKey(j.Key)
	}
	e := &store.Entry{Seq: j.Seq, Change: c.Clone()}
	if err := unhex(e.Digest[:], j.Digest); err != nil {
		return nil, fmt.Errorf("adminapi: change %d: digest: %w", j.Seq, err)
	}
	if j.Redacted {
		return e, nil
	}
	if err := unhex(e.Salt[:], j.Salt); err != nil {
		return nil, fmt.Errorf("adminapi: change %d: salt: %w", j.Seq, err)
	}
	return e, nil
}

// unhex decodes s into dst. It returns an error if the decoded data do not fill dst.
func unhex(dst []byte, s string) error {
	if len(s) != 2*len(dst) {
		return fmt.Errorf("%d hexadecimal digits, expected %d", len(s), 2*len(dst))
	}
	_, err := hex.Decode(dst, []byte(s))
	return err
}

// A Head is the response to GET head: the JSON form of a [store.Head].
type Head struct {
	Size  uint64   `json:"size"`
	Hash  string   `json:"hash"`            // in hex
	Proof []string `json:"proof,omitempty"` // proof that the log begins with the log of the size in the parameter "since" (see [store.Prover])

	// Published is the state of the published log. It is nil if the log is not published, and in
	// responses with a proof.
	Published *PublishedLog `json:"published,omitempty"`
}

// A PublishedLog is the state of a published log.
type PublishedLog struct {
	Origin   string         `json:"origin,omitempty"` // origin line of the checkpoints
	Key      string         `json:"key,omitempty"`    // the public key
	Size     uint64         `json:"size"`             // entries in the published checkpoint
	Time     *time.Time     `json:"time,omitempty"`   // when the server first had this checkpoint
	Waiting  uint64         `json:"waiting"`          // entries that are not published yet
	Problem  string         `json:"problem,omitempty"`
	Cosigned int            `json:"cosigned"` // cosignatures of the checkpoint
	Needed   int            `json:"needed"`   // number of cosignatures that the checkpoint should have
	Asked    []AskedWitness `json:"witnesses,omitempty"`
}

// An AskedWitness is the last answer of a witness that was asked to cosign.
type AskedWitness struct {
	Name    string     `json:"name"`
	URL     string     `json:"url"`
	Time    *time.Time `json:"time,omitempty"` // of the cosignature, by the clock of the witness
	Problem string     `json:"problem,omitempty"`
}

func NewHead(h store.Head) Head { return Head{Size: h.Size, Hash: hex.EncodeToString(h.Hash[:])} }

func (j Head) head() (store.Head, error) {
	h := store.Head{Size: j.Size}
	if err := unhex(h.Hash[:], j.Hash); err != nil {
		return h, fmt.Errorf("adminapi: hash of the head: %w", err)
	}
	return h, nil
}

// A Place is one line of the response to GET find: the JSON form of a [store.Place].
type Place struct {
	URL string `json:"url"`
	Key string `json:"name"` // in canonical form
}

// ParseTime parses the time of an earlier state. The time has the format of RFC 3339, in which "T"
// and "Z" may be in lower case (RFC 3339, section 5.6). A date stands for the last moment of that
// day in UTC.
func ParseTime(s string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, s); err == nil && day.Year() >= 1 {
		return day.AddDate(0, 0, 1).Add(-time.Millisecond), nil
	}
	t, err := time.Parse(time.RFC3339, strings.ToUpper(s))
	if err != nil || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, fmt.Errorf("invalid time %.40q: must be a time such as 2006-01-02T15:04:05Z or a date such as 2006-01-02", s)
	}
	return t.UTC(), nil
}

func setTime(q url.Values, name string, t time.Time) {
	if !t.IsZero() {
		q.Set(name, t.UTC().Format(time.RFC3339Nano))
	}
}

func setNumber(q url.Values, name string, n uint64) {
	if n > 0 {
		q.Set(name, strconv.FormatUint(n, 10))
	}
}

// Revisions yields the revisions of n, newest first, while it receives them. It yields
// [store.ErrNotFound] for an unknown name.
func (c *Client) Revisions(ctx context.Context, n name.Name) iter.Seq2[Revision, error] {
	return lines[Revision](ctx, c, namePath(n)+"/history", url.Values{"format": {"jsonl"}})
}

// Known reports whether n has a record, or had one that was deleted.
func (c *Client) Known(ctx context.Context, n name.Name) (bool, error) {
	for _, err := range c.Revisions(ctx, n) {
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	return false, nil
}

// Redact removes the content of revisions of n; see [registrar.Registrar.Redact].
func (c *Client) Redact(ctx context.Context, n name.Name, r registrar.Redaction) (registrar.Outcome, error) {
	return c.changeName(ctx, n, http.MethodPost, "/redact", nil, Redaction{r, revisionOrNil(r.Expected)})
}

// RedactAuthority removes the content of revisions of an authority; see
// [registrar.Registrar.RedactAuthority].
func (c *Client) RedactAuthority(ctx context.Context, p name.Prefix, r registrar.Redaction) (registrar.Outcome, error) {
	return c.change(ctx, http.MethodPost, prefixPath(p)+"/redact", nil, Redaction{r, revisionOrNil(r.Expected)})
}

// Changes yields the changes that follow an entry of the log, in the order of the log. It yields
// only changes in the scope of the token (see [store.Feed]).
func (c *Client) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	return converted(c.Entries(ctx, after), Entry.Stored)
}

// Entries is like [Client.Changes], but yields the entries in their JSON form, with the names of
// users.
func (c *Client) Entries(ctx context.Context, after uint64) iter.Seq2[Entry, error] {
	q := url.Values{}
	setNumber(q, "after", after)
	return lines[Entry](ctx, c, "changes", q)
}

// AuthorityHistory yields the changes of the authority whose prefix is exactly p, newest first,
// while it receives them. It yields nothing for an unknown prefix.
func (c *Client) AuthorityHistory(ctx context.Context, p name.Prefix) iter.Seq2[*store.Change, error] {
	return revisionsOf(ctx, c, prefixPath(p), p.String(), func(r Revision, change *store.Change) bool {
		change.Authority = r.Authority
		return r.Authority != nil
	})
}

// AuthorityRevisions is like [Client.AuthorityHistory], but yields the revisions in their JSON
// form, with the names of users, and [store.ErrNotFound] for an unknown prefix.
func (c *Client) AuthorityRevisions(ctx context.Context, p name.Prefix) iter.Seq2[Revision, error] {
	return lines[Revision](ctx, c, prefixPath(p)+"/history", url.Values{"format": {"jsonl"}})
}

// revisionsOf yields the changes in the history of an authority or a user, and nothing for an
// unknown subject. The function content sets the content of a change, and reports whether the
// revision has content. The parameter noun is the word for the subject in errors.
func revisionsOf(ctx context.Context, c *Client, path, noun string, content func(Revision, *store.Change) bool) iter.Seq2[*store.Change, error] {
	all := converted(lines[Revision](ctx, c, path+"/history", url.Values{"format": {"jsonl"}}), func(r Revision) (*store.Change, error) {
		change := &store.Change{
			Expected: r.Revision - 1, Time: r.Time, Who: r.Who, Why: r.Why, Batch: r.Batch,
			Redacts: r.Redacts, Redacted: r.Redacted,
		}
		if !content(r, change) || r.Revision == 0 {
			return nil, fmt.Errorf("adminapi: %s: revision without content or number", noun)
		}
		return change, nil
	})
	return knownOnly(all)
}

// Head returns the head of the log; see [store.Feed].
func (c *Client) Head(ctx context.Context) (store.Head, error) {
	var j Head
	if _, err := c.call(ctx, http.MethodGet, "head", nil, nil, &j); err != nil {
		return store.Head{}, err
	}
	return j.head()
}

// PublishedLog returns the state of the published log, or nil if the log is not published.
func (c *Client) PublishedLog(ctx context.Context) (*PublishedLog, error) {
	var j Head
	_, err := c.call(ctx, http.MethodGet, "head", nil, nil, &j)
	return j.Published, err
}

// ProveHead returns a proof that the first oldSize entries of the log are unchanged in the log of
// newSize entries (see [store.Prover]).
func (c *Client) ProveHead(ctx context.Context, newSize, oldSize uint64) ([][32]byte, error) {
	q := url.Values{"size": {strconv.FormatUint(newSize, 10)}, "since": {strconv.FormatUint(oldSize, 10)}}
	var j Head
	if _, err := c.call(ctx, http.MethodGet, "head", q, nil, &j); err != nil {
		return nil, err
	}
	proof := make([][32]byte, len(j.Proof))
	for i, text := range j.Proof {
		if err := unhex(proof[i][:], text); err != nil {
			return nil, fmt.Errorf("adminapi: proof: %w", err)
		}
	}
	return proof, nil
}

// Find yields the locations that begin with prefix and are in the scope of the token (see
// [store.Finder]).
func (c *Client) Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error] {
	q := url.Values{"location": {prefix}}
	if after != (store.Place{}) {
		q.Set("after_url", after.URL)
		q.Set("after_name", after.Name.Key())
	}
	return converted(lines[Place](ctx, c, "find", q), func(j Place) (store.Place, error) {
		return store.Place{URL: j.URL, Name: name.FromKey(j.Key)}, nil
	})
}
