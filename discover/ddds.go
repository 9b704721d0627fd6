package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
)

// A Database looks up the rules of the Dynamic Delegation Discovery System (DDDS) in DNS (RFC
// 3403). [Resolver] implements Database. If a domain name does not have the records, the error is a
// [*net.DNSError] with IsNotFound set. Any other error means that the lookup failed.
type Database interface {
	LookupNAPTR(ctx context.Context, name string) ([]NAPTR, error)
	LookupSRV(ctx context.Context, name string) ([]SRV, error)
}

// Limits on a search.
const (
	maxRules    = 64 // rules at one key
	maxLookups  = 16 // lookups of rules and services
	maxRestarts = 2  // restarts after rules have expired
)

// The flags of rules (RFC 3404, section 4.3). A rule without a flag leads to other rules.
const (
	flagNone    = 0
	flagService = 'S'
	flagAddress = 'A'
	flagURI     = 'U'
	flagOther   = 'P'
)

// A ruleSet holds the rules at a key in their order, and the state of the search at this key.
type ruleSet struct {
	key      string
	rules    []NAPTR
	next     int
	matched  bool
	order    uint16    // order of the rule that matched
	fruitful bool      // a rule of the set led to a way
	expires  time.Time // when the rules expire; zero means at the end of the search
}

// A search runs the algorithm of RFC 3402, section 3.3, as RFC 3404 applies it. When a terminal
// rule matches, the search yields the ways to which the rule leads. If the caller continues the
// iteration, the search also tries other rules of the same order.
type search struct {
	f       *Finder
	aus     string // the application unique string, to which rules are applied
	sets    []*ruleSet
	seen    map[string]bool
	lookups int
	yield   func(Way) bool
}

// firstKey returns the domain name at which the search begins (RFC 3404, sections 4.2 and 4.5), and
// a description of its origin. It returns false if the scheme or the namespace is not a valid
// domain label.
func firstKey(n name.Name) (key, why string, ok bool) {
	if nid := n.NID(); nid != "" {
		key, why = nid+".urn.arpa", "namespace "+nid
	} else {
		key, why = n.Scheme()+".uri.arpa", "scheme "+n.Scheme()
	}
	return key, why, isDomainName(key)
}

// run starts the search at a key, and restarts it if rules expire meanwhile. It returns nil if the
// key has no rules, or no rule that applies to the name.
func (s *search) run(ctx context.Context, key, reason string) error {
	for range maxRestarts + 1 {
		s.sets, s.seen = nil, map[string]bool{}
		err := s.once(ctx, key, reason)
		if !errors.Is(err, errExpired) {
			return err
		}
		s.f.trace("rules have expired: restarting", key)
	}
	return &RuleError{key, "they expire too quickly to be followed"}
}

var (
	errExpired = errors.New("rules have expired")
	errEnough  = errors.New("stopped by the caller")
)

// once runs the search from the first key until no rules are left, without restarts.
func (s *search) once(ctx context.Context, key, why string) error {
	err := s.enter(ctx, key, why)
	if isNotFound(err) {
		s.f.trace("no rules found", key)
		return nil
	}
	for err == nil && len(s.sets) > 0 {
		if s.expired() {
			return errExpired // RFC 3402, section 3.3, note 2
		}
		set := s.sets[len(s.sets)-1]
		rule, result, ok := s.match(set)
		switch {
		case ok && rule.flag == flagNone:
			err = s.follow(ctx, set, result)
		case ok:
			err = s.finish(ctx, set, rule, result)
		case !set.fruitful && len(s.sets) > 1:
			err = &RuleError{set.key, "none of them leads further"}
		default:
			s.sets = s.sets[:len(s.sets)-1]
		}
	}
	return err
}

func (s *search) expired() bool {
	now := s.f.o.Now()
	return slices.ContainsFunc(s.sets, func(set *ruleSet) bool { return !set.expires.IsZero() && now.After(set.expires) })
}

