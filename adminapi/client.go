package adminapi

import (
	"bytes"
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

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Client uses the admin API of a running server. Its errors are those of the
// registrar, the store and package bulk, as if the store were open here;
// failures of the network and the server are others. It is safe for concurrent
// use.
type Client struct {
	URL   string       // of the listener, such as http://127.0.0.1:4501
	Token string       // ID.SECRET
	HTTP  *http.Client // http.DefaultClient if nil
}

// Direct returns an HTTP client that tells a token to nobody but the server: to no
// proxy of the environment, and to no other server to which that one leads.
func Direct() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Version tells what runs there. It is also the way to see whether something
// runs, and knows the token.
func (c *Client) Version(ctx context.Context) (Version, error) {
	var v Version
	_, err := c.call(ctx, http.MethodGet, "version", nil, nil, &v)
	return v, err
}

// Get returns the record of n, or [store.ErrNotFound].
func (c *Client) Get(ctx context.Context, n name.Name) (*store.Record, error) {
	return c.GetAt(ctx, n, time.Time{})
}

// GetAt returns the record of n as it was at a time, the present one if that is
// zero, or [store.ErrNotFound].
func (c *Client) GetAt(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	q := url.Values{}
	setTime(q, "at", at)
	rec := new(store.Record)
	head, err := c.call(ctx, http.MethodGet, namePath(n), q, nil, rec)
	if err != nil {
		return nil, err
	}
	rec.Name = n
	if key, ok := strings.CutPrefix(head.Get("Content-Location"), Root+"names/"); ok {
		rec.Name = name.FromKey(UnescapeName(key)) // the authority may fold case
	}
	return rec, nil
}

// Put makes a record as req says; see [registrar.Registrar.Put].
func (c *Client) Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error) {
	outs, err := c.Apply(ctx, []registrar.Request{req}, why)
	if err != nil {
		return registrar.Outcome{Err: err}, err
	}
	return outs[0], outs[0].Err
}

// Apply does what Put does for up to [MaxBatch] requests; see
// [registrar.Registrar.Apply].
func (c *Client) Apply(ctx context.Context, reqs []registrar.Request, why string) ([]registrar.Outcome, error) {
	return c.batch(ctx, reqs, why, false)
}

// Preview returns what Apply would, and changes nothing.
func (c *Client) Preview(ctx context.Context, reqs []registrar.Request) ([]registrar.Outcome, error) {
	return c.batch(ctx, reqs, "", true)
}

func (c *Client) batch(ctx context.Context, reqs []registrar.Request, why string, dry bool) ([]registrar.Outcome, error) {
	b := Batch{Requests: make([]Request, len(reqs)), Why: why, DryRun: dry}
	for i, r := range reqs {
		b.Requests[i] = NewRequest(r)
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
		outs[i] = o.Registrar()
	}
	return outs, nil
}

// Retire makes n a tombstone; see [registrar.Registrar.Retire].
func (c *Client) Retire(ctx context.Context, n name.Name, r registrar.Retirement, why string) (registrar.Outcome, error) {
	return c.changeName(ctx, n, http.MethodPost, "/retire", nil, Retirement{r, revision(r.Expected), why})
}

// Delete removes a name that is reserved; see [registrar.Registrar.Delete].
func (c *Client) Delete(ctx context.Context, n name.Name, expected uint64, why string) (registrar.Outcome, error) {
	q := url.Values{"why": {why}}
	if expected != store.AnyRevision {
		q.Set("expected", strconv.FormatUint(expected, 10))
	}
	return c.changeName(ctx, n, http.MethodDelete, "", q, nil)
}

// Authority returns the authority of p, or [store.ErrNotFound].
func (c *Client) Authority(ctx context.Context, p name.Prefix) (*store.Authority, error) {
	a := new(store.Authority)
	if _, err := c.call(ctx, http.MethodGet, prefixPath(p), nil, nil, a); err != nil {
		return nil, err
	}
	return a, nil
}

