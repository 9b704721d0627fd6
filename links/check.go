package links

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/nomen-project/nomen/internal/retryafter"
)

// Limits of one check.
const (
	maxHops    = 10
	maxBody    = 64 << 10  // maximum number of bytes of a body that are read
	maxDecoded = 256 << 10 // maximum number of bytes after decompression
	maxHeads   = 3         // number of checks with HEAD before a check with GET
	honestTime = 7 * 24 * time.Hour
)

// A target is a location to check.
type target struct {
	url    string
	names  []string // names with this location, as spelled
	titles []string
	state  State
	host   host
	get    bool // do not use HEAD
}

// An answer is the response at the end of a chain of redirects.
type answer struct {
	status    int
	header    http.Header
	body      []byte
	end       *url.URL
	hops      int
	permanent bool // all redirects are permanent, and stay on the site
	outcome   Outcome
	detail    string
	failed    bool  // there was no response
	err       error // error if there was no response; nil if robots.txt forbids the request
	most      int   // maximum number of bytes of the body to read; maxBody if 0
}

// A checker checks locations. It is safe for concurrent use.
type checker struct {
	o         *Options
	transport http.RoundTripper
	second    http.RoundTripper // uses another network; may be nil
	gates     gates
	elsewhere gathered
	robots    interface {
		load(origin string) (keptRobots, bool)
		save(origin string, r keptRobots)
	}
}

// A result is an observation of a location, and what the check has shown about the host.
type result struct {
	Observation
	failed  bool   // there was no response
	headOdd bool   // the host answers HEAD differently from GET
	end     uint64 // hash of the URL at the end of redirects, or 0
	probed  bool   // the host was asked for a location that does not exist
	honest  bool   // the host answered that this location does not exist
}

func (c *checker) check(ctx context.Context, t *target) result {
	start, err := url.Parse(t.url)
	if err != nil || !isWeb(start) {
		return result{Observation: Observation{Outcome: None, Detail: "not a URL with the scheme http or https"}}
	}
	j, _ := cookiejar.New(nil) // without options, it does not fail
	s := session{checker: c, jar: j, transport: c.transport}
	var r result
	if !t.wantsGet() {
		a := s.travel(ctx, http.MethodHead, start, "")
		if a.outcome == OK && !softTarget(start, a.end) && !isParking(a.end) || a.outcome == None || a.status == http.StatusTooManyRequests {
			r.fill(&a)
			return r
		}
		r.headOdd = true // reset if GET has the same outcome
	}
	tag := ""
	if !t.get && (t.state.Verdict == Good || t.state.Verdict == Confirmed) {
		tag = t.state.Tag
	}
	a := s.get(ctx, start, tag)
	r.fill(&a)
	r.Get = true
	r.headOdd = r.headOdd && a.outcome == OK
	switch {
	case a.status == http.StatusNotModified:
		r.Tag = tag
	case !a.failed:
		s.judge(ctx, t, start, &a, &r)
	}
	return r
}

// get requests a URL with GET. It repeats a request that fails.
func (s *session) get(ctx context.Context, u *url.URL, tag string) answer {
	a := s.travel(ctx, http.MethodGet, u, tag)
	if a.isDoubtful() { // a second response may be different
		if b := s.travel(ctx, http.MethodGet, u, ""); confidence(b.outcome) > confidence(a.outcome) {
			return b
		}
	}
	return a
}

// isDoubtful reports whether a second request may have a different outcome.
func (a *answer) isDoubtful() bool {
	switch a.outcome {
	case Gone, Removed, NoHost, Trouble:
		return true
	case Refused:
		return a.status != 0 && a.status != http.StatusTooManyRequests
	}
	return false
}

// confidence ranks outcomes by their reliability. A temporary problem of a server is most likely to
// appear as an error or a refusal.
func confidence(o Outcome) int {
	switch o {
	case OK:
		return 5
	case Soft:
		return 4
	case Gone, Removed:
		return 3
	case Refused:
		return 2
	case None:
		return 0
	}
	return 1
}

