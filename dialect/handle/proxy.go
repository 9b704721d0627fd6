package handle

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/store"
)

// proxied returns the handle in the path of a request to the proxy. It returns false if this server
// does not have such a handle.
func (q *request) proxied() (string, bool) {
	handle := unlabelled(hdl.Unescape(strings.TrimLeft(q.path, "/")), q.forProxy())
	_, err := q.nameOf(handle)
	return handle, err == nil
}

// unlabelled removes the label of a handle. It removes hdl: and doi: only in requests to the proxy.
// Elsewhere, they are the beginning of names of this server.
func unlabelled(handle string, forProxy bool) string {
	for _, label := range []string{"info:doi/", "info:hdl/"} {
		if rest, ok := ascii.CutPrefix(handle, label); ok {
			return rest
		}
	}
	for _, label := range []string{"urn:hdl:", "urn:doi:", "urn:eidr:"} {
		if rest, ok := ascii.CutPrefix(handle, label); ok {
			return slashed(rest)
		}
	}
	for _, label := range []string{"hdl:", "doi:"} {
		if rest, ok := ascii.CutPrefix(handle, label); ok && forProxy {
			return rest
		}
	}
	return handle
}

// slashed converts the part of a URN after its label to a handle. It replaces the first colon by a
// slash, unless a slash precedes the colon.
func slashed(s string) string {
	if i := strings.IndexAny(s, ":/"); i >= 0 && s[i] == ':' {
		return s[:i] + "/" + s[i+1:]
	}
	return s
}

func (q *request) forProxy() bool {
	return slices.ContainsFunc(parseParameters(q.rawQuery(), "&;"), func(p parameter) bool {
		return slices.Contains([]string{"noredirect", "action", "type", "index", "auth", "cert", "ignore_aliases", "urlappend", "locatt"}, p.key)
	})
}

// maxForm is the maximum length of the form of the query page, in bytes.
const maxForm = 16 << 10

// proxy answers a request to the proxy. It returns false for other requests.
func (q *request) proxy() (ok bool) {
	if q.r.Method == http.MethodPost && q.path == "/" {
		return q.searchBox()
	}
	if q.handle, ok = q.proxied(); !ok || q.r.Method != http.MethodGet && q.r.Method != http.MethodHead {
		return false
	}
	q.redirect()
	return true
}

// searchBox handles the form in which users enter a handle. It returns false for other requests.
func (q *request) searchBox() bool {
	if kind, _, _ := mime.ParseMediaType(q.r.Header.Get("Content-Type")); kind != "application/x-www-form-urlencoded" {
		return false
	}
	body, err := io.ReadAll(io.LimitReader(q.r.Body, maxForm))
	form, errForm := url.ParseQuery(string(body))
	if err != nil || errForm != nil || form.Get("hdl") == "" {
		q.sendPage(http.StatusBadRequest, "Invalid form", "<p>The field hdl is missing.</p>\n")
		return true
	}
	q.handle = unlabelled(strings.TrimLeft(strings.TrimSpace(form.Get("hdl")), "/"), true)
	if _, err := q.nameOf(q.handle); err != nil {
		q.failPage(err)
		return true
	}
	q.redirect()
	return true
}

func (q *request) redirect() {
	q.query = parseParameters(strings.ReplaceAll(q.rawQuery(), "#", "&urlappend=%23"), "&;")
	if q.query.get("action") == "api" {
		q.handles(hdl.Escape(q.handle))
		return
	}
	rec, err := q.read(q.context(), q.handle, nil)
	if err != nil {
		q.failPage(err)
		return
	}
	asked := selection{types: q.query.all("type"), publicOnly: true}
	for _, text := range q.query.all("index") {
		if n, err := strconv.Atoi(text); err == nil {
			asked.indexes = append(asked.indexes, n)
		}
	}
	values := asked.of(rec)
	if alias, ok := aliasIn(rec.values); ok && !q.query.has("ignore_aliases") && !q.showsValues() {
		q.toAlias(alias)
		q.call.Counted(rec.name, counts.Of(nomen.I2L))
		return
	}
	if got := q.toPlace(rec, values); got != counts.Other {
		q.call.Counted(rec.name, got)
	}
}

// context returns the context for reading records. If the client requests an authoritative answer,
// the context requires a fresh view of the store.
func (q *request) context() context.Context {
	if q.query.has("auth") || q.query.has("cert") {
		return store.Fresh(q.r.Context())
	}
	return q.r.Context()
}

