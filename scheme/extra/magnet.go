package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var magnet = scheme.Scheme{
	Name: "magnet", Title: "Content by its digest, from any source", Kind: scheme.KindName,
	Reference:  "BEP 9; BEP 53; MAGNET-URI Project, draft of 2002",
	Example:    "magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a&dn=a%20name&tr=https%3A%2F%2Ftracker.example%2Fa",
	Note:       "xt is the content, dn its name, xl its length, tr a tracker, ws, as and xs further sources, x.pe a peer, kt search keywords; .1, .2 ... number repeated parameters",
	Security:   "following it reveals to other peers that the user is interested in the content; the name in it proves nothing about the content",
	Special:    []scheme.Special{inQuery("&", "separates parameters"), inQuery("=", "separates the name and value of a parameter")},
	Properties: "identifies content by its digest, and may contain hints on where to find it",
	Rules:      scheme.RuleSet{Check: checkMagnet, Parts: partsMagnet},
}

const (
	ruleMagnet      = "MAGNET-URI Project: magnet:?"
	ruleMagnetTopic = "BEP 9: xt"
)

// topics lists the kinds of digests that can identify content, with the lengths of their encodings.
var topics = [...]struct {
	prefix        string
	hex, base32   int // 0 if this encoding is not used
	multihashCode string
}{
	{"urn:btih:", 40, 32, ""},
	{"urn:btmh:", 68, 0, "1220"},
	{"urn:sha1:", 40, 32, ""},
	{"urn:bitprint:", 0, 72, ""},
	{"urn:tree:tiger:", 0, 39, ""},
	{"urn:ed2k:", 32, 0, ""},
	{"urn:ed2khash:", 32, 0, ""},
	{"urn:aich:", 40, 32, ""},
	{"urn:kzhash:", 72, 0, ""},
	{"urn:md5:", 32, 0, ""},
}

func checkMagnet(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := refuseAuthority(&l, ruleMagnet, "the question mark"); bad != nil {
		return bad
	}
	switch {
	case l.Query < 0:
		return layout.Refuse(l.Path, l.PathEnd, ruleMagnet, "a question mark and parameters must follow the colon")
	case l.HasPath():
		return []scheme.Finding{layout.Instead(layout.Broken(l.Path, l.PathEnd, ruleMagnet, "unexpected text before the question mark"), "")}
	}
	content := false
	params := fieldGrammar{rule: ruleMagnet, form: "a parameter must have the form name=value"}
	for f := range queryFields(&l, '&') {
		if bad := params.check(l.Text, f); bad != nil {
			return bad
		}
		name := magnetName(l.Text[f.name:f.nameEnd])
		switch {
		case ascii.EqualFold(name, "xt"):
			content = true
			if bad := checkTopic(&l, f); bad != nil {
				return bad
			}
		case ascii.EqualFold(name, "xl") && !ascii.All(l.Text[f.value:f.end], ascii.IsDigit):
			return layout.Refuse(f.value, f.end, "MAGNET-URI Project: xl", "the length must be a number of octets")
		case ascii.EqualFold(name, "xs"), ascii.EqualFold(name, "as"), ascii.EqualFold(name, "mt"), ascii.EqualFold(name, "kt"):
			content = true
		}
	}
	if !content {
		return []scheme.Finding{layout.Warn(scheme.CodeUndefined, l.Query, l.QueryEnd, ruleMagnet, "missing xt parameter, which identifies the content")}
	}
	return nil
}

// magnetName returns the name of a parameter without the number that distinguishes repeated
// parameters, as in xt.1 and xt.2.
func magnetName(name string) string {
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && ascii.All(name[dot+1:], ascii.IsDigit) {
		return name[:dot]
	}
	return name
}

func checkTopic(l *layout.Layout, f field) []scheme.Finding {
	const urnLength = len("urn:")
	value := l.Text[f.value:f.end]
	if len(value) <= urnLength || !ascii.EqualFold(value[:urnLength], "urn:") {
		return layout.Refuse(f.value, f.end, ruleMagnetTopic, "xt must be a URN, such as urn:btih: and a digest")
	}
	for i := range topics {
		t := &topics[i]
		if len(value) < len(t.prefix) || !ascii.EqualFold(value[:len(t.prefix)], t.prefix) {
			continue
		}
		digest := value[len(t.prefix):]
		if t.hex > 0 && len(digest) == t.hex && ascii.All(digest, ascii.IsHex) && strings.HasPrefix(digest, t.multihashCode) ||
			t.base32 > 0 && len(strings.ReplaceAll(digest, ".", "")) >= t.base32-1 && len(digest) == t.base32 && ascii.All(digest, isBase32) {
			return nil
		}
		return layout.RefuseAs(scheme.CodeValue, f.value+len(t.prefix), f.end, ruleMagnetTopic, "the digest has the wrong length or characters for its kind")
	}
	return []scheme.Finding{layout.Remark(scheme.CodeUndefined, f.value, f.end, ruleMagnetTopic, "unknown kind of digest")}
}

// isBase32 reports whether c is a base32 character in upper or lower case, or the dot that
// separates the two digests of a bitprint.
func isBase32(c byte) bool { return ascii.IsLetter(c) || '2' <= c && c <= '7' || c == '.' }

func partsMagnet(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	appendFields(&t, "parameter", t.Query, t.QueryEnd, '&')
	t.Fragment()
	return t.Parts
}
