package adminapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/retryafter"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Client uses the admin API of a running server. It returns the same errors as package registrar,
// the stores and package bulk would return in the same process. Failures of the network or the
// server are errors of other types. A Client is safe for concurrent use.
type Client struct {
	URL   string       // URL of the listener, such as http://127.0.0.1:4501, or unix: and the path of a socket
	Token string       // ID.SECRET
	HTTP  *http.Client // http.DefaultClient if nil; for a socket, use the result of [Direct]
}

// Direct returns an HTTP client that sends a token only to the server itself: it uses no proxy from
// the environment and follows no redirects. It also connects to Unix sockets.
func Direct() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DialContext: dialServer},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Version returns the version of the server. A successful call also shows that the server is
// running and accepts the token.
func (c *Client) Version(ctx context.Context) (Version, error) {
	return request[Version](ctx, c, http.MethodGet, "version", nil, nil)
}

// Get returns the record of n, or [store.ErrNotFound].
func (c *Client) Get(ctx context.Context, n name.Name) (*store.Record, error) {
	return c.GetAt(ctx, n, time.Time{})
}

// GetAt returns the record of n as of the time t, or the current record if t is zero. The error is
// [store.ErrNotFound] if n had no record at that time.
func (c *Client) GetAt(ctx context.Context, n name.Name, t time.Time) (*store.Record, error) {
	q := url.Values{}
	setTime(q, "at", t)
	rec := new(store.Record)
	head, err := c.call(ctx, http.MethodGet, namePath(n), q, nil, rec)
	if err != nil {
		return nil, err
	}
	rec.Name = n
	if key, ok := strings.CutPrefix(head.Get("Content-Location"), Root+"names/"); ok {
		rec.Name = name.FromKey(UnescapeName(key)) // the server returns the key, because the authority may ignore case
	}
	return rec, nil
}

// Put creates or changes a record; see [registrar.Registrar.Put].
func (c *Client) Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error) {
	outs, err := c.Apply(ctx, []registrar.Request{req}, why)
	if err != nil {
		return registrar.Outcome{Err: err}, err
	}
	return outs[0], outs[0].Err
}

// Apply makes up to [MaxBatch] changes; see [registrar.Registrar.Apply].
func (c *Client) Apply(ctx context.Context, reqs []registrar.Request, why string) ([]registrar.Outcome, error) {
	return c.batch(ctx, reqs, why, false)
}

// Preview returns what Apply would return for reqs, without changing anything.
func (c *Client) Preview(ctx context.Context, reqs []registrar.Request) ([]registrar.Outcome, error) {
	return c.batch(ctx, reqs, "", true)
}

func (c *Client) batch(ctx context.Context, reqs []registrar.Request, why string, dry bool) ([]registrar.Outcome, error) {
	b := Batch{Requests: make([]Request, len(reqs)), Why: why, DryRun: dry}
	for i, r := range reqs {
		b.Requests[i] = newRequest(r)
	}
	var res Results
	if _, err := c.call(ctx, http.MethodPost, "names", nil, b, &res); err != nil {
		return nil, err
	}
	if len(res.Outcomes) != len(reqs) {
		return nil, fmt.Errorf("adminapi: %d outcomes for %d requests", len(res.Outcomes), len(reqs))
	}
	outs := make([]registrar.Outcome, len(reqs))
	for i, o := range res.Outcomes {
		outs[i] = o.outcome()
	}
	return outs, nil
}

// Retire makes n a tombstone; see [registrar.Registrar.Retire].
func (c *Client) Retire(ctx context.Context, n name.Name, r registrar.Retirement, why string) (registrar.Outcome, error) {
	return c.changeName(ctx, n, http.MethodPost, "/retire", nil, Retirement{r, revisionOrNil(r.Expected), why})
}

// Delete deletes a reserved name; see [registrar.Registrar.Delete].
func (c *Client) Delete(ctx context.Context, n name.Name, expected uint64, why string) (registrar.Outcome, error) {
	return c.changeName(ctx, n, http.MethodDelete, "", changeQuery(expected, why), nil)
}

// Authority returns the authority of p, or [store.ErrNotFound].
func (c *Client) Authority(ctx context.Context, p name.Prefix) (*store.Authority, error) {
	a := new(store.Authority)
	if _, err := c.call(ctx, http.MethodGet, prefixPath(p), nil, nil, a); err != nil {
		return nil, err
	}
	return a, nil
}

// Authorities returns all authorities sorted by prefix.
func (c *Client) Authorities(ctx context.Context) ([]*store.Authority, error) {
	all, err := request[Authorities](ctx, c, http.MethodGet, "authorities", nil, nil)
	return all.Authorities, err
}

// PutAuthority creates or replaces an authority; see
// [registrar.Registrar.PutAuthority].
func (c *Client) PutAuthority(ctx context.Context, a *store.Authority, expected uint64, why string) (registrar.Outcome, error) {
	return c.change(ctx, http.MethodPut, prefixPath(a.Prefix), changeQuery(expected, why), a)
}

// CheckAuthority returns what PutAuthority would do, without changing anything.
func (c *Client) CheckAuthority(ctx context.Context, a *store.Authority) (AuthorityCheck, error) {
	return request[AuthorityCheck](ctx, c, http.MethodPost, prefixPath(a.Prefix)+"/check", nil, a)
}

// changeQuery returns the query parameters of a change: the reason and, unless any revision is
// accepted, the expected revision.
func changeQuery(expected uint64, why string) url.Values {
	q := url.Values{"why": {why}}
	if expected != store.AnyRevision {
		q.Set("expected", strconv.FormatUint(expected, 10))
	}
	return q
}

