package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen/internal/retryafter"
	"github.com/nomen-project/nomen/internal/shown"
)

const (
	attempts   = 3                // attempts at a request to which the server answers 429 or 503
	maxWait    = time.Minute      // longest wait between two attempts
	maxFailed  = 20               // requests without a response in a row after which a server counts as unreachable
	maxDrained = 64 << 10         // bytes of a body that are read in order to reuse the connection
	maxHead    = 64 << 10         // bytes of the header of a response
	idle       = 30 * time.Second // how long an unused connection stays open
)

// An Answer contains the parts of a response that are compared.
type Answer struct {
	Status   int    `json:"status,omitempty"`
	Location string `json:"location,omitempty"`
	Error    string `json:"error,omitempty"` // why there is no response

	complete bool // an empty Location means that the response has none, and not that it is unknown
}

// String describes the answer on one line.
func (a Answer) String() string {
	switch {
	case a.Error != "":
		return a.Error
	case a.Location != "":
		return fmt.Sprintf("%d %s", a.Status, a.Location)
	}
	return fmt.Sprint(a.Status)
}

// A ServerError means that a server does not answer.
type ServerError struct {
	Base string
	Why  string // error of the last request
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("%s: %d requests in a row failed: %s", e.Base, maxFailed, e.Why)
}

var errBase = errors.New("want an http or https URL without user, query and fragment, such as https://names.example.org/")

// ParseBase parses the base URL of a server, to which request targets are appended. The result ends
// in a slash.
func ParseBase(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", fmt.Errorf("invalid base URL %q: %w", s, errBase)
	}
	return strings.TrimSuffix(u.String(), "/") + "/", nil
}

// A server is the client for one of the servers to which requests are sent. It does not follow
// redirects.
type server struct {
	base      string
	url       *url.URL
	timeout   time.Duration
	transport *http.Transport
	failed    atomic.Int64 // requests without a response, in a row
}

func newServer(base string, parallel int, timeout time.Duration) (*server, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	return &server{base: base, url: u, timeout: timeout, transport: &http.Transport{
		MaxConnsPerHost: parallel, MaxIdleConnsPerHost: parallel, IdleConnTimeout: idle,
		MaxResponseHeaderBytes: maxHead, DisableCompression: true,
	}}, nil
}

// ask sends a request. If the server is busy, ask waits as long as the server says and tries again.
// The error is ctx.Err or a [*ServerError].
func (s *server) ask(ctx context.Context, r Request) (Answer, error) {
	for i := 1; ; i++ {
		a, wait, err := s.once(ctx, r)
		switch {
		case err != nil:
			return s.failure(ctx, err)
		case wait > 0 && i == attempts:
			return Answer{Error: fmt.Sprintf("status %d, also when the request was repeated", a.Status)}, nil
		case wait == 0:
			s.failed.Store(0)
			return a, nil
		}
		if err := sleep(ctx, wait); err != nil {
			return Answer{}, err
		}
	}
}

// failure returns the answer for a request without a response.
func (s *server) failure(ctx context.Context, err error) (Answer, error) {
	if ctx.Err() != nil {
		return Answer{}, ctx.Err()
	}
	why := shown.Error(err)
	if s.failed.Add(1) >= maxFailed {
		return Answer{}, &ServerError{s.base, why}
	}
	return Answer{Error: why}, nil
}

// once sends a request, without retrying. If the server is busy, the result wait is how long to
// wait before trying again.
func (s *server) once(ctx context.Context, r Request) (a Answer, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	response, err := s.transport.RoundTrip(s.request(ctx, r))
	if err != nil {
		return Answer{}, 0, err
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxDrained) // only to reuse the connection
	if response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable {
		wait = min(cmp.Or(retryafter.Parse(response.Header.Get("Retry-After"), time.Now()), time.Second), maxWait)
	}
	return Answer{Status: response.StatusCode, Location: response.Header.Get("Location"), complete: true}, wait, nil
}

// request returns a request whose target has exactly the bytes in the log, after the path of the
// base URL.
func (s *server) request(ctx context.Context, r Request) *http.Request {
	u := *s.url
	target := s.url.EscapedPath() + strings.TrimPrefix(r.Target, "/")
	u.Path, u.RawPath, u.Opaque = "", "", target
	if strings.HasPrefix(target, "//") { // in Opaque, this would be an authority
		u.Opaque = ""
		path, query, _ := strings.Cut(target, "?")
		u.RawPath, u.RawQuery, u.ForceQuery = path, query, strings.Contains(target, "?") && query == ""
		if u.Path, _ = url.PathUnescape(path); u.Path == "" {
			u.Path = path
		}
	}
	q := (&http.Request{Method: r.Method, URL: &u, Host: u.Host, Header: http.Header{"User-Agent": {"nomen-replay"}}}).WithContext(ctx)
	if r.Accept != "" {
		q.Header.Set("Accept", r.Accept)
	}
	return q
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