// Authorities returns all authorities in the order of their prefixes.
func (c *Client) Authorities(ctx context.Context) ([]*store.Authority, error) {
	var all Authorities
	_, err := c.call(ctx, http.MethodGet, "authorities", nil, nil, &all)
	return all.Authorities, err
}

// PutAuthority makes an authority as given; see
// [registrar.Registrar.PutAuthority].
func (c *Client) PutAuthority(ctx context.Context, a *store.Authority, expected uint64, why string) (registrar.Outcome, error) {
	q := url.Values{"why": {why}}
	if expected != store.AnyRevision {
		q.Set("expected", strconv.FormatUint(expected, 10))
	}
	return c.change(ctx, http.MethodPut, prefixPath(a.Prefix), q, a)
}

// Grant makes a new token.
func (c *Client) Grant(ctx context.Context, g Grant) (Granted, error) {
	var out Granted
	_, err := c.call(ctx, http.MethodPost, "tokens", nil, g, &out)
	return out, err
}

// Tokens returns what may be told of all tokens, in the order of their IDs.
func (c *Client) Tokens(ctx context.Context) ([]Token, error) {
	var all Tokens
	_, err := c.call(ctx, http.MethodGet, "tokens", nil, nil, &all)
	return all.Tokens, err
}

// Revoke makes the token with this ID worthless.
func (c *Client) Revoke(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, "tokens/"+EscapeName(id), nil, nil, nil)
	return err
}

func namePath(n name.Name) string     { return "names/" + EscapeName(n.Key()) }
func prefixPath(p name.Prefix) string { return "authorities/" + EscapeName(p.String()) }

// changeName makes a request about n whose answer is an outcome.
func (c *Client) changeName(ctx context.Context, n name.Name, method, action string, q url.Values, body any) (registrar.Outcome, error) {
	out, err := c.change(ctx, method, namePath(n)+action, q, body)
	if err != nil {
		out.Name = n
	}
	return out, err
}

// change makes a request whose answer is an outcome.
func (c *Client) change(ctx context.Context, method, path string, q url.Values, body any) (registrar.Outcome, error) {
	var o Outcome
	_, err := c.call(ctx, method, path, q, body, &o)
	out := o.Registrar()
	if err != nil {
		out.Err = err
	}
	return out, out.Err
}

// call makes a request and reads its answer into out, if that is not nil.
func (c *Client) call(ctx context.Context, method, path string, q url.Values, body, out any) (http.Header, error) {
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
	if out == nil {
		_, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
		return resp.Header, err
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out); err != nil {
		return resp.Header, fmt.Errorf("adminapi: %s %s: %w", method, path, err)
	}
	return resp.Header, nil
}

const (
	maxAnswer  = 1 << 30 // bytes of an answer that is read in one piece
	maxProblem = 1 << 20 // bytes of a problem
)

// send makes a request. The answer's body, which the caller closes, is of a
// request that was carried out.
func (c *Client) send(ctx context.Context, method, path string, q url.Values, body io.Reader, contentType string) (*http.Response, error) {
	return c.sendWith(ctx, nil, method, path, q, body, contentType)
}

// sendWith is send with further fields in the head.
func (c *Client) sendWith(ctx context.Context, fields http.Header, method, path string, q url.Values, body io.Reader, contentType string) (*http.Response, error) {
	target := strings.TrimSuffix(c.URL, "/") + Root + path
	if len(q) > 0 {
		target += "?" + q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, fmt.Errorf("adminapi: %w", err)
	}
	maps.Copy(req.Header, fields)
	req.Header.Set("Authorization", "Bearer "+c.Token)
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("adminapi: %w", err)
	}
	if resp.StatusCode < http.StatusBadRequest {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, readProblem(resp)
}

// readProblem returns the error that the server told.
func readProblem(resp *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	var p Problem
	if json.Unmarshal(b, &p) == nil && p.Status != 0 {
		return p.Err()
	}
	return errors.Join(&StatusError{Status: resp.StatusCode, Detail: "the answer is no problem of this API"}, err)
}
