package links

import (
	"net/url"
	"strings"
	"sync"
)

// parkingHosts are the hosts of companies that show advertisements for domains that are for sale.
var parkingHosts = [...]string{
	"above.com", "afternic.com", "bodis.com", "dan.com", "domainmarket.com", "hugedomains.com", "parkingcrew.net", "parklogic.com",
	"sedo.com", "sedoparking.com", "undeveloped.com", "uniregistry.com",
}

// isParking reports whether a URL is at one of parkingHosts.
func isParking(u *url.URL) bool {
	host := hostOf(u)
	for _, p := range parkingHosts {
		if host == p || strings.HasSuffix(host, "."+p) {
			return true
		}
	}
	return false
}

const (
	manyHosts   = 3    // number of hosts that redirect to the same page at another site
	maxGathered = 1000 // maximum number of pages
)

// gathered records pages at other sites to which hosts redirect. It is kept only in memory, because
// a page to which many hosts redirect is soon found again. It is safe for concurrent use.
type gathered struct {
	mu    sync.Mutex
	pages map[uint64]map[string]bool // hosts by the fingerprint of the page
}

// add records that a host redirects to a page at another site. It reports whether many hosts
// redirect to the page.
func (g *gathered) add(print uint64, host string) bool {
	if print == 0 {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pages == nil || len(g.pages) >= maxGathered {
		g.pages = map[uint64]map[string]bool{}
	}
	hosts := g.pages[print]
	if hosts == nil {
		hosts = map[string]bool{}
		g.pages[print] = hosts
	}
	if len(hosts) < manyHosts {
		hosts[host] = true
	}
	return len(hosts) >= manyHosts
}
