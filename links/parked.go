package links

import (
	"net/url"
	"strings"
	"sync"
)

// parkingHosts are hosts of companies that show advertising at domains that are for sale.
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
	manyHosts   = 3    // hosts that lead to the same page elsewhere
	maxGathered = 1000 // pages
)

// gathered has the pages at other sites to which hosts lead. Only the process has them, because a page
// that stands for many hosts is met again soon. It is safe for concurrent use.
type gathered struct {
	mu    sync.Mutex
	pages map[uint64]map[string]bool // hosts by the fingerprint of the page
}

// add records that a host leads to a page elsewhere. It reports whether many hosts do.
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
