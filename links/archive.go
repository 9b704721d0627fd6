package links

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/retryafter"
)

// ArchiveOptions configure an [Archive]. Agent and either TimeGate or Availability are required.
type ArchiveOptions struct {
	// TimeGate is the prefix of the URLs of a TimeGate (RFC 7089), to which the URL of a location
	// is appended. An example is https://web.archive.org/web/.
	TimeGate string

	// Availability is the URL of a service that has the parameters url and timestamp and returns
	// JSON, such as https://archive.org/wayback/available.
	Availability string

	// Hosts are hosts of copies, in addition to the host in TimeGate or Availability. Each host
	// includes its subdomains.
	Hosts []string

	Agent string        // value of User-Agent
	From  string        // value of From; "" for none
	Gap   time.Duration // minimum time between two requests; 1 s if 0

	DNS   discover.DNS                                                         // nil means [net.DefaultResolver]
	Dial  func(ctx context.Context, network, address string) (net.Conn, error) // nil means a [net.Dialer]
	Allow func(netip.Addr) error                                               // nil permits only public addresses
	TLS   *tls.Config                                                          // nil means the default

	Now func() time.Time // the clock; time.Now if nil
}

// Check returns an error if the URL of the archive is invalid.
func (o *ArchiveOptions) Check() error {
	u, err := url.Parse(cmp.Or(o.TimeGate, o.Availability))
	switch {
	case o.TimeGate != "" && o.Availability != "":
		return errors.New("links: want either a TimeGate or an availability interface, not both")
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.User != nil, u.Fragment != "":
		return fmt.Errorf("links: invalid URL of an archive %.200q: must be http or https, without a user and a fragment", cmp.Or(o.TimeGate, o.Availability))
	}
	return nil
}

// An Archive finds preserved copies of locations in a web archive. It is safe for concurrent use.
// It sends one request at a time.
type Archive struct {
	o         ArchiveOptions
	base      *url.URL
	transport http.RoundTripper

	asking chan struct{} // holds a value while a request is sent
	next   time.Time     // when the next request may be sent; protected by asking

	mu     sync.Mutex
	copies map[string]foundCopy // by URL of the location
}

// A Copy is a preserved copy of a location.
type Copy struct {
	URL  string
	Time time.Time // when the archive made it
}

// A foundCopy is a cached answer of the archive.
type foundCopy struct {
	copy  Copy
	found bool
	until time.Time // end of life of the answer
}

const (
	archiveGap     = time.Second
	archiveTime    = 30 * time.Second // timeout of all requests about a location
	archiveHops    = 5                // maximum number of requests about a location
	maxArchived    = 64 << 10         // maximum length of a response in bytes
	maxCopies      = 1000             // maximum number of answers that are kept
	copyLife       = 24 * time.Hour   // lifetime of an answer
	maxCopyURL     = 4096             // maximum length of the URL of a copy in bytes
	maxArchiveWait = 24 * time.Hour   // maximum time that an archive can require between two requests
)

// ErrNoCopy means that the archive does not have a copy of a location.
var ErrNoCopy = errors.New("the archive has no copy of this location")

// An ArchiveError is the reason for which the answer of an archive cannot be used.
type ArchiveError struct{ Reason string }

func (e *ArchiveError) Error() string { return "the answer of the archive cannot be used: " + e.Reason }

func refusedCopy(format string, args ...any) error {
	return &ArchiveError{fmt.Sprintf(format, args...)}
}

// NewArchive returns an Archive.
func NewArchive(o ArchiveOptions) (*Archive, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	base, err := url.Parse(cmp.Or(o.TimeGate, o.Availability))
	if err != nil {
		return nil, err
	}
	o.Gap = cmp.Or(o.Gap, archiveGap)
	w := Options{DNS: o.DNS, Dial: o.Dial, Allow: o.Allow, TLS: o.TLS, Now: o.Now}
	w.setDefaults()
	o.Now = w.Now
	return &Archive{o: o, base: base, transport: w.transport, asking: make(chan struct{}, 1), copies: map[string]foundCopy{}}, nil
}

// Host returns the host of the archive. It returns "" for a nil Archive.
func (a *Archive) Host() string {
	if a == nil {
		return ""
	}
	return a.base.Hostname()
}

