package discover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Limits on DNS queries and responses.
const (
	maxServers  = 8
	maxAttempts = 5    // queries to all servers for one question
	maxStrange  = 64   // maximum number of other packets that are ignored while waiting for a response
	maxRecords  = 256  // in one response
	maxAliases  = 8    // aliases in a chain
	udpSize     = 1232 // maximum size in octets of a response that is not fragmented (DNS flag day of 2020)
)

const systemConfig = "/etc/resolv.conf"

// A NAPTR is a rule of DDDS as DNS stores it (RFC 3403, section 4.1).
type NAPTR struct {
	Order, Preference uint16
	Flags             string
	Services          string
	Regexp            string // the octets in the record, without the escapes of master files
	Replacement       string // without the final dot; "" for the root
	TTL               time.Duration
}

// An SRV is an SRV record, which has the host and port of a service (RFC 2782).
type SRV struct {
	Priority, Weight, Port uint16
	Target                 string // without the final dot; "" means that the service is not offered
	TTL                    time.Duration
}

// ResolverOptions configure a [Resolver]. The zero value uses the DNS servers of the system.
type ResolverOptions struct {
	// Servers lists the addresses of recursive servers, as IP or IP:PORT. If it is empty, the
	// servers in File are used.
	Servers []string

	// File is a file in the format of resolv.conf(5), by default /etc/resolv.conf. The Resolver
	// reads the file again when it has changed. The search list in the file is not used.
	File string

	// Timeout limits the time to wait for the response to a query. 0 means the timeout in File, or
	// 5 seconds if Servers is set.
	Timeout time.Duration

	// Dial opens connections. nil means [net.Dialer.DialContext].
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Now returns the current time, to find out which cached responses have expired. nil means
	// [time.Now].
	Now func() time.Time
}

// A Resolver queries recursive DNS servers, over UDP and over TCP if a response is truncated. It
// caches responses for their time to live. A Resolver is safe for concurrent use.
//
// Errors are of the type [*net.DNSError]. If IsNotFound is set, the name does not exist or does not
// have the records. Any other error means that the lookup failed.
type Resolver struct {
	o ResolverOptions

	mu     sync.Mutex
	conf   config
	asking map[question]*asking // queries in progress
	cache  cache
}

// An asking is a query in progress, for whose result concurrent lookups of the same question wait.
type asking struct {
	done   chan struct{} // closed when the other fields are set
	answer answer
	err    error
	cut    bool // the query was cancelled by its caller, so other lookups cannot use the result
}

var (
	_ DNS      = (*Resolver)(nil)
	_ Database = (*Resolver)(nil)
)

// NewResolver returns a Resolver. It returns an error if a server address is invalid.
func NewResolver(o ResolverOptions) (*Resolver, error) {
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.File == "" {
		o.File = systemConfig
	}
	r := &Resolver{o: o, asking: map[question]*asking{}, cache: cache{now: o.Now}}
	if len(o.Servers) > 0 {
		r.conf = config{timeout: 5 * time.Second, attempts: 2}
		for _, s := range o.Servers {
			address, err := serverAddress(s, "53")
			if err != nil {
				return nil, err
			}
			r.conf.servers = append(r.conf.servers, address)
		}
	}
	return r, nil
}

func serverAddress(s, port string) (string, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		return net.JoinHostPort(a.String(), port), nil
	}
	if a, err := netip.ParseAddrPort(s); err == nil && a.Port() != 0 {
		return a.String(), nil
	}
	return "", fmt.Errorf("discover: invalid DNS server %q: must be an IP address, optionally with a port", s)
}

// A config has the servers to query.
type config struct {
	servers  []string
	timeout  time.Duration
	attempts int
	checked  time.Time
	modified time.Time
}

// recheck is how often the file with the servers is checked for changes.
const recheck = 5 * time.Second

// config returns the configuration. It reads the file again if the file has changed.
func (r *Resolver) config() config {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.o.Servers) == 0 && (r.conf.servers == nil || r.o.Now().Sub(r.conf.checked) >= recheck) {
		r.readConfig()
	}
	c := r.conf
	if r.o.Timeout > 0 {
		c.timeout = r.o.Timeout
	}
	return c
}

// readConfig reads the file with the servers. If the file is missing or lists no servers, the local
// host is the server (resolv.conf(5)).
func (r *Resolver) readConfig() {
	old := r.conf
	info, err := os.Stat(r.o.File)
	if err == nil && old.servers != nil && info.ModTime().Equal(old.modified) {
		r.conf.checked = r.o.Now()
		return
	}
	c := config{timeout: 5 * time.Second, attempts: 2, checked: r.o.Now()}
	if file, err := dns.ClientConfigFromFile(r.o.File); err == nil {
		c.timeout = time.Duration(min(file.Timeout, 30)) * time.Second
		c.attempts = min(file.Attempts, maxAttempts)
		for _, s := range file.Servers {
			if address, err := serverAddress(s, file.Port); err == nil && len(c.servers) < maxServers {
				c.servers = append(c.servers, address)
			}
		}
	}
	if info != nil {
		c.modified = info.ModTime()
	}
	if c.servers == nil {
		c.servers = []string{"127.0.0.1:53", "[::1]:53"}
	}
	r.conf = c
}