// Grant creates a token.
func (c *Client) Grant(ctx context.Context, g Grant) (Granted, error) {
	return request[Granted](ctx, c, http.MethodPost, "tokens", nil, g)
}

// Tokens returns all tokens without their secrets, sorted by ID.
func (c *Client) Tokens(ctx context.Context) ([]Token, error) {
	all, err := request[Tokens](ctx, c, http.MethodGet, "tokens", nil, nil)
	return all.Tokens, err
}

// Revoke revokes the token with this ID.
func (c *Client) Revoke(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, "tokens/"+EscapeName(id), nil, nil, nil)
	return err
}

// RedactToken removes content from the history of a token's rights; see
// [registrar.Registrar.RedactToken].
func (c *Client) RedactToken(ctx context.Context, id string, r registrar.Redaction) (registrar.Outcome, error) {
	return c.change(ctx, http.MethodPost, "tokens/"+EscapeName(id)+"/redact", nil, Redaction{r, revisionOrNil(r.Expected)})
}

func namePath(n name.Name) string     { return "names/" + EscapeName(n.Key()) }
func prefixPath(p name.Prefix) string { return "authorities/" + EscapeName(p.String()) }

func (c *Client) changeName(ctx context.Context, n name.Name, method, action string, q url.Values, body any) (registrar.Outcome, error) {
	out, err := c.change(ctx, method, namePath(n)+action, q, body)
	if err != nil {
		out.Name = n
	}
	return out, err
}

func (c *Client) change(ctx context.Context, method, path string, q url.Values, body any) (registrar.Outcome, error) {
	var o Outcome
	_, err := c.call(ctx, method, path, q, body, &o)
	out := o.outcome()
	if err != nil {
		out.Err = err
	}
	return out, out.Err
}

func request[T any](ctx context.Context, c *Client, method, path string, q url.Values, body any) (T, error) {
	var out T
	_, err := c.call(ctx, method, path, q, body, &out)
	return out, err
}

// call sends a request and decodes the response into reply, or discards it if reply is nil.
func (c *Client) call(ctx context.Context, method, path string, q url.Values, body, reply any) (http.Header, error) {
	var in io.Reader
	if body != nil {
		b, err := Encode(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(b)
	}
	resp, err := c.send(ctx, method, path, q, in, "application/json")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusAccepted {
		return nil, readWaiting(path, resp.Body)
	}
	if reply == nil {
		_, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxResponse))
		return resp.Header, err
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxResponse)).Decode(reply); err != nil {
		return resp.Header, fmt.Errorf("adminapi: %s %s: %w", method, path, err)
	}
	return resp.Header, nil
}

const (
	maxResponse = 1 << 30 // maximum size of a response that is read into memory, in bytes
	maxProblem  = 1 << 20 // maximum size of an error response, in bytes
)

// send sends a request. It returns an error unless the response has a status of success. The caller
// must close the body of the response.
func (c *Client) send(ctx context.Context, method, path string, q url.Values, body io.Reader, contentType string) (*http.Response, error) {
	return c.sendWith(ctx, nil, method, path, q, body, contentType)
}

func (c *Client) sendWith(ctx context.Context, fields http.Header, method, path string, q url.Values, body io.Reader, contentType string) (*http.Response, error) {
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	req, err := c.NewRequest(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, fields)
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	for again := 0; ; again++ {
		resp, err := cmp.Or(c.HTTP, http.DefaultClient).Do(req)
		if err != nil {
			return nil, fmt.Errorf("adminapi: %w", err)
		}
		if resp.StatusCode < http.StatusBadRequest {
			return resp, nil
		}
		err = readProblem(resp)
		resp.Body.Close()
		if again == maxAgain || !sendAgain(req, err) {
			return nil, err
		}
	}
}

// maxAgain limits how often a request is repeated after responses that its token has sent too many
// requests.
const maxAgain = 10

// sendAgain reports whether to repeat a request that failed with err. If the server rejected the
// request because of too many requests with its token, sendAgain first waits for the time that the
// server specified, or until the context of the request ends.
func sendAgain(req *http.Request, err error) bool {
	var rate *RateError
	if !errors.As(err, &rate) || req.Body != nil && req.GetBody == nil {
		return false
	}
	select {
	case <-req.Context().Done():
		return false
	case <-time.After(min(max(rate.After, minWait), maxWait)):
	}
	if req.GetBody != nil {
		req.Body, err = req.GetBody()
	}
	return req.GetBody == nil || err == nil
}

// Limits of the time to wait before a request is repeated.
const (
	minWait = time.Second
	maxWait = time.Minute
)

// NewRequest returns a request for a path below [Root], with the token. It is meant for callers
// that send the request and interpret the response themselves.
func (c *Client) NewRequest(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, originOf(c.URL)+Root+path, body)
	if err != nil {
		return nil, fmt.Errorf("adminapi: %w", err)
	}
	setHost(req)
	req.Header.Set("Authorization", "Bearer "+c.Token)
	return req, nil
}

func readProblem(resp *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	var p Problem
	if json.Unmarshal(b, &p) == nil && p.Status != 0 {
		if wait := retryafter.Parse(resp.Header.Get("Retry-After"), time.Now()); wait > 0 {
			p.RetryAfter = retryafter.Seconds(wait) // the header field overrides the body, because a proxy may have changed the field
		}
		return p.err()
	}
	return errors.Join(&StatusError{Status: resp.StatusCode, Detail: "the response is not a problem of this API"}, err)
}