// Find returns the copy of a location that the archive made closest to a time. It returns
// [ErrNoCopy] if the archive has no copy, and an [*ArchiveError] if the answer is invalid or if the
// host of the copy does not belong to the archive. Answers are cached for a day.
func (a *Archive) Find(ctx context.Context, of string, near time.Time) (Copy, error) {
	of, _, _ = strings.Cut(of, "#")
	now := a.o.Now()
	a.mu.Lock()
	known, ok := a.copies[of]
	a.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.result()
	}
	ctx, cancel := context.WithTimeout(ctx, archiveTime)
	defer cancel()
	select {
	case a.asking <- struct{}{}:
		defer func() { <-a.asking }()
	case <-ctx.Done():
		return Copy{}, fmt.Errorf("the archive is busy with other requests: %w", context.Cause(ctx))
	}
	c, err := a.ask(ctx, of, near)
	if err == nil || errors.Is(err, ErrNoCopy) {
		known = foundCopy{c, err == nil, now.Add(copyLife)}
		a.keep(of, known)
	}
	return c, err
}

func (f foundCopy) result() (Copy, error) {
	if !f.found {
		return Copy{}, ErrNoCopy
	}
	return f.copy, nil
}

// keep caches an answer. If the cache is full, the answer replaces another answer.
func (a *Archive) keep(of string, f foundCopy) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for old := range a.copies {
		if len(a.copies) < maxCopies {
			break
		}
		delete(a.copies, old)
	}
	a.copies[of] = f
}

func (a *Archive) ask(ctx context.Context, of string, near time.Time) (c Copy, err error) {
	if a.o.TimeGate != "" {
		c, err = a.askTimeGate(ctx, a.o.TimeGate+of, near)
	} else {
		c, err = a.askAvailability(ctx, of, near)
	}
	if err != nil {
		return Copy{}, err
	}
	return a.checked(c)
}

// checked validates a copy. If the request was sent over TLS, checked changes the scheme of the URL
// to https, because some archives still return http.
func (a *Archive) checked(c Copy) (Copy, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return Copy{}, refusedCopy("the URL of the copy is invalid")
	}
	if err := a.checkURL(u); err != nil {
		return Copy{}, err
	}
	if a.base.Scheme == "https" && u.Scheme == "http" {
		c.URL = "https" + c.URL[len("http"):]
	}
	if err := location.Check(c.URL); err != nil {
		return Copy{}, refusedCopy("the URL of the copy cannot be a location: %v", err)
	}
	if c.Time.Year() < 1990 || c.Time.After(a.o.Now().Add(24*time.Hour)) {
		return Copy{}, refusedCopy("the date of the copy is impossible: %s", c.Time.Format(time.DateOnly))
	}
	return c, nil
}

// checkURL checks that a URL is at a host of the archive.
func (a *Archive) checkURL(u *url.URL) error {
	host := strings.ToLower(u.Hostname())
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return refusedCopy("the scheme %.20q is not allowed", u.Scheme)
	case u.User != nil:
		return refusedCopy("the URL has a user")
	case len(u.String()) > maxCopyURL:
		return refusedCopy("the URL is longer than %d bytes", maxCopyURL)
	case u.Port() != "" && u.Port() != a.base.Port():
		return refusedCopy("the port %.10q is not that of the archive", u.Port())
	}
	for _, h := range append([]string{a.base.Hostname()}, a.o.Hosts...) {
		if h = strings.ToLower(h); host == h || strings.HasSuffix(host, "."+h) {
			return nil
		}
	}
	return refusedCopy("the host %.100q is not one of the archive", host)
}

// send sends a request. It first waits until the archive permits the next request.
func (a *Archive) send(ctx context.Context, method, to string, near time.Time) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, to, nil)
	if err != nil {
		return nil, refusedCopy("the URL is invalid")
	}
	r.Header.Set("User-Agent", a.o.Agent)
	if a.o.From != "" {
		r.Header.Set("From", a.o.From)
	}
	if a.o.TimeGate != "" {
		r.Header.Set("Accept-Datetime", near.UTC().Format(http.TimeFormat))
	} else {
		r.Header.Set("Accept", "application/json")
	}
	if err := a.wait(ctx); err != nil {
		return nil, err
	}
	resp, err := a.transport.RoundTrip(r)
	a.next = a.o.Now().Add(a.o.Gap)
	if err != nil {
		return nil, fmt.Errorf("cannot ask the archive: %w", err)
	}
	if s := resp.StatusCode; s == http.StatusTooManyRequests || s == http.StatusServiceUnavailable {
		resp.Body.Close()
		wait := min(max(retryafter.Parse(resp.Header.Get("Retry-After"), a.o.Now()), time.Minute), maxArchiveWait)
		a.next = a.o.Now().Add(wait)
		return nil, fmt.Errorf("the archive is busy (status %d); try again after %s", s, a.next.UTC().Format(time.RFC3339))
	}
	return resp, nil
}

