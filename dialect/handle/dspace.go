package handle

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/hdl"
)

// Paths of DSpace that the plug-in of Handle.Net servers for remote repositories requests.
const (
	prefixesPath = "/listprefixes"
	listPath     = "/listhandles"
)

// remote answers a request of a Handle.Net server that uses this server as its repository. It
// returns false for requests with another path or method.
func (q *request) remote() bool {
	if q.r.Method != http.MethodGet && q.r.Method != http.MethodHead {
		return false
	}
	if prefix, ok := strings.CutPrefix(q.path, listPath); ok && (prefix == "" || prefix[0] == '/') {
		q.run(func() error { return q.listRemote(hdl.Unescape(strings.TrimPrefix(prefix, "/"))) })
		return true
	}
	if q.path == prefixesPath {
		q.send(http.StatusOK, q.prefixes())
		return true
	}
	for _, begin := range []string{"/resolve/", "/hdlresolver/"} {
		if handle, ok := strings.CutPrefix(q.path, begin); ok {
			return q.resolveRemote(hdl.Unescape(handle))
		}
	}
	return false
}

// prefixes returns the prefixes of handles in the scope of the dialect.
func (s *Server) prefixes() []string {
	all := []string{}
	for _, p := range s.scope {
		if handle, ok := hdl.Of(p.String()); ok {
			prefix, _, _ := strings.Cut(handle, "/")
			all = append(all, prefix)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// resolveRemote sends a list with the URL of a handle, or null for a handle without a URL. It
// returns false for a handle outside the scope of the dialect.
func (q *request) resolveRemote(handle string) bool {
	if handle == "" {
		q.answer(http.StatusBadRequest, codeInvalidHandle, "Empty handle invalid")
		return true
	}
	if _, err := q.nameOf(handle); err != nil {
		return false
	}
	rec, err := q.read(q.r.Context(), handle, nil)
	if f := failureOf(err); err != nil && (f == nil || f.code == codeBusy) {
		q.fail(err)
		return true
	}
	var urls []string
	if err == nil {
		urls = q.urlOf(handle, rec)
	}
	q.send(http.StatusOK, urls)
	return true
}

// urlOf returns a list with one URL. If the handle has an alias, this is the URL of the alias at
// this server. Otherwise, it is a location of the handle. If there is no URL, urlOf returns nil.
func (q *request) urlOf(handle string, rec *record) []string {
	values := (&selection{publicOnly: true}).of(rec)
	if alias, ok := aliasIn(values); ok {
		return []string{q.call.Base + "/" + hdl.Escape(alias)}
	}
	p := placesOf(handle, values, q.includerOf(rec.name))
	if chosen, ok := p.pick(q.visitor(), rand.Float64); ok {
		if instead, ok := q.insteadOf(handle, chosen.url); ok {
			return []string{instead}
		}
		return []string{chosen.url}
	}
	return nil
}

// listRemote sends the handles with a prefix to a client that has rights for the prefix. For other
// clients, it responds that there is no list, as DSpace does by default.
func (q *request) listRemote(prefix string) error {
	switch {
	case prefix == "":
		return failed(codeInvalidHandle, "Invalid prefix")
	case !q.known:
		return failed(codeNotFound, "the list is only for clients with rights on the prefix")
	}
	spans, err := q.spans(prefix)
	if err != nil {
		return err
	}
	found, err := q.find(nil, spans)
	if err != nil {
		return err
	}
	handles := make([]string, len(found))
	for i := range found {
		handles[i] = found[i].handle
	}
	q.send(http.StatusOK, handles)
	return nil
}
