package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var magnet = Scheme{
	Name: "magnet", Title: "Content by its digest, from any source", Kind: KindName,
	Reference:  "BEP 9; BEP 53; MAGNET-URI Project, draft of 2002",
	Example:    "magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a&dn=a%20name&tr=https%3A%2F%2Ftracker.example%2Fa",
	Note:       "xt is the content, dn its name, xl its length, tr a tracker, ws, as and xs further sources, x.pe a peer, kt search keywords; .1, .2 ... number repeated parameters",
	Security:   "following it reveals to other peers that the user is interested in the content; the name in it proves nothing about the content",
	Special:    []Special{{uri.ComponentQuery, "&", "separates parameters"}, {uri.ComponentQuery, "=", "separates the name and value of a parameter"}},
	Properties: "identifies content by its digest, and may contain hints on where to find it",
	Rules:      RuleSet{Check: checkMagnet, Parts: partsMagnet},
}

// The grammar rules of magnet URIs.
const (
	ruleMagnet      = "MAGNET-URI Project: magnet:?"
	ruleMagnetTopic = "BEP 9: xt"
)

// topics lists the kinds of digests that identify content, with the lengths of
// their encodings.
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

// checkMagnet checks the parameters.
func checkMagnet(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.refuseAuthority(ruleMagnet, "the question mark"); bad != nil {
		return bad
	}
	switch {
	case l.query < 0:
		return refuse(l.path, l.pathEnd, ruleMagnet, "a question mark and parameters must follow the colon")
	case l.hasPath():
		return []Finding{instead(broken(l.path, l.pathEnd, ruleMagnet, "unexpected text before the question mark"), "")}
	}
	content := false
	for at := l.query; at <= l.queryEnd; {
		f := nextField(l.s, at, l.queryEnd, '&')
		if f.value < 0 || f.name == f.nameEnd {
			return refuse(f.name, f.end, ruleMagnet, "a parameter must have the form name=value")
		}
		name := magnetName(l.s[f.name:f.nameEnd])
		switch {
		case equalFold(name, "xt"):
			content = true
			if bad := l.checkTopic(f); bad != nil {
				return bad
			}
		case equalFold(name, "xl") && !all(l.s[f.value:f.end], isDigit):
			return refuse(f.value, f.end, "MAGNET-URI Project: xl", "the length must be a number of octets")
		case equalFold(name, "xs"), equalFold(name, "as"), equalFold(name, "mt"), equalFold(name, "kt"):
			content = true
		}
		at = f.end + 1
	}
	if !content {
		return []Finding{warn(CodeUndefined, l.query, l.queryEnd, ruleMagnet, "missing xt parameter, which identifies the content")}
	}
	return nil
}

// magnetName returns a parameter name without the number that distinguishes
// repeated parameters.
func magnetName(name string) string {
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && all(name[dot+1:], isDigit) {
		return name[:dot]
	}
	return name
}

// checkTopic checks the value of xt.
func (l *layout) checkTopic(f field) []Finding {
	const urnLength = len("urn:")
	value := l.s[f.value:f.end]
	if len(value) <= urnLength || !equalFold(value[:urnLength], "urn:") {
		return refuse(f.value, f.end, ruleMagnetTopic, "xt must be a URN, such as urn:btih: and a digest")
	}
	for i := range topics {
		t := &topics[i]
		if len(value) < len(t.prefix) || !equalFold(value[:len(t.prefix)], t.prefix) {
			continue
		}
		digest := value[len(t.prefix):]
		if t.hex > 0 && len(digest) == t.hex && all(digest, isHex) && strings.HasPrefix(digest, t.multihashCode) ||
			t.base32 > 0 && len(strings.ReplaceAll(digest, ".", "")) >= t.base32-1 && len(digest) == t.base32 && all(digest, isBase32) {
			return nil
		}
		bad := broken(f.value+len(t.prefix), f.end, ruleMagnetTopic, "the digest has the wrong length or characters for its kind")
		bad.Code = CodeValue
		return []Finding{bad}
	}
	return []Finding{remark(CodeUndefined, f.value, f.end, ruleMagnetTopic, "unknown kind of digest")}
}

// isBase32 reports whether c is a base32 character, in either case. It also
// accepts the dot that separates the two digests of a bitprint.
func isBase32(c byte) bool { return isAlpha(c) || '2' <= c && c <= '7' || c == '.' }

func partsMagnet(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	if t.query >= 0 {
		t.fields(t.query, t.queryEnd, '&')
	}
	t.fragment()
	return t.parts
}
