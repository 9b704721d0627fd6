package adminapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// History is the response to GET names/{name}/history and GET
// authorities/{prefix}/history, unless JSON Lines are requested, which have no limit.
type History struct {
	Revisions []Revision `json:"revisions"`
	Truncated bool       `json:"truncated,omitempty"` // there are older revisions
}

// A Revision is one change of a name or an authority.
type Revision struct {
	Revision  uint64           `json:"revision"`
	Time      time.Time        `json:"time"`
	Who       string           `json:"who,omitempty"` // "" for the operator of the machine
	Why       string           `json:"why,omitempty"`
	Batch     string           `json:"batch,omitempty"`     // ID of the import, relocation or undo to which it belongs
	Record    *store.Record    `json:"record,omitempty"`    // the record from then on; absent if it was deleted
	Authority *store.Authority `json:"authority,omitempty"` // the authority from then on
	Redacts   []uint64         `json:"redacts,omitempty"`   // earlier revisions whose content it removed
	Redacted  bool             `json:"redacted,omitempty"`  // its own content, who and why were removed
}

// NewRevision returns the revision for a change of a name or an authority.
func NewRevision(c *store.Change) Revision {
	return Revision{
		Revision: c.Revision(), Time: c.Time, Who: c.Who, Why: c.Why, Batch: c.Batch,
		Record: c.Record, Authority: c.Authority, Redacts: c.Redacts, Redacted: c.Redacted,
	}
}

// A Redaction is the body of POST names/{name}/redact and of POST
// authorities/{prefix}/redact.
type Redaction struct {
	registrar.Redaction
	Expected *uint64 `json:"expected,omitempty"` // revision; absent for any
}

// Registrar converts r to a redaction of the registrar.
func (r Redaction) Registrar() registrar.Redaction {
	red := r.Redaction
	red.Expected = expected(r.Expected)
	return red
}

// An Entry is one line of the response to GET changes: the JSON form of a [store.Entry].
// It has exactly one of Record, Authority and Deleted.
type Entry struct {
	Seq       uint64           `json:"seq"` // pass it as "after" to continue after this entry
	Key       string           `json:"key"` // of the name, or the prefix of the authority
	Revision  uint64           `json:"revision"`
	Time      time.Time        `json:"time"`
	Who       string           `json:"who,omitempty"`
	Why       string           `json:"why,omitempty"`
	Batch     string           `json:"batch,omitempty"` // as in a Revision
	Record    *store.Record    `json:"record,omitempty"`
	Authority *store.Authority `json:"authority,omitempty"`
	Deleted   bool             `json:"deleted,omitempty"` // a reserved name was deleted
	Redacts   []uint64         `json:"redacts,omitempty"`
	Redacted  bool             `json:"redacted,omitempty"`
	Salt      string           `json:"salt,omitempty"` // in hex, like the digest; empty if redacted
	Digest    string           `json:"digest"`
}

// NewEntry returns the JSON form of e.
func NewEntry(e *store.Entry) Entry {
	c := e.Change
	j := Entry{
		Seq: e.Seq, Key: c.Subject().Key, Revision: c.Revision(), Time: c.Time, Who: c.Who, Why: c.Why, Batch: c.Batch,
		Record: c.Record, Authority: c.Authority, Deleted: !c.Delete.IsZero(),
		Redacts: c.Redacts, Redacted: c.Redacted, Digest: hex.EncodeToString(e.Digest[:]),
	}
	if !c.Redacted {
		j.Salt = hex.EncodeToString(e.Salt[:])
	}
	return j
}

