package certificates

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/store"
)

const (
	maxHosts = 100 // hosts of one Manager, because certificate authorities limit orders
	maxHost  = 150 // length of a host in bytes, so that it fits into a key of a vault
)

// CanOrder reports whether a public certificate authority can issue a certificate for a host, which
// must be in the form of [store.CanonicalHost]. The host must be a DNS name with at least two
// labels. It must not be an address, a wildcard or a name below localhost.
func CanOrder(host string) bool {
	if len(host) > maxHost || !strings.Contains(host, ".") || store.IsLoopbackHost(host) {
		return false
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	if strings.Trim(last, "0123456789") == "" {
		return false // an IP address in an unusual spelling
	}
	return !slices.ContainsFunc(labels, func(l string) bool { return !isLabel(l) })
}

// isLabel reports whether a text is a label of a host name (RFC 1123, section 2.1).
func isLabel(l string) bool {
	if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
		return false
	}
	for i := range len(l) {
		if c := l[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// orderable returns at most maxHosts hosts for which certificates can be ordered, without
// duplicates. The result omitted is the number of further such hosts.
func orderable(hosts []string) (all []string, omitted int) {
	for _, h := range hosts {
		if h = store.CanonicalHost(h); CanOrder(h) && !slices.Contains(all, h) {
			if len(all) < maxHosts {
				all = append(all, h)
			} else {
				omitted++
			}
		}
	}
	return all, omitted
}