// enter looks up the rules at a key and pushes them onto the stack.
func (s *search) enter(ctx context.Context, key, why string) error {
	s.f.trace(why+": look up NAPTR", key)
	if err := s.count(key); err != nil {
		return err
	}
	s.seen[key] = true
	found, err := s.f.o.Rules.LookupNAPTR(ctx, key)
	if err != nil {
		return err
	}
	set := &ruleSet{key: key, rules: slices.Clone(found)}
	slices.SortStableFunc(set.rules, func(a, b NAPTR) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Preference, b.Preference))
	})
	set.rules = set.rules[:min(len(set.rules), maxRules)]
	life := time.Duration(0)
	for _, r := range set.rules {
		if life == 0 || r.TTL < life {
			life = r.TTL
		}
	}
	if life > 0 {
		set.expires = s.f.o.Now().Add(life)
	}
	s.sets = append(s.sets, set)
	return nil
}

func (s *search) count(key string) error {
	if s.lookups++; s.lookups > maxLookups {
		return &RuleError{key, fmt.Sprintf("more than %d steps lead here", maxLookups)}
	}
	return nil
}

// follow continues with the rules at the next key. If the key has no rules, it returns an error and
// the search ends (RFC 3403, section 8).
func (s *search) follow(ctx context.Context, set *ruleSet, key string) error {
	if s.seen[key] {
		return &RuleError{set.key, "they form a loop back to " + key}
	}
	err := s.enter(ctx, key, "the rule refers to another key")
	if isNotFound(err) {
		return &RuleError{set.key, "they lead to " + key + ", which has none"}
	}
	return err
}

type checkedRule struct {
	NAPTR
	flag     byte
	services Services
}

// String returns the rule in the format of a DNS master file, without the owner name.
func (r NAPTR) String() string {
	return fmt.Sprintf("%d %d %s %s %s %s.", r.Order, r.Preference,
		quoteString(r.Flags), quoteString(r.Services), quoteString(r.Regexp), r.Replacement)
}

// match returns the next rule that applies to the name and that the caller supports. The string is
// the result of the rule's substitution.
func (s *search) match(set *ruleSet) (checkedRule, string, bool) {
	for set.next < len(set.rules) {
		r := checkedRule{NAPTR: set.rules[set.next]}
		if set.matched && r.Order > set.order {
			s.f.trace("rules of a higher order are ignored, because one has matched", set.key)
			set.next = len(set.rules)
			break
		}
		set.next++
		result, why := s.apply(set, &r)
		if why == "" {
			s.f.trace("rule "+r.String()+" applies", result)
			return r, result, true
		}
		s.f.trace("rule "+r.String()+" is skipped: "+why, set.key)
	}
	return checkedRule{}, "", false
}

// apply parses a rule and applies it to the name. If the rule must be skipped, for example because
// its flags are unknown, reason describes why.
func (s *search) apply(set *ruleSet, r *checkedRule) (result, reason string) {
	var ok bool
	if r.flag, ok = readFlags(r.Flags); !ok {
		return "", "unknown flags"
	}
	if result, reason = rewrite(r.NAPTR, s.aus); reason != "" {
		return "", reason
	}
	set.matched, set.order = true, r.Order
	services, err := ParseServices(r.Services)
	if err != nil {
		return "", "invalid service field"
	}
	r.services = services
	if reason = s.f.use(r, result); reason != "" {
		return "", reason
	}
	if r.flag == flagURI {
		return result, ""
	}
	if result = canonicalHost(result); !isDomainName(result) {
		return "", fmt.Sprintf("%q is not a domain name", result)
	}
	return result, ""
}

// readFlags returns the flag of a rule, which is at most one of S, A, U and P.
func readFlags(flags string) (flag byte, ok bool) {
	for i := range len(flags) {
		switch c := flags[i] &^ 0x20; c {
		case flagService, flagAddress, flagURI, flagOther:
			if flag != 0 && flag != c {
				return 0, false
			}
			flag = c
		default:
			return 0, false
		}
	}
	return flag, true
}

// rewrite applies the substitution of a rule, which is a substitution expression or a domain name
// (RFC 3403, section 4.1).
func rewrite(r NAPTR, aus string) (result, why string) {
	switch {
	case r.Regexp != "" && r.Replacement != "":
		return "", "it has both an expression and a replacement"
	case r.Regexp == "" && r.Replacement == "":
		return "", "it has neither expression nor replacement"
	case r.Regexp == "":
		return r.Replacement, ""
	}
	expr, err := ParseSubstitution(r.Regexp)
	var bad *Error
	if errors.As(err, &bad) {
		return "", fmt.Sprintf("invalid expression at offset %d: %s: %s", bad.Offset, bad.Rule, bad.Message)
	}
	result, ok := expr.Apply(aus)
	if !ok {
		return "", "it does not match"
	}
	return result, ""
}

