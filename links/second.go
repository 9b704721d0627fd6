package links

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
)

// A guarded transport sends requests through a proxy. It rejects hosts with an address that
// [Options.Allow] does not permit, because the proxy may be able to connect to such addresses.
type guarded struct {
	o *Options
	http.RoundTripper
}

func (g guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	all, err := g.o.addresses(r.Context(), r.URL.Hostname())
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if err := g.o.Allow(a); err != nil {
			return nil, err
		}
	}
	return g.RoundTripper.RoundTrip(r)
}

// newProxyTransport returns a transport that uses the proxy.
func (o *Options) newProxyTransport() (http.RoundTripper, error) {
	proxy, err := url.Parse(o.Proxy)
	if err != nil {
		return nil, err
	}
	t := o.newTransport()
	t.Proxy, t.DialContext = http.ProxyURL(proxy), o.Dial
	return guarded{o, t}, nil
}

// checkTwice checks a location. If the location would become dead and there is a second network,
// checkTwice also requests the location through that network.
func (w *Watcher) checkTwice(ctx context.Context, t *target) result {
	r := w.checker.check(ctx, t)
	if w.checker.second == nil || r.Outcome.weight() == 0 || t.host.Failing != None {
		return r
	}
	if _, event := t.state.Observe(r.Observation, w.o.Now()); event != Died {
		return r
	}
	start, err := url.Parse(t.url)
	if err != nil {
		return r
	}
	j, _ := cookiejar.New(nil) // without options, it does not fail
	s := session{checker: &w.checker, jar: j, transport: w.checker.second}
	a := s.get(ctx, start, "")
	switch answers, why := compare(r.Outcome, &a); {
	case answers:
		r.Outcome, r.Detail = Refused, "the location answers from another network: "+a.detail
	case why != "":
		w.o.Log.Warn("a link cannot be checked from another network, so it is not dead yet", "url", t.url, "reason", why, "detail", a.detail)
		r.Outcome, r.Detail = None, why+": "+a.detail
	}
	return r
}

// compare compares the outcome of a failed check with the answer through another network. It
// reports whether the location is available there. If this is unknown, it returns the reason.
func compare(here Outcome, there *answer) (answers bool, why string) {
	switch {
	case there.status == http.StatusProxyAuthRequired, isProxyError(there.err):
		return false, "the proxy cannot be used"
	case there.outcome == None:
		return false, "the host must not be asked now"
	case there.outcome == Private:
		return false, "the location has a private address"
	case there.outcome.weight() == 0:
		return true, ""
	case here.isDefinite() && here != NoHost && !there.outcome.isDefinite():
		return false, "the other network has another failure"
	}
	return false, ""
}

// isProxyError reports whether the connection to the proxy failed.
func isProxyError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "proxyconnect"
}
