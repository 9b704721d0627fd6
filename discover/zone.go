package discover

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
)

// A Zone describes the resolver of an authority. [Zone.Records] returns the DNS records by which a
// [Finder] finds this resolver. The records usually belong to several DNS zones.
type Zone struct {
	Prefix    name.Prefix
	Host      string // the host name of the resolver
	Port      uint16
	Services  []string // the services that the resolver offers; nil means [ZoneServices]
	TTL       time.Duration
	Addresses []netip.Addr // the addresses of Host; nil if unknown
}

// ZoneServices returns the services that every nomen server offers.
func ZoneServices() []string { return []string{"I2L", "I2Ls", "I2C", "I2Cs", "I2N", "I2Ns"} }

// A Record is a line of a DNS master file (RFC 1035, section 5). It is a resource record or a
// remark.
type Record struct {
	Owner  string `json:"owner"` // with the final dot
	TTL    uint32 `json:"ttl,omitempty"`
	Type   string `json:"type,omitempty"`
	Data   string `json:"data,omitempty"`
	Remark string `json:"remark,omitempty"` // a note for the operator; such a Record has no type and data
}

// String returns the line of the master file.
func (r Record) String() string {
	if r.Remark != "" {
		return "; " + r.Owner + " " + r.Remark
	}
	return fmt.Sprintf("%s\t%d\tIN\t%s\t%s", r.Owner, r.TTL, r.Type, r.Data)
}

// Records returns the records to publish in DNS. It returns an error if DNS cannot express them,
// for example because the prefix is too long for a rule.
func (z Zone) Records() ([]Record, error) {
	if _, number := uri.ParseNumericHost(canonicalHost(z.Host)); number || !isDomainName(canonicalHost(z.Host)) {
		return nil, fmt.Errorf("discover: %q is not a domain name", z.Host)
	}
	if host, ok := dnsAuthority(z.Prefix); ok {
		return z.checked(z.addressRecords(host))
	}
	key, _, ok := firstKey(z.sample())
	if !ok {
		return nil, fmt.Errorf("discover: %s: its scheme is not a valid domain label, so it cannot have rules", z.Prefix)
	}
	rule, err := z.delegation()
	if err != nil {
		return nil, err
	}
	host := canonicalHost(z.Host)
	server := z.server()
	records := []Record{
		z.record(key, "NAPTR", rule.String()),
		z.record(host, "NAPTR", server.String()),
		z.record(server.Replacement, "SRV", fmt.Sprintf("0 0 %d %s.", z.port(), host)),
	}
	return z.checked(append(records, z.addressRecords(host)...))
}

func (z Zone) port() uint16 { return cmp.Or(z.Port, Port) }

func (z Zone) sample() name.Name { return name.FromKey(z.Prefix.Spell("0")) }

func dnsAuthority(p name.Prefix) (string, bool) {
	rest, ok := strings.CutPrefix(p.String(), "urn:dns:")
	host, _, _ := strings.Cut(rest, ":")
	return host, ok && host != ""
}

func (z Zone) addressRecords(host string) []Record {
	var records []Record
	if len(z.Addresses) == 0 {
		remark := "needs A or AAAA records, one for each address of the resolver"
		if host != canonicalHost(z.Host) {
			remark = "needs A or AAAA records, one for each address of " + canonicalHost(z.Host) + "."
		}
		records = append(records, Record{Owner: host + ".", Remark: remark})
	}
	for _, a := range z.Addresses {
		records = append(records, z.record(host, addressType(a), a.Unmap().String()))
	}
	if _, ok := dnsAuthority(z.Prefix); ok && z.port() != Port {
		records = append(records, Record{Owner: host + ".", Remark: fmt.Sprintf("must also listen on port %d, for clients that do not know port %d", Port, z.port())})
	}
	return records
}

func addressType(a netip.Addr) string {
	if a.Unmap().Is4() {
		return "A"
	}
	return "AAAA"
}

