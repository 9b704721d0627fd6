package handle

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/accept"
	"github.com/nomen-project/nomen/internal/ascii"
)

// A preferred is a media type or a language that a client accepts.
type preferred struct {
	value string
	q     int // in thousandths
}

// preferences returns the elements of a header field in order of preference.
func preferences(f *accept.Field) (all []preferred) {
	for i := range f.Len() {
		value, q := f.At(i)
		all = append(all, preferred{value, q})
	}
	slices.SortStableFunc(all, func(a, b preferred) int { return cmp.Compare(b.q, a.q) })
	return all
}

// implied returns the attributes of locations that the header of a request asks for.
func implied(h http.Header) []string {
	var media, languages accept.Field
	media.ReadMedia(strings.Join(h.Values("Accept"), ", "))
	languages.ReadTokens(strings.Join(h.Values("Accept-Language"), ", "))
	all := impliedByTypes(preferences(&media), h.Get("User-Agent"))
	for _, l := range preferences(&languages) {
		all = append(all, "language:"+l.value)
	}
	return all
}

func impliedByTypes(types []preferred, agent string) (all []string) {
	browser := []string{"http_role:browser", "ctype:text/html", "media-type:text/html"}
	if !slices.ContainsFunc(types, func(p preferred) bool { return p.value != "*/*" }) {
		if strings.Contains(agent, "Mozilla/") || strings.Contains(agent, "Opera/") {
			return browser
		}
		return []string{"http_role:no_conneg"}
	}
	best, forBrowsers := 0, 0
	for _, p := range types {
		if isBrowserType(p.value) {
			forBrowsers = max(forBrowsers, p.q)
		} else {
			best = max(best, p.q)
		}
	}
	if best <= forBrowsers {
		return browser
	}
	for _, p := range types {
		if strings.Contains(p.value, "*") {
			break
		}
		all = append(all, "ctype:"+p.value, "media-type:"+p.value)
	}
	return append(all, "http_role:conneg")
}

func isBrowserType(t string) bool {
	if ascii.IsOneOf(t, "text/html", "text/xhtml", "application/xhtml+xml", "application/pdf", "text/vnd.wap.wml", "application/vnd.wap.xhtml+xml") || strings.Contains(t, "*") {
		return true
	}
	return ascii.HasPrefix(t, "image/") || ascii.HasPrefix(t, "audio/") || ascii.HasPrefix(t, "video/")
}