// wait waits until the next request may be sent. It returns an error if this would take longer than
// a request may take.
func (a *Archive) wait(ctx context.Context) error {
	left := a.next.Sub(a.o.Now())
	switch {
	case left <= 0:
		return nil
	case left > archiveTime:
		return fmt.Errorf("the archive is busy; try again after %s", a.next.UTC().Format(time.RFC3339))
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// askTimeGate asks a TimeGate, and follows its redirects to a memento.
func (a *Archive) askTimeGate(ctx context.Context, to string, near time.Time) (Copy, error) {
	for range archiveHops {
		resp, err := a.send(ctx, http.MethodHead, to, near)
		if err != nil {
			return Copy{}, err
		}
		resp.Body.Close()
		at, when := resp.Request.URL, resp.Header.Get("Memento-Datetime")
		switch status := resp.StatusCode; {
		case status == http.StatusNotFound:
			return Copy{}, ErrNoCopy
		case status == http.StatusOK && when != "":
			made, err := http.ParseTime(when)
			if err != nil {
				return Copy{}, refusedCopy("Memento-Datetime is invalid")
			}
			if l := resp.Header.Get("Content-Location"); l != "" {
				if at, err = at.Parse(l); err != nil {
					return Copy{}, refusedCopy("Content-Location is invalid")
				}
			}
			return Copy{at.String(), made.UTC()}, nil
		case status/100 == 3 && resp.Header.Get("Location") != "":
			if at, err = at.Parse(resp.Header.Get("Location")); err != nil {
				return Copy{}, refusedCopy("the redirect is invalid")
			}
			if err := a.checkURL(at); err != nil {
				return Copy{}, err
			}
			at.Fragment = ""
			to = at.String()
		case status == http.StatusOK:
			return Copy{}, refusedCopy("it has no Memento-Datetime, so the URL is not that of a TimeGate")
		default:
			return Copy{}, refusedCopy("status %d", status)
		}
	}
	return Copy{}, refusedCopy("more than %d redirects", archiveHops)
}

// askAvailability asks the availability interface of an archive.
func (a *Archive) askAvailability(ctx context.Context, of string, near time.Time) (Copy, error) {
	u := *a.base
	q := u.Query()
	q.Set("url", of)
	q.Set("timestamp", near.UTC().Format(archiveTimestamp))
	u.RawQuery = q.Encode()
	resp, err := a.send(ctx, http.MethodGet, u.String(), near)
	if err != nil {
		return Copy{}, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return Copy{}, ErrNoCopy
	case resp.StatusCode != http.StatusOK:
		return Copy{}, refusedCopy("status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxArchived+1))
	switch {
	case err != nil:
		return Copy{}, fmt.Errorf("cannot read the answer of the archive: %w", err)
	case len(body) > maxArchived:
		return Copy{}, refusedCopy("it is longer than %d bytes", maxArchived)
	}
	return readAvailability(body)
}

const archiveTimestamp = "20060102150405"

// readAvailability parses the JSON of an availability service.
func readAvailability(body []byte) (Copy, error) {
	var answer struct {
		Snapshots struct {
			Closest *struct {
				Available bool   `json:"available"`
				URL       string `json:"url"`
				Timestamp string `json:"timestamp"`
				Status    string `json:"status"`
			} `json:"closest"`
		} `json:"archived_snapshots"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return Copy{}, refusedCopy("it is not the JSON of an availability interface")
	}
	c := answer.Snapshots.Closest
	if c == nil || !c.Available || c.Status != "" && !strings.HasPrefix(c.Status, "2") {
		return Copy{}, ErrNoCopy
	}
	made, err := time.Parse(archiveTimestamp, c.Timestamp)
	if err != nil {
		return Copy{}, refusedCopy("the timestamp %.20q is invalid", c.Timestamp)
	}
	return Copy{c.URL, made}, nil
}