// protocols maps the names of the protocol THTTP (RFC 2169) in rules to its default port. Older
// rules use the name http (RFC 2168; RFC 2915, section 7).
var protocols = map[string]uint16{"thttp": 80, "http": 80}

func (f *Finder) knows(protocol string) bool {
	return protocols[protocol] != 0 || slices.Contains(f.o.Protocols, protocol)
}

func (f *Finder) use(r *checkedRule, result string) string {
	protocol := r.services.Protocol
	switch {
	case len(r.services.Names) > 0 && len(r.services.Known()) == 0:
		return "it has no known service"
	case r.flag == flagURI:
		return useURI(protocol, result, f)
	case protocol == "" && r.flag != flagNone:
		return "it ends the search, but names no protocol"
	case protocol != "" && !f.knows(protocol):
		return fmt.Sprintf("unsupported protocol %q", protocol)
	}
	return ""
}

func useURI(protocol, result string, f *Finder) string {
	u, err := uri.Parse(result)
	if err != nil {
		return fmt.Sprintf("%q is not a URI", result)
	}
	if scheme, _ := u.Scheme(); protocol != "" && !f.knows(protocol) && !strings.EqualFold(scheme, protocol) {
		return fmt.Sprintf("unsupported protocol %q", protocol)
	}
	return ""
}

// finish yields the ways to which a terminal rule leads.
func (s *search) finish(ctx context.Context, set *ruleSet, r checkedRule, result string) error {
	how := fmt.Sprintf("a rule of %s, %s", set.key, flagNames[r.flag])
	switch r.flag {
	case flagURI:
		return s.found(Way{Kind: Location, URL: result, Services: r.services.Known(), How: how})
	case flagService:
		return s.services(ctx, r, result, how)
	}
	return s.found(endpoint(r.services, result, protocols[r.services.Protocol], how))
}

var flagNames = map[byte]string{
	flagService: "whose servers have SRV records",
	flagAddress: "which names the host",
	flagURI:     "which has the URL",
	flagOther:   "whose protocol defines the rest",
}

func endpoint(s Services, host string, port uint16, how string) Way {
	w := Way{Kind: Kind(s.Protocol), Host: host, Port: port, Services: s.Known(), How: how}
	if standard := protocols[s.Protocol]; standard != 0 {
		w.Kind = THTTP
		w.URL = thttpURL(host, port)
	}
	return w
}

func thttpURL(host string, port uint16) string {
	if port != protocols["thttp"] {
		host = hostPort(host, port)
	} else if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return "http://" + host + "/uri-res/"
}

// services yields the ways to the hosts that SRV records list for a service. It returns an error if
// there are no SRV records. It yields nothing if the SRV record means that the service is not
// offered (RFC 2782).
func (s *search) services(ctx context.Context, r checkedRule, key, how string) error {
	s.f.trace("the rule leads to servers: look up SRV", key)
	if err := s.count(key); err != nil {
		return err
	}
	records, err := s.f.o.Rules.LookupSRV(ctx, key)
	if isNotFound(err) {
		return &RuleError{key, "a rule refers to it, but it has no SRV records"}
	}
	if err != nil {
		return err
	}
	for i, srv := range sortSRV(records, s.f.o.Pick) {
		if i == maxRules {
			break
		}
		if srv.Target == "" {
			s.f.trace("the service is not offered", key)
			continue
		}
		if !isDomainName(srv.Target) || srv.Port == 0 {
			s.f.trace("the SRV record names no server", key)
			continue
		}
		if err := s.found(endpoint(r.services, srv.Target, srv.Port, fmt.Sprintf("%s at %s: priority %d, weight %d", how, key, srv.Priority, srv.Weight))); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) found(w Way) error {
	for _, set := range s.sets {
		set.fruitful = true
	}
	if !s.yield(w) {
		return errEnough
	}
	return nil
}

// quoteString quotes a character-string for a DNS master file (RFC 1035, section 5.1).
func quoteString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03d", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