func isWeb(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// wantsGet reports whether a location is requested with GET without trying HEAD.
func (t *target) wantsGet() bool {
	return t.get || t.state.Heads >= maxHeads || t.host.HeadOdd || t.state.Verdict != Good && t.state.Verdict != Confirmed
}

func (r *result) fill(a *answer) {
	r.Outcome, r.Status, r.Detail, r.failed = a.outcome, a.status, a.detail, a.failed
	r.Permanent = a.hops > 0 && a.permanent
	if a.header != nil {
		r.Tag = a.header.Get("ETag")
	}
	if a.hops > 0 && a.end != nil {
		h := fnv.New64a()
		io.WriteString(h, a.end.String())
		r.end = max(h.Sum64(), 1)
	}
}

func (s *session) judge(ctx context.Context, t *target, start *url.URL, a *answer, r *result) {
	var p *page
	if kind := a.header.Get("Content-Type"); strings.Contains(kind, "html") {
		read := readPage(a.body)
		p = &read
		if a.header.Get("Cf-Mitigated") == "challenge" || isChallenge(p) {
			r.Outcome, r.Detail = Refused, "the page is a test for humans"
			return
		}
	}
	if r.Outcome != OK {
		return
	}
	r.Confirmed = confirms(a.body, p, t.names, t.titles)
	if p != nil {
		p.drop(start)
		r.Print = p.fingerprint()
	}
	switch {
	case r.Confirmed:
	case softTarget(start, a.end):
		r.Outcome, r.Detail = Soft, "redirect to "+a.end.Redacted()
	case isParking(a.end):
		r.Outcome, r.Detail = Soft, "the domain is for sale: redirect to "+a.end.Redacted()
	case !sameSite(start.Hostname(), a.end.Hostname()) && s.elsewhere.add(r.Print, hostOf(start)):
		r.Outcome, r.Detail = Soft, "several hosts redirect to the same page"
	case p != nil && s.o.Now().After(t.host.Honest):
		s.probe(ctx, start, a, p, r)
	}
}

// probe asks the host for a location that does not exist. If the host answers with the same page as
// for the location, the location may not exist either.
func (s *session) probe(ctx context.Context, start *url.URL, a *answer, p *page, r *result) {
	u := *start
	u.RawQuery, u.RawPath = "", ""
	u.Path = path.Join(path.Dir("/"+strings.TrimPrefix(u.Path, "/")), noSuchPage())
	b := s.travel(ctx, http.MethodGet, &u, "")
	r.probed = !b.failed
	r.honest = b.outcome == Gone || b.outcome == Removed
	if b.outcome != OK || !strings.Contains(b.header.Get("Content-Type"), "html") {
		return
	}
	other := readPage(b.body)
	for _, p := range []*page{p, &other} { // pages often repeat the words of the URL
		p.drop(start)
		p.drop(&u)
	}
	here, there := p.fingerprint(), other.fingerprint()
	same := here != 0 && distance(here, there) <= sameBits || here == 0 && there == 0 && bytes.Equal(a.body, b.body)
	if same && (a.hops == 0) == (b.hops == 0) && (a.hops == 0 || a.end.String() == b.end.String()) {
		r.Outcome, r.Detail = Soft, "the host answers with the same page for locations that do not exist"
	}
}

// noSuchPage returns the path of a page that does not exist. It is a single long word, so that it
// has no words in common with a page.
func noSuchPage() string {
	return strings.Map(func(r rune) rune {
		if r >= '2' && r <= '7' { // the digits of base32
			return r - '2' + 'a'
		}
		return unicode.ToLower(r)
	}, rand.Text())
}

// A session is the sequence of requests in a check.
type session struct {
	*checker
	jar       http.CookieJar
	transport http.RoundTripper
}

// travel requests a URL and follows redirects.
func (s *session) travel(ctx context.Context, method string, u *url.URL, tag string) answer {
	a := answer{end: u, permanent: true}
	seen := map[string]bool{}
	for {
		if why, err := s.forbidden(ctx, a.end); err != nil {
			a.fail(err)
			return a
		} else if why != "" {
			a.outcome, a.detail, a.failed = Refused, why, true
			return a
		}
		seen[a.end.String()] = true
		err := s.request(ctx, method, &a, tag)
		if err != nil {
			a.fail(err)
			return a
		}
		a.outcome, a.detail = outcomeOfStatus(a.status), fmt.Sprintf("status %d", a.status)
		if a.status < 300 || a.status > 399 || a.status == http.StatusNotModified {
			return a
		}
		next, err := a.end.Parse(a.header.Get("Location"))
		switch {
		case a.header.Get("Location") == "" || err != nil:
			a.outcome, a.detail = Trouble, "redirect without a valid Location field"
			return a
		case !isWeb(next):
			a.outcome, a.detail = Soft, "redirect to a URL that is not http or https"
			return a
		case seen[next.String()] && s.isSameSet(next):
			a.outcome, a.detail = Trouble, "redirects in a loop"
			return a
		case a.hops == maxHops:
			a.outcome, a.detail = Trouble, fmt.Sprintf("more than %d redirects", maxHops)
			return a
		}
		next.Fragment, next.RawFragment = "", ""
		a.permanent = a.permanent && (a.status == http.StatusMovedPermanently || a.status == http.StatusPermanentRedirect) && sameSite(u.Hostname(), next.Hostname())
		a.hops++
		a.end, tag = next, ""
	}
}

func (a *answer) fail(err error) {
	a.failed, a.err, a.outcome, a.detail = true, err, outcomeOf(err), err.Error()
}

// isSameSet reports whether no response has set a cookie for a URL. A second request of the URL
// would then be the same as the first.
func (s *session) isSameSet(u *url.URL) bool { return len(s.jar.Cookies(u)) == 0 }

// request sends a request and reads the response. It first waits until the host may be asked.
func (s *session) request(ctx context.Context, method string, a *answer, tag string) error {
	host := hostOf(a.end)
	if err := s.gates.enter(ctx, host); err != nil {
		return err
	}
	begun, took := s.gates.now(), time.Duration(0)
	var busy bool
	var after time.Duration
	defer func() { s.gates.leave(context.WithoutCancel(ctx), host, took, busy, after) }()
	ctx, cancel := context.WithTimeout(ctx, s.o.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, a.end.String(), http.NoBody)
	if err != nil {
		return err
	}
	s.header(r, tag)
	if a.most == 0 && method == http.MethodGet && tag == "" {
		r.Header.Set("Range", fmt.Sprintf("bytes=0-%d", maxBody-1))
	}
	response, err := s.transport.RoundTrip(r)
	if took = s.gates.now().Sub(begun); err != nil {
		return err
	}
	defer response.Body.Close()
	a.status, a.header, a.body = response.StatusCode, response.Header, nil
	if busy = a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable; busy {
		after = retryafter.Parse(a.header.Get("Retry-After"), s.o.Now())
	}
	if cookies := response.Cookies(); len(cookies) > 0 && len(cookies) <= maxCookies {
		s.jar.SetCookies(a.end, cookies)
	}
	if method == http.MethodHead || a.status >= 300 && a.status < 400 {
		return nil
	}
	a.body, err = readBody(response, cmp.Or(a.most, maxBody))
	return err
}

const maxCookies = 50

func (s *session) header(r *http.Request, tag string) {
	r.Header.Set("User-Agent", s.o.Agent)
	if s.o.From != "" {
		r.Header.Set("From", s.o.From)
	}
	r.Header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	r.Header.Set("Accept-Language", "en,*;q=0.5")
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	for _, c := range s.jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
}

func readBody(r *http.Response, most int) ([]byte, error) {
	in := io.LimitReader(r.Body, int64(most))
	if !strings.EqualFold(r.Header.Get("Content-Encoding"), "gzip") {
		return io.ReadAll(in)
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(z, max(maxDecoded, int64(most))))
	if errors.Is(err, io.ErrUnexpectedEOF) { // the body was truncated at the limit
		err = nil
	}
	return b, err
}

func hostOf(u *url.URL) string { return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) }