func (q *request) rawQuery() string {
	_, query, _ := strings.Cut(q.call.Target, "?")
	return query
}

func (q *request) showsValues() bool {
	return q.query.has("noredirect") || q.query.get("action") == "showvalues"
}

func aliasIn(values []nomen.Value) (string, bool) {
	i := slices.IndexFunc(values, func(v nomen.Value) bool {
		return ascii.EqualFold(v.Type, typeAlias) && v.Format == nomen.FormatText && v.Public()
	})
	if i < 0 {
		return "", false
	}
	return values[i].Data, true
}

const maxAliases = 20

func (q *request) toAlias(handle string) {
	for range maxAliases {
		rec, err := q.read(q.context(), handle, nil)
		next, ok := "", false
		if err == nil {
			next, ok = aliasIn(rec.values)
		}
		if !ok {
			target := q.call.Base + "/" + hdl.Escape(handle)
			if raw := q.rawQuery(); raw != "" {
				target += "?" + raw
			}
			q.location(http.StatusMovedPermanently, target)
			return
		}
		handle = next
	}
	q.sendPage(http.StatusNotFound, "Alias chain too long", "")
}

// toPlace redirects to one of the locations in values. It returns the kind of answer for the
// counts, or Other if the request was invalid.
func (q *request) toPlace(rec *record, values []nomen.Value) counts.What {
	in := q.includerOf(rec.name)
	p := placesOf(q.handle, values, in)
	if slices.ContainsFunc(p.all, func(l place) bool { return strings.Contains(l.attributes["http_role"], "conneg") }) {
		q.w.Header().Set("Vary", "Accept")
	}
	if q.query.get("action") == "showurls" {
		q.showURLs(&p)
		return counts.Of(nomen.I2Ls)
	}
	chosen, ok := p.pick(q.visitor(), rand.Float64)
	if !ok || q.showsValues() {
		q.table(values)
		return counts.Of(nomen.I2C)
	}
	if instead, ok := q.insteadOf(q.handle, chosen.url); ok {
		chosen = place{url: instead, attributes: map[string]string{"http_sc": "302"}}
		q.w.Header().Set("Cache-Control", "no-cache")
	}
	if in.failed {
		q.w.Header().Set("Cache-Control", "no-cache")
	}
	target := chosen.url
	for _, more := range q.query.all("urlappend") {
		target += more
	}
	if target = toURI(target); !sameOrigin(chosen.url, target) {
		q.sendPage(http.StatusBadRequest, "Invalid urlappend", "The result would lead to another server.")
		return counts.Other
	}
	if q.w.Header().Get("Cache-Control") == "" {
		expires := q.now().Add(p.left(&chosen, q.now()))
		q.w.Header().Set("Expires", expires.UTC().Format(http.TimeFormat))
	}
	addFields(q.w.Header(), &p)
	q.location(q.statusOf(&p, &chosen), target)
	return counts.Of(nomen.I2L)
}

// insteadOf returns the location that replaces a dead location of a handle. It returns false if no
// location replaces it ([store.FailoverArchive]).
func (q *request) insteadOf(handle, url string) (string, bool) {
	n, err := q.nameOf(handle)
	if err != nil {
		return "", false
	}
	set, err := q.authorities.Set(q.r.Context(), time.Time{})
	if err != nil {
		return "", false
	}
	if a := set.Of(n); a == nil || a.Failover == "" {
		return "", false
	}
	ans, err := q.resolver.Resolve(q.r.Context(), nomen.Question{Name: n, Service: nomen.I2L, Strict: true, Country: q.call.Country})
	if err != nil || len(ans.Locations) == 0 || !slices.ContainsFunc(ans.Dead, func(dead string) bool { return toURI(dead) == url }) {
		return "", false
	}
	return toURI(ans.Locations[0].URL), true
}

func sameOrigin(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && x.Scheme == y.Scheme && x.Host == y.Host && x.User.String() == y.User.String() && x.Opaque == y.Opaque
}

func (q *request) statusOf(p *places, chosen *place) int {
	text := chosen.attributes["http_sc"]
	if text == "" {
		text = p.status
	}
	status, _ := strconv.Atoi(text)
	switch status {
	case http.StatusMovedPermanently:
		return status
	case http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if q.r.ProtoAtLeast(1, 1) {
			return status
		}
	}
	return http.StatusFound
}