// LookupNetIP returns the addresses of a host, IPv6 first. The network is "ip", "ip4" or "ip6". The
// host is a fully qualified domain name, and the search list of the system is not used.
func (r *Resolver) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	var types []uint16
	switch network {
	case "ip":
		types = []uint16{dns.TypeAAAA, dns.TypeA}
	case "ip4":
		types = []uint16{dns.TypeA}
	case "ip6":
		types = []uint16{dns.TypeAAAA}
	default:
		return nil, net.UnknownNetworkError(network)
	}
	if name := canonicalHost(host); name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return loopback(types), nil // RFC 6761, section 6.3
	}
	return r.families(ctx, host, types)
}

// grace is how long to wait for the addresses of one family after the addresses of the other family
// have arrived. Some servers never answer queries for IPv6 addresses (RFC 8305, section 3).
const grace = time.Second

// families looks up addresses of several record types concurrently, and returns them in the order
// of types.
func (r *Resolver) families(ctx context.Context, host string, types []uint16) ([]netip.Addr, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type family struct {
		i     int
		addrs []netip.Addr
		err   error
	}
	came := make(chan family, len(types))
	for i, t := range types {
		go func() {
			addrs, err := r.addresses(ctx, host, t)
			came <- family{i, addrs, err}
		}()
	}
	found, errs := make([][]netip.Addr, len(types)), make([]error, len(types))
	var enough <-chan time.Time
wait:
	for range types {
		select {
		case f := <-came:
			if found[f.i], errs[f.i] = f.addrs, f.err; len(f.addrs) > 0 {
				enough = time.After(grace)
			}
		case <-enough:
			break wait
		}
	}
	if all := slices.Concat(found...); len(all) > 0 {
		return all, nil
	}
	for _, err := range errs {
		if !isNotFound(err) {
			return nil, err
		}
	}
	return nil, errs[0]
}

func loopback(types []uint16) (all []netip.Addr) {
	for _, t := range types {
		if t == dns.TypeA {
			all = append(all, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
		} else {
			all = append(all, netip.IPv6Loopback())
		}
	}
	return all
}

func (r *Resolver) addresses(ctx context.Context, host string, t uint16) ([]netip.Addr, error) {
	records, err := r.lookup(ctx, host, t)
	var addrs []netip.Addr
	for _, rr := range records {
		var a netip.Addr
		var ok bool
		switch rr := rr.(type) {
		case *dns.A:
			a, ok = netip.AddrFromSlice(rr.A)
		case *dns.AAAA:
			a, ok = netip.AddrFromSlice(rr.AAAA)
		}
		if ok {
			addrs = append(addrs, a.Unmap())
		}
	}
	return addrs, err
}

// LookupNAPTR returns the rules at a domain name, in the order of the response.
func (r *Resolver) LookupNAPTR(ctx context.Context, name string) ([]NAPTR, error) {
	records, err := r.lookup(ctx, name, dns.TypeNAPTR)
	var rules []NAPTR
	for _, rr := range records {
		if n, ok := rr.(*dns.NAPTR); ok {
			rules = append(rules, NAPTR{
				n.Order, n.Preference, octets(n.Flags), octets(n.Service), octets(n.Regexp),
				canonicalHost(n.Replacement), ttl(rr),
			})
		}
	}
	return rules, err
}

// LookupSRV returns the SRV records at a fully qualified domain name, in the order of the response.
func (r *Resolver) LookupSRV(ctx context.Context, name string) ([]SRV, error) {
	records, err := r.lookup(ctx, name, dns.TypeSRV)
	var all []SRV
	for _, rr := range records {
		if s, ok := rr.(*dns.SRV); ok {
			all = append(all, SRV{s.Priority, s.Weight, s.Port, canonicalHost(s.Target), ttl(rr)})
		}
	}
	return all, err
}

func ttl(rr dns.RR) time.Duration { return time.Duration(rr.Header().Ttl) * time.Second }

// octets decodes the escape sequences in strings of package dns.
func octets(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if n, err := strconv.ParseUint(s[i+1:min(i+4, len(s))], 10, 8); err == nil && i+4 <= len(s) {
			b.WriteByte(byte(n))
			i += 3
			continue
		}
		i++
		b.WriteByte(s[i])
	}
	return b.String()
}

func canonicalHost(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

func isNotFound(err error) bool {
	var e *net.DNSError
	return errors.As(err, &e) && e.IsNotFound
}

func notFound(name string) *net.DNSError {
	return &net.DNSError{Err: "no such host", Name: canonicalHost(name), IsNotFound: true}
}

func (r *Resolver) lookup(ctx context.Context, name string, t uint16) ([]dns.RR, error) {
	if !isDomainName(strings.TrimSuffix(name, ".")) {
		return nil, notFound(name)
	}
	fqdn := strings.ToLower(dns.Fqdn(name))
	for range maxAliases {
		a, err := r.answer(ctx, fqdn, t)
		switch {
		case err != nil:
			return nil, err
		case len(a.records) > 0:
			return a.records, nil
		case a.alias == "":
			return nil, notFound(name)
		}
		fqdn = a.alias
	}
	return nil, &net.DNSError{Err: fmt.Sprintf("chain of more than %d aliases", maxAliases), Name: canonicalHost(name)}
}

// isDomainName reports whether name consists of labels with letters, digits, hyphens and
// underscores (RFC 1123, section 2.1; RFC 2782).
func isDomainName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for i := range len(label) {
			if c := label[i]; !ascii.IsLetter(c) && !ascii.IsDigit(c) && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}
