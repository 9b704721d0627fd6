package discover

import (
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Limits of the cache.
const (
	maxKept     = 4096             // responses
	maxLife     = 24 * time.Hour   // maximum lifetime of a response, even if the zone permits more
	maxNegative = 10 * time.Minute // maximum lifetime of a negative response; RFC 2308, section 5 permits hours
)

// A question identifies a cached response. Its name is in lower case.
type question struct {
	name string
	kind uint16
}

// An answer is the part of a response that was accepted.
type answer struct {
	records []dns.RR // of the type in the question
	alias   string   // the name to look up next if there are no records
	life    time.Duration
	expires time.Time
}

// read returns the records in m that answer a question. These are records of type t and class IN
// whose owner is fqdn or a name for which fqdn is an alias. All other records, including additional
// records, are ignored.
func read(m *dns.Msg, fqdn string, t uint16) answer {
	a := answer{life: maxLife}
	owner, hops := fqdn, 0
	for ; hops < maxAliases; hops++ {
		alias := ""
		for _, rr := range m.Answer[:min(len(m.Answer), maxRecords)] {
			h := rr.Header()
			if h.Class != dns.ClassINET || !strings.EqualFold(h.Name, owner) {
				continue
			}
			if c, ok := rr.(*dns.CNAME); ok && t != dns.TypeCNAME {
				alias = strings.ToLower(c.Target)
			} else if h.Rrtype != t {
				continue
			} else {
				a.records = append(a.records, rr)
			}
			a.life = min(a.life, ttl(rr))
		}
		if len(a.records) > 0 || alias == "" {
			break
		}
		owner = alias
	}
	if len(a.records) == 0 {
		a.life = min(a.life, negativeLife(m))
		if hops > 0 && m.Rcode != dns.RcodeNameError {
			a.alias = owner
		}
	}
	return a
}

// negativeLife returns how long a negative response is valid (RFC 2308, section 5), or 0 if the
// response has no SOA record.
func negativeLife(m *dns.Msg) time.Duration {
	for _, rr := range m.Ns {
		if soa, ok := rr.(*dns.SOA); ok {
			return min(ttl(rr), time.Duration(soa.Minttl)*time.Second, maxNegative)
		}
	}
	return 0
}

// A cache stores up to maxKept responses until they expire.
type cache struct {
	now func() time.Time

	mu   sync.Mutex
	kept map[question]answer
}

// get returns a cached response. It subtracts the age of the response from the time to live of the
// records.
func (c *cache) get(q question) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.kept[q]
	left := a.expires.Sub(c.now())
	if !ok || left <= 0 {
		delete(c.kept, q)
		return answer{}, false
	}
	aged := make([]dns.RR, len(a.records))
	for i, rr := range a.records {
		aged[i] = dns.Copy(rr)
		passed := uint32((a.life - left) / time.Second)
		aged[i].Header().Ttl -= min(passed, rr.Header().Ttl)
	}
	a.records = aged
	return a, true
}

func (c *cache) put(q question, a answer) {
	if a.life <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[question]answer{}
	}
	for old := range c.kept {
		if len(c.kept) < maxKept {
			break
		}
		delete(c.kept, old)
	}
	a.expires = c.now().Add(a.life)
	c.kept[q] = a
}
