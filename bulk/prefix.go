package bulk

import (
	"context"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/store"
)

// keyPrefix converts o.Prefix to a prefix of canonical keys, so that it matches names in any
// spelling. It converts the scheme and the namespace to lower case. If the authority ignored letter
// case at the time o.At, it also converts the element. It does not change a text that cannot be the
// beginning of a name.
func (o ExportOptions) keyPrefix(ctx context.Context, s store.Reader) (string, error) {
	key := canonicalPrefix(o.Prefix)
	if key == strings.ToLower(key) {
		return key, nil
	}
	probe := name.FromKey(key + "0")
	fold := 0 // offset from which to fold case
	for a, err := range s.Authorities(ctx, o.At) {
		if err != nil {
			return "", err
		}
		if a.Prefix.Covers(probe) { // the authority with the longest prefix comes last
			fold = len(key)
			if a.FoldCase {
				fold = len(a.Prefix.String())
			}
		}
	}
	if fold == 0 {
		return key, nil
	}
	return key[:fold] + strings.ToLower(key[fold:]), nil
}

// canonicalPrefix returns the prefix that the canonical keys of all names beginning with s have in
// common.
func canonicalPrefix(s string) string {
	if p, err := name.ParsePrefix(s); err == nil {
		key := p.String()
		if last := s[len(s)-1:]; !ascii.IsAlnum(last[0]) && !strings.HasSuffix(key, last) {
			key += last // ParsePrefix drops a delimiter at the end
		}
		return key
	}
	if n, err := name.Parse(s); err == nil {
		return n.Key()
	}
	scheme, rest, _ := strings.Cut(s, ":")
	if scheme = strings.ToLower(scheme); scheme == s || len(scheme) == len(s) {
		return scheme
	}
	nid, nss, more := strings.Cut(rest, ":")
	if scheme != "urn" {
		return scheme + ":" + rest
	}
	if nid = strings.ToLower(nid); !more {
		return scheme + ":" + nid
	}
	return scheme + ":" + nid + ":" + namespace.FoldPrefix(nid, nss)
}