func originOf(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

// Lifetimes of a file robots.txt.
const (
	robotsTime    = 24 * time.Hour
	robotsMissing = 30 * 24 * time.Hour // time for which a host is not asked if its robots.txt has the status 5xx
	robotsRetry   = 6 * time.Hour
	robotsHops    = 5
)

type keptRobots struct {
	robots
	Fetched time.Time `json:"fetched"`          // last attempt
	Failing time.Time `json:"failing,omitzero"` // time since which the status is 5xx or 429
	Lost    bool      `json:"lost,omitempty"`   // the file existed before, but not at the last attempt
	Valid   bool      `json:"valid,omitempty"`  // the rules were read, perhaps before Failing
}

// forbidden returns the reason for which a URL may not be requested, or "".
func (s *session) forbidden(ctx context.Context, u *url.URL) (string, error) {
	if _, own := s.o.Own[hostOf(u)]; own {
		return "", nil
	}
	origin := originOf(u)
	now := s.o.Now()
	kept, ok := s.robots.load(origin)
	life := robotsTime
	if !kept.Failing.IsZero() || kept.Lost {
		life = robotsRetry
	}
	if !ok || now.Sub(kept.Fetched) >= life || now.Before(kept.Fetched) {
		err := s.fetchRobots(ctx, u, &kept)
		switch {
		case err == nil:
		case !kept.Valid || errors.Is(err, errLater) || ctx.Err() != nil:
			return "", err
		default: // the stored rules apply while the file is unreachable (RFC 9309, section 2.4)
			kept.Fetched = s.o.Now()
			if kept.Failing.IsZero() {
				kept.Failing = kept.Fetched
			}
		}
		s.robots.save(origin, kept)
	}
	s.gates.delay(hostOf(u), kept.Delay)
	switch {
	case kept.Failing.IsZero(), kept.Valid, now.Sub(kept.Failing) >= robotsMissing:
	case now.Sub(kept.Failing) < robotsTime:
		return "", errLater
	default:
		return "robots.txt of the host cannot be read", nil
	}
	if path := u.EscapedPath(); !kept.allows(withQuery(path, u.RawQuery)) {
		return "robots.txt forbids the location", nil
	}
	return "", nil
}

func withQuery(path, query string) string {
	if path == "" {
		path = "/"
	}
	if query != "" {
		path += "?" + query
	}
	return path
}

func (s *session) fetchRobots(ctx context.Context, u *url.URL, kept *keptRobots) error {
	a := answer{end: &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"}, most: maxRobots}
	for {
		if err := s.request(ctx, http.MethodGet, &a, ""); err != nil {
			return err
		}
		if a.status < 300 || a.status > 399 || a.hops == robotsHops {
			break
		}
		next, err := a.end.Parse(a.header.Get("Location"))
		if err != nil || !isWeb(next) {
			break
		}
		a.end = next
		a.hops++
	}
	kept.Fetched = s.o.Now()
	switch {
	case a.status < 300:
		kept.robots, kept.Failing, kept.Valid, kept.Lost = parseRobots(string(a.body), productName), time.Time{}, true, false
	case a.status < 500 && a.status != http.StatusTooManyRequests && kept.Valid && !kept.Lost && (len(kept.Rules) > 0 || kept.Delay > 0):
		kept.Failing, kept.Lost = time.Time{}, true // the rules apply until the file is missing for the second time
	case a.status < 500 && a.status != http.StatusTooManyRequests:
		kept.robots, kept.Failing, kept.Valid, kept.Lost = robots{}, time.Time{}, true, false
	case kept.Failing.IsZero():
		kept.Failing = kept.Fetched
	}
	return nil
}

const productName = "nomen"
