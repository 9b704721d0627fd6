package conform

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
)

// DefaultTimeout is the default timeout for one request and its response.
const DefaultTimeout = 10 * time.Second

// DefaultAbsent is an ElementID that no server is likely to know.
const DefaultAbsent = "no-such-name-7f3a9c21"

// Options specifies the server to test and the names to test it with. Each name is either a URI or
// an ElementID, which is the part of a URN after the prefix of the authority.
type Options struct {
	Target    string    // the server, as HOST:PORT or a URL, with or without a path
	Profiles  []Profile // nil means all; if the server does not support a profile, its cases are not applicable
	Authority string    // prefix of the names, such as "urn:dns:example.org"; if "", Run finds it out
	Names     []string  // names that the server knows; if empty, Run requests some with urn+a
	Retired   string    // a name that was retired without a successor
	Moved     string    // a name that another one replaces
	Absent    string    // a name that the server does not know; "" means DefaultAbsent
	Landing   string    // URL or path of the landing page of the first name; "" means the target of the name
	TimeGate  string    // URL to which the URL of a name is appended (RFC 7089, 4.2); may be ""

	Timeout time.Duration // for an exchange; 0 means DefaultTimeout
	TLS     *tls.Config   // nil means the defaults

	// Dial connects to an address. If Dial is nil, a [net.Dialer] is used.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Subject describes the server and the names that were used in the test. The names come from
// [Options], or were obtained from the server.
type Subject struct {
	Target    string   `json:"target"`
	Form      string   `json:"form"` // how ElementIDs are requested: "bare", "urn" or "path"
	Authority string   `json:"authority,omitempty"`
	Elements  []string `json:"elements"`
}

// An OptionError reports an invalid option.
type OptionError struct{ message string }

func (e *OptionError) Error() string { return e.message }

func badOption(format string, args ...any) error {
	return &OptionError{fmt.Sprintf(format, args...)}
}

// ErrNoNames is returned by [Run] if it has no names to test the server with.
var ErrNoNames = errors.New("no name to try: the server returns no list for urn+a")

// Run runs all cases of the chosen profiles, in order, and calls report for each result. The error
// is an [*OptionError] if an option is invalid. It is [ErrNoNames] if the options contain no names
// and the server does not list any. It is the cause of the cancellation if ctx is done. Any other
// error means that the server cannot be reached.
func Run(ctx context.Context, o Options, report func(Result)) (Subject, error) {
	p, err := newProbe(ctx, o)
	if err != nil {
		return Subject{}, err
	}
	if err := p.prepare(); err != nil {
		return Subject{}, err
	}
	subject := Subject{Target: p.t.url(p.t.base), Form: string(p.form), Authority: p.authority, Elements: p.elements}
	chosen := o.Profiles
	if chosen == nil {
		chosen = Profiles()
	}
	offered := map[Profile]string{} // why the profile is not supported, or ""
	for _, c := range Cases() {
		if !slices.Contains(chosen, c.Profile) {
			continue
		}
		if ctx.Err() != nil {
			return subject, context.Cause(ctx)
		}
		why, begun := offered[c.Profile]
		r := Result{Case: c, Verdict: NotApplicable, Detail: why}
		if why == "" {
			r = p.try(c)
		}
		if !begun && r.Verdict != Pass {
			why = "not supported: " + r.Detail
			if r.Verdict == Fail && o.Profiles == nil {
				r.Verdict, r.Detail = NotApplicable, why
			}
		}
		offered[c.Profile] = why
		report(r)
	}
	return subject, nil
}

func (p *probe) try(c Case) Result {
	p.used = nil
	out := p.run(c.check)
	return Result{Case: c, Verdict: out.verdict, Detail: out.detail, Missing: out.missing, Exchanges: p.used}
}

func newProbe(ctx context.Context, o Options) (*probe, error) {
	t, err := parseTarget(o.Target)
	if err != nil {
		return nil, err
	}
	o.Timeout, o.Absent = cmp.Or(o.Timeout, DefaultTimeout), cmp.Or(o.Absent, DefaultAbsent)
	if o.Timeout < 0 {
		return nil, badOption("invalid timeout %s: must be positive", o.Timeout)
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	p := &probe{
		ctx: ctx, o: o, t: t, memory: map[string]remembered{},
		d: dialer{address: t.address(), host: t.host, secure: t.secure, config: o.TLS, timeout: o.Timeout, dial: o.Dial},
	}
	for _, n := range append([]string{o.Retired, o.Moved, o.Absent, o.Authority, o.Landing, o.TimeGate}, o.Names...) {
		if !sendable(n) {
			return nil, badOption("invalid name or URL %q: white space and other characters than printable ASCII must be percent-encoded", n)
		}
	}
	return p, nil
}

// sendable reports whether s can be part of a request line without escaping.
func sendable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