// visitor returns the data about the client. Query parameters take precedence over header fields.
func (q *request) visitor() *visitor {
	v := &visitor{country: q.call.Country, address: q.call.Client, locatt: q.query.all("locatt")}
	if c := q.query.get("country"); c != "" {
		v.country = c
	}
	if ip, err := netip.ParseAddr(q.query.get("ip")); err == nil {
		v.address = ip
	}
	if q.query.get("action") == "metadata" {
		v.locatt = append(v.locatt, "role:metadata")
	}
	v.locatt = append(v.locatt, implied(q.r.Header)...)
	return v
}

// location sends a redirect with the same body as the proxy of Handle.Net.
func (q *request) location(status int, target string) {
	h := q.w.Header()
	h.Set("Location", target)
	text := html.EscapeString(target)
	q.write(status, "text/html; charset=utf-8", "<html><head><title>Handle Redirect</title></head>\n<body><a href=\""+text+"\">"+text+"</a></body></html>")
}

// write sends a response that cannot be used in scripts or frames.
func (q *request) write(status int, contentType, body string) {
	h := q.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	q.w.WriteHeader(status)
	if q.r.Method != http.MethodHead {
		_, _ = q.w.Write([]byte(body)) // after an error, the client is gone
	}
}

func (q *request) sendPage(status int, title, content string) {
	q.write(status, "text/html; charset=utf-8", "<!DOCTYPE html>\n<html lang=\"en\"><head><title>"+html.EscapeString(title)+"</title></head>\n<body><h1>"+html.EscapeString(title)+"</h1>\n<p>"+html.EscapeString(q.handle)+"</p>\n"+content+"</body></html>\n")
}

func (q *request) failPage(err error) {
	f := failureOf(err)
	if f == nil {
		q.log.Error("handle: request failed", "target", ascii.Head(q.call.Target, 200), "err", err)
		f = &codeFailure{codeError, "Internal error"}
	}
	q.retryAfter(err)
	switch {
	case errors.Is(err, store.ErrNotFound):
		q.sendPage(http.StatusNotFound, "Handle Not Found", q.slashHint())
		if n, err := q.nameOf(q.handle); err == nil {
			q.call.Counted(n, counts.Failed)
		}
	case f.code == codeAuthNeeded: // clients of the proxy cannot authenticate
		q.sendPage(http.StatusForbidden, "Not public", "<p>"+html.EscapeString(f.message)+"</p>\n")
	default:
		q.sendPage(f.code.status(), "Handle cannot be resolved", "<p>"+html.EscapeString(f.message)+"</p>\n")
	}
}

// slashHint returns a link to the handle without its final slash, or "" if the handle does not end
// with a slash.
func (q *request) slashHint() string {
	handle, ok := strings.CutSuffix(q.handle, "/")
	if !ok {
		return ""
	}
	to := html.EscapeString(q.call.Base + "/" + hdl.Escape(handle))
	return `<p>Without the slash at its end: <a href="` + to + `">` + html.EscapeString(handle) + "</a></p>\n"
}

func (q *request) table(values []nomen.Value) {
	if len(values) == 0 {
		q.sendPage(http.StatusOK, "Requested values not found", "")
		return
	}
	var b strings.Builder
	b.WriteString("<table>\n<tr><th>Index</th><th>Type</th><th>Timestamp</th><th>Data</th></tr>\n")
	for i := range values {
		v := &values[i]
		fmt.Fprintf(&b, "<tr><td>%d</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", v.Index, html.EscapeString(v.Type), html.EscapeString(v.Timestamp), html.EscapeString(v.Data))
	}
	q.sendPage(http.StatusOK, "Handle Values", b.String()+"</table>\n")
}

// showURLs sends the locations of a handle as XML.
func (q *request) showURLs(p *places) {
	var b strings.Builder
	b.WriteString("<locations>")
	for i := range p.all {
		b.WriteString(`<location href="`)
		_ = xml.EscapeText(&b, []byte(p.all[i].url)) // a strings.Builder returns no error
		fmt.Fprintf(&b, `" weight="%s"`, weightText(p.all[i].weight()))
		if p.all[i].attributes["mode"] == "legacy" {
			b.WriteString(` mode="legacy"`)
		}
		b.WriteString("/>")
	}
	q.write(http.StatusOK, "text/xml; charset=utf-8", b.String()+"</locations>")
}

func weightText(w float64) string {
	text := strconv.FormatFloat(w, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