// delegation returns the rule that leads from the namespace to the host. The rule applies to all
// names of the namespace, or only to names with the prefix.
func (z Zone) delegation() (NAPTR, error) {
	r := NAPTR{Order: 100, Preference: 10}
	key, host := z.Prefix.String(), canonicalHost(z.Host)
	scheme, rest, _ := strings.Cut(key, ":")
	if rest == "" || scheme == "urn" && !strings.Contains(rest, ":") {
		r.Replacement = host
		return r, nil
	}
	var after strings.Builder
	for _, c := range "-:/.;" {
		if z.Prefix.Covers(name.FromKey(key + string(c) + "0")) {
			after.WriteRune(c)
		}
	}
	r.Regexp = "!^" + escapeERE(key) + "[" + after.String() + "].*$!" + host + "!i"
	if _, err := ParseSubstitution(r.Regexp); err != nil {
		return r, fmt.Errorf("the prefix cannot be expressed in a DNS rule: %w", err)
	}
	return r, nil
}

func escapeERE(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(`.[]()*+?{}|^$\!`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// server returns the rule at the host, which leads to the SRV records of its server.
func (z Zone) server() NAPTR {
	offered := z.Services
	if len(offered) == 0 {
		offered = ZoneServices()
	}
	return NAPTR{
		Order: 100, Preference: 10, Flags: "s", Services: Services{"thttp", offered}.String(),
		Replacement: "_thttp._tcp." + canonicalHost(z.Host),
	}
}

func (z Zone) record(owner, kind, data string) Record {
	return Record{Owner: owner + ".", TTL: uint32(z.TTL / time.Second), Type: kind, Data: data}
}

// checked returns the records, or an error if a name server could not parse one of them.
func (z Zone) checked(records []Record) ([]Record, error) {
	for _, r := range records {
		if r.Remark != "" {
			continue
		}
		if _, err := dns.NewRR(r.String()); err != nil {
			return nil, fmt.Errorf("discover: %s: %w", r, err)
		}
	}
	return records, nil
}

// A Difference is a difference between the records in DNS and those that [Zone.Records] returns.
type Difference struct {
	Owner    string `json:"owner"`
	Type     string `json:"type"`
	Problem  string `json:"problem"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
}

// String describes the difference in one line.
func (d Difference) String() string {
	s := d.Owner + " " + d.Type + ": " + d.Problem
	if d.Expected != "" {
		s += ": want " + d.Expected
	}
	if d.Found != "" {
		s += ": found " + d.Found
	}
	return s
}

// LiveDNS looks up records in DNS. [Resolver] implements it.
type LiveDNS interface {
	DNS
	Database
}

// Check looks up the records in DNS, and returns the differences to [Zone.Records]. It ignores
// times to live, the order and preference of rules, and rules for other names. Check returns the
// error of Records, or an error if a lookup in DNS fails.
func (z Zone) Check(ctx context.Context, live LiveDNS) ([]Difference, error) {
	if _, err := z.Records(); err != nil {
		return nil, err
	}
	c := zoneCheck{z: z, live: live, host: canonicalHost(z.Host)}
	steps := []func(context.Context) error{c.delegation, c.server, c.service, c.addresses, c.search}
	if _, ok := dnsAuthority(z.Prefix); ok {
		steps = []func(context.Context) error{c.authority}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return c.found, err
		}
	}
	return c.found, nil
}

type zoneCheck struct {
	z     Zone
	live  LiveDNS
	host  string
	found []Difference
}

func (c *zoneCheck) differ(owner, kind, problem, expected, found string) {
	c.found = append(c.found, Difference{owner + ".", kind, problem, expected, found})
}

// naptr looks up rules. A name without rules is not an error.
func (c *zoneCheck) naptr(ctx context.Context, owner string) ([]NAPTR, error) {
	rules, err := c.live.LookupNAPTR(ctx, owner)
	if isNotFound(err) {
		return nil, nil
	}
	return rules, err
}

// sameRule reports whether two rules differ only in their order and preference.
func sameRule(a, b NAPTR) bool {
	return strings.EqualFold(a.Flags, b.Flags) && strings.EqualFold(a.Services, b.Services) && a.Regexp == b.Regexp && a.Replacement == b.Replacement
}

// delegation checks that the rules of the namespace lead to the host.
func (c *zoneCheck) delegation(ctx context.Context) error {
	key, _, _ := firstKey(c.z.sample())
	want, err := c.z.delegation()
	if err != nil {
		return err
	}
	rules, err := c.naptr(ctx, key)
	if err == nil && !slices.ContainsFunc(rules, func(r NAPTR) bool { return sameRule(r, want) }) {
		c.differ(key, "NAPTR", "missing", want.String(), "")
	}
	return err
}

// server checks that the rules at the host have the rule to its server, and no other rule for the
// protocol THTTP.
func (c *zoneCheck) server(ctx context.Context) error {
	want := c.z.server()
	rules, err := c.naptr(ctx, c.host)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(rules, func(r NAPTR) bool { return sameRule(r, want) }) {
		c.differ(c.host, "NAPTR", "missing", want.String(), "")
	}
	for _, r := range rules {
		if s, err := ParseServices(r.Services); !sameRule(r, want) && (err != nil || s.Protocol == "thttp") {
			c.differ(c.host, "NAPTR", "unexpected", "", r.String())
		}
	}
	return nil
}

// service checks that the SRV records contain the host and port of the resolver, and no other
// servers.
func (c *zoneCheck) service(ctx context.Context) error {
	owner := c.z.server().Replacement
	records, err := c.live.LookupSRV(ctx, owner)
	if err != nil && !isNotFound(err) {
		return err
	}
	there := func(r SRV) bool { return r.Target == c.host && r.Port == c.z.port() }
	if !slices.ContainsFunc(records, there) {
		c.differ(owner, "SRV", "missing", fmt.Sprintf("0 0 %d %s.", c.z.port(), c.host), "")
	}
	for _, r := range records {
		if !there(r) {
			c.differ(owner, "SRV", "unexpected", "", fmt.Sprintf("%d %d %d %s.", r.Priority, r.Weight, r.Port, r.Target))
		}
	}
	return nil
}

// lookup returns the addresses of a host. A host without addresses is not an error.
func (c *zoneCheck) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs, err := c.live.LookupNetIP(ctx, "ip", host+".")
	if isNotFound(err) {
		return nil, nil
	}
	return addrs, err
}

// addresses checks that the host has the addresses in Zone.Addresses. If this list is empty, the
// host must have at least one address.
func (c *zoneCheck) addresses(ctx context.Context) error {
	found, err := c.lookup(ctx, c.host)
	if err != nil {
		return err
	}
	if len(c.z.Addresses) > 0 {
		c.compare(c.host, c.z.Addresses, found)
	} else if len(found) == 0 {
		c.differ(c.host, "A", "the host has no address", "", "")
	}
	return nil
}

// authority checks that the host in urn:dns names has exactly the addresses of the resolver
// (Y95-23, Y95-24).
func (c *zoneCheck) authority(ctx context.Context) error {
	owner, _ := dnsAuthority(c.z.Prefix)
	want := c.z.Addresses
	if len(want) == 0 {
		var err error
		if want, err = c.lookup(ctx, c.host); err != nil {
			return err
		}
		if len(want) == 0 {
			c.differ(c.host, "A", "the host has no address", "", "")
		}
	}
	found, err := c.lookup(ctx, owner)
	if err == nil {
		c.compare(owner, want, found)
	}
	if c.z.port() != Port {
		c.differ(owner, "A", fmt.Sprintf("clients expect resolvers of urn:dns names at port %d, this one is at %d", Port, c.z.port()), "", "")
	}
	return err
}

func (c *zoneCheck) compare(owner string, want, found []netip.Addr) {
	for _, a := range want {
		if !slices.Contains(found, a.Unmap()) {
			c.differ(owner, addressType(a), "missing", a.Unmap().String(), "")
		}
	}
	for _, a := range found {
		if !slices.ContainsFunc(want, func(w netip.Addr) bool { return w.Unmap() == a }) {
			c.differ(owner, addressType(a), "unexpected", "", a.String())
		}
	}
}

// search checks that a [Finder] finds the resolver of a name with the prefix. It runs only if the
// records do not differ.
func (c *zoneCheck) search(ctx context.Context) error {
	if len(c.found) > 0 {
		return nil
	}
	f, err := New(Options{Rules: c.live})
	if err != nil {
		return err
	}
	want := thttpURL(c.host, c.z.port())
	for w, err := range f.Find(ctx, c.z.sample()) {
		if err != nil {
			c.differ(c.host, "NAPTR", "a name such as "+c.z.sample().Key()+" does not lead here", want, err.Error())
			return nil
		}
		if w.URL == want {
			return nil
		}
	}
	c.differ(c.host, "NAPTR", "other rules lead a name such as "+c.z.sample().Key()+" elsewhere", want, "")
	return nil
}