// entry converts j to an entry of a store.
func (j Entry) entry() (*store.Entry, error) {
	c := &store.Change{
		Authority: j.Authority, Expected: j.Revision - 1, Time: j.Time, Who: j.Who, Why: j.Why, Batch: j.Batch,
		Redacts: j.Redacts, Redacted: j.Redacted,
	}
	subjects := 0
	for _, there := range [...]bool{j.Record != nil, j.Authority != nil, j.Deleted} {
		if there {
			subjects++
		}
	}
	switch {
	case j.Revision == 0:
		return nil, fmt.Errorf("adminapi: change %d has no revision", j.Seq)
	case j.Key == "" || subjects != 1:
		return nil, fmt.Errorf("adminapi: change %d must be about exactly one record or authority", j.Seq)
	case j.Authority != nil && j.Authority.Prefix.String() != j.Key:
		return nil, fmt.Errorf("adminapi: change %d: prefix %q does not match key %q", j.Seq, j.Authority.Prefix, j.Key)
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

// unhex decodes s into all of dst.
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
	Proof []string `json:"proof,omitempty"` // that the log begins with the log of size since: see [store.Prover]
}

// NewHead returns the JSON form of h.
func NewHead(h store.Head) Head { return Head{Size: h.Size, Hash: hex.EncodeToString(h.Hash[:])} }

// head converts j to a head of a store.
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

// A Minting is the body of POST mint.
type Minting struct {
	Prefix   string `json:"prefix"`             // of an authority, or the identifier of a URN namespace
	Template string `json:"template,omitempty"` // what follows the prefix; "" to continue the existing names
	Count    int    `json:"count"`              // absent for one
	DryRun   bool   `json:"dry_run,omitempty"`  // reserve nothing
	Why      string `json:"why,omitempty"`
}

// A BackupRequest is the body of POST backup.
type BackupRequest struct {
	Dir string `json:"dir"` // an absolute path on the machine of the server
}

// A Report is one line of the response to verify, backup, relocate, undo and mint. It has
// one of the members. The last line has Done, and the problem that ended the work early, if
// there was one.
type Report struct {
	Progress  *Progress            `json:"progress,omitempty"`
	Fault     *Fault               `json:"fault,omitempty"`     // of verify
	Moved     *Moved               `json:"moved,omitempty"`     // of relocate
	Refused   *Refused             `json:"refused,omitempty"`   // of relocate and undo
	Relocated *registrar.Relocated `json:"relocated,omitempty"` // of relocate: the totals so far and at the end
	Reverted  *registrar.Reversal  `json:"reverted,omitempty"`  // of undo
	Undone    *registrar.Undone    `json:"undone,omitempty"`    // of undo: the totals so far and at the end
	Minted    string               `json:"minted,omitempty"`    // of mint: a name that was reserved
	Done      bool                 `json:"done,omitempty"`
	Head      *Head                `json:"head,omitempty"` // of verify, at the end
	Problem   *Problem             `json:"problem,omitempty"`
}

// Progress is the work done so far: for verify in changes and other checked items, for
// backup in bytes.
type Progress struct {
	Done  uint64 `json:"done"`
	Total uint64 `json:"total"`
}

// A Fault is the JSON form of a [store.Fault].
type Fault struct {
	Kind    string `json:"kind,omitempty"` // name, authority or token; "" for the store itself
	Key     string `json:"key,omitempty"`
	Seq     uint64 `json:"seq,omitempty"`
	Problem string `json:"problem"`
}

// NewFault returns the JSON form of f.
func NewFault(f store.Fault) Fault {
	j := Fault{Key: f.Subject.Key, Seq: f.Seq, Problem: f.Problem}
	if f.Subject.Kind != 0 {
		j.Kind = kindNames()[f.Subject.Kind]
	}
	return j
}

// fault converts j to a fault of a store.
func (j Fault) fault() store.Fault {
	f := store.Fault{Seq: j.Seq, Problem: j.Problem, Subject: store.Subject{Key: j.Key}}
	for kind, word := range kindNames() {
		if word == j.Kind {
			f.Subject.Kind = kind
		}
	}
	return f
}

func kindNames() map[store.Kind]string {
	return map[store.Kind]string{store.KindName: "name", store.KindAuthority: "authority", store.KindToken: "token"}
}

// Moved is a location that is (or would be) replaced.
type Moved struct {
	Key  string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Refused is a name that could not be changed.
type Refused struct {
	Key     string   `json:"name"`
	Problem *Problem `json:"problem"`
}

// ParseTime parses the time for a record as of then: a time of RFC 3339, whose "T" and "Z"
// may be in lower case (5.6), or a date, which means the last moment of that day, UTC.
func ParseTime(s string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, s); err == nil {
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

// Revisions yields the revisions of n, newest first, as they arrive. It yields
// [store.ErrNotFound] for an unknown name.
func (c *Client) Revisions(ctx context.Context, n name.Name) iter.Seq2[Revision, error] {
	return lines[Revision](ctx, c, namePath(n)+"/history", url.Values{"format": {"jsonl"}})
}

// Redact removes the content of revisions of n; see [registrar.Registrar.Redact].
func (c *Client) Redact(ctx context.Context, n name.Name, r registrar.Redaction) (registrar.Outcome, error) {
	return c.changeName(ctx, n, http.MethodPost, "/redact", nil, Redaction{r, revision(r.Expected)})
}

// RedactAuthority removes the content of revisions of an authority; see
// [registrar.Registrar.RedactAuthority].
func (c *Client) RedactAuthority(ctx context.Context, p name.Prefix, r registrar.Redaction) (registrar.Outcome, error) {
	return c.change(ctx, http.MethodPost, prefixPath(p)+"/redact", nil, Redaction{r, revision(r.Expected)})
}

// Changes yields the changes after an entry, in the order of the log, limited to the scope
// of the token; see [store.Feed].
func (c *Client) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	q := url.Values{}
	setNumber(q, "after", after)
	return func(yield func(*store.Entry, error) bool) {
		for j, err := range lines[Entry](ctx, c, "changes", q) {
			var e *store.Entry
			if err == nil {
				e, err = j.entry()
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// AuthorityHistory yields the changes of the authority with exactly this prefix, newest
// first, as they arrive. From an older server, which has no such resource, it reads all
// changes of the store up to the current revision of the authority.
func (c *Client) AuthorityHistory(ctx context.Context, p name.Prefix) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		for r, err := range lines[Revision](ctx, c, prefixPath(p)+"/history", url.Values{"format": {"jsonl"}}) {
			switch {
			case isNoRoute(err):
				c.searchedHistory(ctx, p, yield)
				return
			case err == nil && (r.Authority == nil || r.Revision == 0):
				err = fmt.Errorf("adminapi: %s: revision without content or number", p)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			change := &store.Change{
				Authority: r.Authority, Expected: r.Revision - 1, Time: r.Time, Who: r.Who, Why: r.Why, Batch: r.Batch,
				Redacts: r.Redacts, Redacted: r.Redacted,
			}
			if !yield(change, nil) {
				return
			}
		}
	}
}

// isNoRoute reports whether err may come from an older server without histories of
// authorities, which reads the path as another prefix. The error is the same for an
// unknown prefix.
func isNoRoute(err error) bool {
	return errors.As(err, new(*name.Error)) || errors.Is(err, store.ErrNotFound)
}

// searchedHistory yields the history of an authority from all changes.
func (c *Client) searchedHistory(ctx context.Context, p name.Prefix, yield func(*store.Change, error) bool) {
	all, err := c.authorityChanges(ctx, p)
	if err != nil {
		yield(nil, err)
		return
	}
	for _, change := range slices.Backward(all) {
		if !yield(change, nil) {
			return
		}
	}
}

func (c *Client) authorityChanges(ctx context.Context, p name.Prefix) ([]*store.Change, error) {
	a, err := c.Authority(ctx, p)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []*store.Change
	for e, err := range c.Changes(ctx, 0) {
		if err != nil {
			return nil, err
		}
		if e.Change.Authority == nil || e.Change.Authority.Prefix != p {
			continue
		}
		if all = append(all, e.Change); e.Change.Revision() >= a.Revision {
			break
		}
	}
	return all, nil
}

// Head returns the head of the log; see [store.Feed].
func (c *Client) Head(ctx context.Context) (store.Head, error) {
	var j Head
	if _, err := c.call(ctx, http.MethodGet, "head", nil, nil, &j); err != nil {
		return store.Head{}, err
	}
	return j.head()
}

// ProveHead returns the proof that the log of the first later entries begins with
// the log of the first earlier ones; see [store.Prover].
func (c *Client) ProveHead(ctx context.Context, later, earlier uint64) ([][32]byte, error) {
	q := url.Values{"size": {strconv.FormatUint(later, 10)}, "since": {strconv.FormatUint(earlier, 10)}}
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

// Find yields the locations that begin with prefix, limited to the scope of the token; see
// [store.Finder].
func (c *Client) Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error] {
	q := url.Values{"location": {prefix}}
	if after != (store.Place{}) {
		q.Set("after_url", after.URL)
		q.Set("after_name", after.Name.Key())
	}
	return func(yield func(store.Place, error) bool) {
		for j, err := range lines[Place](ctx, c, "find", q) {
			p := store.Place{}
			if err == nil {
				p = store.Place{URL: j.URL, Name: name.FromKey(j.Key)}
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// Verify makes the server verify its store; see [store.Verifier].
func (c *Client) Verify(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	return c.verify(ctx, nil, fault, progress)
}

// VerifySince makes the server verify what came after a head. The error is a
// [*store.HeadError] if its log does not begin with the log of that head.
func (c *Client) VerifySince(ctx context.Context, since store.Head, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	return c.verify(ctx, url.Values{"since": {since.String()}}, fault, progress)
}

func (c *Client) verify(ctx context.Context, q url.Values, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	last, err := c.reports(ctx, "verify", q, nil, func(r Report) {
		switch {
		case r.Fault != nil:
			fault(r.Fault.fault())
		case r.Progress != nil && progress != nil:
			progress(r.Progress.Done, r.Progress.Total)
		}
	})
	if err != nil {
		return store.Head{}, err
	}
	if last.Head == nil {
		return store.Head{}, fmt.Errorf("adminapi: verify: the response has no head")
	}
	return last.Head.head()
}

// Backup makes the server back up its store to dir, an absolute path on its machine; see
// [store.Backuper].
func (c *Client) Backup(ctx context.Context, dir string, progress func(done, total uint64)) error {
	_, err := c.reports(ctx, "backup", nil, BackupRequest{dir}, func(r Report) {
		if r.Progress != nil && progress != nil {
			progress(r.Progress.Done, r.Progress.Total)
		}
	})
	return err
}

// Relocate replaces the beginning of locations; see
// [registrar.Registrar.Relocate].
func (c *Client) Relocate(ctx context.Context, rel registrar.Relocation) (registrar.Relocated, error) {
	var sum registrar.Relocated
	last, err := c.reports(ctx, "relocate", nil, rel, func(r Report) {
		switch {
		case r.Moved != nil && rel.Moved != nil:
			rel.Moved(name.FromKey(r.Moved.Key), r.Moved.From, r.Moved.To)
		case r.Refused != nil && r.Refused.Problem != nil && rel.Refused != nil:
			rel.Refused(name.FromKey(r.Refused.Key), r.Refused.Problem.err())
		case r.Relocated != nil:
			if sum = *r.Relocated; rel.Progress != nil {
				rel.Progress(sum)
			}
		}
	})
	if last.Relocated != nil {
		sum = *last.Relocated
	}
	return sum, err
}

// Undo reverts changes; see [registrar.Registrar.Undo].
func (c *Client) Undo(ctx context.Context, u registrar.Undoing) (registrar.Undone, error) {
	var sum registrar.Undone
	last, err := c.reports(ctx, "undo", nil, u, func(r Report) {
		switch {
		case r.Reverted != nil && u.Reverted != nil:
			u.Reverted(*r.Reverted)
		case r.Refused != nil && r.Refused.Problem != nil && u.Refused != nil:
			u.Refused(r.Refused.Key, r.Refused.Problem.err())
		case r.Undone != nil:
			if sum = *r.Undone; u.Progress != nil {
				u.Progress(sum)
			}
		}
	})
	if last.Undone != nil {
		sum = *last.Undone
	}
	return sum, err
}

// Mint creates names, reserves them, and calls each as soon as a name is reserved. It
// returns an error if there are fewer names than requested.
func (c *Client) Mint(ctx context.Context, m Minting, each func(name.Name)) error {
	_, err := c.reports(ctx, "mint", nil, m, func(r Report) {
		if r.Minted != "" {
			each(name.FromKey(r.Minted))
		}
	})
	return err
}

// reports sends a request, calls each with every report except the last, and returns the
// last. If ctx ends, it cancels the job that the request started; if the connection breaks,
// the job continues.
func (c *Client) reports(ctx context.Context, path string, q url.Values, body any, each func(Report)) (Report, error) {
	b, err := Encode(body)
	if err != nil {
		return Report{}, err
	}
	id := NewJobID()
	resp, err := c.sendWith(ctx, http.Header{JobHeader: {id}}, http.MethodPost, path, q, bytes.NewReader(b), "application/json")
	if err != nil {
		if ctx.Err() != nil { // the request may have arrived
			_ = c.left(ctx, id, err)
		}
		return Report{}, err
	}
	defer resp.Body.Close()
	for r, err := range readLines[Report](path, resp.Body) {
		switch {
		case err != nil:
			return r, c.left(ctx, resp.Header.Get(JobHeader), err)
		case r.Problem != nil && r.Done:
			return r, r.Problem.err()
		case r.Done:
			return r, nil
		}
		each(r)
	}
	return Report{}, c.left(ctx, resp.Header.Get(JobHeader), fmt.Errorf("adminapi: %s: the response was truncated: %w", path, io.ErrUnexpectedEOF))
}

// left handles a job whose response ended with err: it cancels the job if ctx has ended.
func (c *Client) left(ctx context.Context, id string, err error) error {
	switch {
	case id == "": // a server without jobs, or work that is not a job
		return err
	case ctx.Err() == nil:
		return &DetachedError{Job: id, Err: err}
	}
	const patience = 5 * time.Second
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if _, cerr := c.CancelJob(last, id); cerr != nil {
		return fmt.Errorf("%w; cannot cancel job %s: %w", err, id, cerr)
	}
	return err
}

// maxLine is the maximum length of a line in a response: a record of maximum size with all
// bytes escaped.
const maxLine = 8 << 20

// lines requests JSON Lines and yields them.
func lines[T any](ctx context.Context, c *Client, path string, q url.Values) iter.Seq2[T, error] {
	return streamed[T](ctx, c, http.MethodGet, path, q, nil)
}

// streamed yields the lines of a response as they arrive, with one at a time in memory.
func streamed[T any](ctx context.Context, c *Client, method, path string, q url.Values, body io.Reader) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		resp, err := c.send(ctx, method, path, q, body, "application/json")
		if err != nil {
			yield(zero, err)
			return
		}
		defer resp.Body.Close()
		readLines[T](path, resp.Body)(yield)
	}
}

// readLines yields the lines of a response.
func readLines[T any](path string, r io.Reader) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		scan := bufio.NewScanner(r)
		scan.Buffer(nil, maxLine)
		for scan.Scan() {
			var v T
			if err := json.Unmarshal(scan.Bytes(), &v); err != nil {
				yield(zero, fmt.Errorf("adminapi: %s: %w", path, err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			yield(zero, fmt.Errorf("adminapi: %s: the response was truncated: %w", path, err))
		}
	}
}
