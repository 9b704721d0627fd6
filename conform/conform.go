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

// DefaultTimeout limits one exchange.
const DefaultTimeout = 10 * time.Second

// DefaultAbsent is an ElementID that no server is expected to know.
const DefaultAbsent = "no-such-name-7f3a9c21"

// Options describe the server to check and the names to check it with. A name
// is a URI, or an ElementID of the authority.
type Options struct {
	Target    string    // HOST:PORT or a URL, with or without a path
	Profiles  []Profile // nil means all, and profiles that the server does not support are then not applicable
	Authority string    // the prefix of the names, such as "urn:dns:example.org"; if empty, Run determines it
	Names     []string  // names that the server knows; if empty, Run gets some from urn+a
	Retired   string    // a name retired without a successor
	Moved     string    // a name replaced by another
	Absent    string    // a name that the server does not know; DefaultAbsent if empty
	Landing   string    // URL or path of the first name's landing page; if empty, the target of the name
	TimeGate  string    // URL to which the URL of a name is appended (RFC 7089, 4.2); may be empty

	Timeout time.Duration // the timeout of one exchange; DefaultTimeout if 0
	TLS     *tls.Config   // nil means the defaults

	// Dial connects to an address; nil means net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Subject has the target, the authority and the names with which the cases are run. Options
// gives them, or Run determines them.
type Subject struct {
	Target    string   `json:"target"`
	Form      string   `json:"form"` // form in which ElementIDs are requested: "bare", "urn" or "path"
	Authority string   `json:"authority,omitempty"`
	Elements  []string `json:"elements"`
}

// An OptionError reports an invalid option or target.
type OptionError struct{ message string }

func (e *OptionError) Error() string { return e.message }

func badOption(format string, args ...any) error {
	return &OptionError{fmt.Sprintf(format, args...)}
}

// ErrNoNames means that there is no name to check the server with.
var ErrNoNames = errors.New("no name to try: the server returns no list for urn+a")

// Run runs all cases of the profiles, in order, and passes each result to the function report.
// It returns ErrNoNames if no name is given or found, an *OptionError if an option is invalid,
// and another error if it cannot connect to the target.
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
	offered := map[Profile]string{} // the reason why the profile is not supported
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

// try runs a case and returns its result.
func (p *probe) try(c Case) Result {
	p.used = nil
	out := p.run(c.check)
	return Result{Case: c, Verdict: out.verdict, Detail: out.detail, Missing: out.missing, Exchanges: p.used}
}

// newProbe validates the options and returns a probe.
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

// sendable reports whether a text can be sent in a request line unchanged.
func sendable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
