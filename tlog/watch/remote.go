package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/retryafter"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/tlog"
)

// Limits of requests to a log.
const (
	requestTimeout = 30 * time.Second // timeout of a request, including its response
	maxWait        = time.Minute      // longest wait that a server may request; if it requests more, there is no further attempt
	maxTries       = 5                // maximum number of requests for a file, if the server asks to wait or fails
	firstWait      = time.Second      // wait after the first failure; doubled after each further failure
)

// An unavailableError means that the log could not be read. It does not mean that the log is wrong.
type unavailableError struct{ err error }

func (e *unavailableError) Error() string { return e.err.Error() }
func (e *unavailableError) Unwrap() error { return e.err }

// A Remote is a log that is read over HTTP. It implements [tlog.TileReader].
type Remote struct {
	base   string
	client *http.Client
	now    func() time.Time
}

// NewRemote returns the log at a URL. It does not follow redirects, so it connects only to the host
// in the URL. If transport is nil, [http.DefaultTransport] is used.
func NewRemote(address string, transport http.RoundTripper, now func() time.Time) (*Remote, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("invalid URL %q of a log: want for example https://names.example.org/-/log", shown.Short(address, 200))
	}
	return &Remote{base: strings.TrimRight(address, "/"), client: noRedirects(transport, requestTimeout), now: now}, nil
}

func noRedirects(transport http.RoundTripper, timeout time.Duration) *http.Client {
	return &http.Client{
		Transport: transport, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Checkpoint returns the newest checkpoint with its signatures, without verifying them.
func (r *Remote) Checkpoint(ctx context.Context) ([]byte, error) {
	data, err := r.read(ctx, "checkpoint", tlog.MaxCheckpoint)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, &unavailableError{fmt.Errorf("%s/checkpoint: %w; check the URL of the log", r.base, err)}
	}
	return data, err
}

// ReadTile implements [tlog.TileReader]. If the log does not disclose a bundle because of names
// that are not public, the error is [fs.ErrPermission].
func (r *Remote) ReadTile(ctx context.Context, path string) ([]byte, error) {
	limit := tlog.MaxTile
	if strings.HasPrefix(path, entriesDir) || strings.HasPrefix(path, shownDir) {
		limit = tlog.MaxBundle
	}
	return r.read(ctx, path, limit)
}

// read reads a file of at most limit bytes. If the server asks to wait or fails, read tries again,
// up to maxTries times in total.
func (r *Remote) read(ctx context.Context, path string, limit int) ([]byte, error) {
	pause := firstWait
	for try := 1; ; try++ {
		data, wait, err := r.get(ctx, path, limit)
		var gone *unavailableError
		if !errors.As(err, &gone) || try == maxTries || wait > maxWait {
			return data, err
		}
		pause *= 2
		select {
		case <-time.After(max(wait, pause/2)):
		case <-ctx.Done():
			return nil, &unavailableError{context.Cause(ctx)}
		}
	}
}

func (r *Remote) get(ctx context.Context, path string, limit int) (data []byte, wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/"+path, nil)
	if err != nil {
		return nil, 0, err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, 0, &unavailableError{err}
	}
	defer resp.Body.Close()
	switch status := resp.StatusCode; {
	case status == http.StatusNotFound || status == http.StatusGone:
		return nil, 0, fs.ErrNotExist
	case status == http.StatusForbidden:
		return nil, 0, fs.ErrPermission
	case status == http.StatusTooManyRequests || status >= 500:
		return nil, retryafter.Parse(resp.Header.Get("Retry-After"), r.now()), &unavailableError{fmt.Errorf("%s/%s: status %d", r.base, path, status)}
	case status != http.StatusOK:
		return nil, 0, fmt.Errorf("%s/%s: unexpected status %d", r.base, path, status)
	}
	data, err = io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	if err != nil {
		return nil, 0, &unavailableError{err}
	}
	if len(data) > limit {
		return nil, 0, &tlog.FormatError{Format: "response", Offset: limit, Rule: "the file " + path + " is too long"}
	}
	return data, 0, nil
}
