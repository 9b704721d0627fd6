package extra

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var swh = scheme.Scheme{
	Name: "swh", Title: "Software Hash Identifiers", Kind: scheme.KindName,
	Reference:  "ISO/IEC 18670, 5",
	Example:    "swh:1:cnt:94a9ed024d3859793618152ea559a168bbcbb5e2;lines=4-8",
	Note:       "the qualifiers give context; identifiers that differ only in them identify the same object, and are not equivalent here",
	Special:    []scheme.Special{inPath(";", "begins a qualifier")},
	Properties: "computed from the object: whoever has the object can check that it is the one that is identified",
	Rules:      scheme.RuleSet{Check: checkPID, Parts: partsSWH},
}

func partsSWH(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	end := ascii.Until(t.Text, t.Rest, len(t.Text), ';')
	at := t.Rest
	for _, name := range [...]string{"version", "object_type", "hash"} {
		if at > end {
			return t.Parts
		}
		to := ascii.Until(t.Text, at, end, ':')
		if name == "hash" {
			to = end
		}
		t.Part(name, at, to)
		at = to + 1
	}
	if end < len(t.Text) {
		appendFields(&t, "parameter", end+1, len(t.Text), ';')
	}
	return t.Parts
}

var purl = scheme.Scheme{
	Name: "pkg", Title: "Package URLs", Kind: scheme.KindName,
	Reference:  "ECMA-427",
	Example:    "pkg:deb/debian/curl@7.50.3-1?arch=i386&distro=jessie",
	Note:       "which names are case-insensitive depends on the type, and is known for the registered ones",
	Special:    []scheme.Special{inPath("@", "begins the version")},
	Properties: "identifies a package by the name and version that its ecosystem assigns",
	Rules:      scheme.RuleSet{Check: checkPURL, Parts: partsPURL, Canonical: canonicalPURL},
}

const (
	rulePURLType      = "ECMA-427, 5.6.2: type"
	rulePURLNamespace = "ECMA-427, 5.6.3: namespace"
	rulePURLName      = "ECMA-427, 5.6.4: name"
	rulePURLQualifier = "ECMA-427, 5.6.6: qualifiers"
)

type packageURL struct {
	layout.Layout
	typeAt, typeEnd   int
	spaceAt, spaceEnd int // range of the namespace, or empty
	nameAt, nameEnd   int
	version           int // start of the version, which extends to the end of the path, or -1
	end               int // end of the path, without any slashes there
}

// packageOf finds the components. It ignores slashes around the type and the namespace. A version
// begins after the last "@", unless that "@" is the first character of a segment of the namespace.
func packageOf(u uri.URI) packageURL {
	p := packageURL{Layout: layout.Of(u), version: -1}
	p.typeAt, p.end = p.Rest, p.PathEnd
	for p.typeAt < p.end && p.Text[p.typeAt] == '/' {
		p.typeAt++
	}
	for p.end > p.typeAt && p.Text[p.end-1] == '/' {
		p.end--
	}
	p.typeEnd = ascii.Until(p.Text, p.typeAt, p.end, '/')
	p.nameEnd = p.end
	if at := p.typeEnd + strings.LastIndexByte(p.Text[p.typeEnd:p.end], '@'); at > p.typeEnd && (p.Text[at-1] != '/' || ascii.Until(p.Text, at, p.end, '/') == p.end) {
		p.nameEnd = at
		p.version = at + 1
	}
	p.spaceAt = min(p.typeEnd+1, p.nameEnd)
	p.nameAt = max(p.spaceAt, p.typeEnd+1+strings.LastIndexByte(p.Text[min(p.typeEnd+1, p.nameEnd):p.nameEnd], '/')+1)
	p.nameAt = min(p.nameAt, p.nameEnd)
	p.spaceEnd = max(p.spaceAt, p.nameAt-1)
	return p
}

// checkPURL checks a package URL.
//
//	pkg:type/namespace/name@version?qualifiers#subpath
func checkPURL(u uri.URI) []scheme.Finding {
	p := packageOf(u)
	for i := p.typeAt; i < p.typeEnd; i++ {
		if c := p.Text[i]; !ascii.IsLetter(c) && (i == p.typeAt || !ascii.IsDigit(c) && c != '.' && c != '-') {
			return layout.Refuse(i, i+1, rulePURLType, "a type must begin with a letter, followed by letters, digits, dots and hyphens")
		}
	}
	t, _ := pid.LookupPURLType(p.Text[p.typeAt:p.typeEnd])
	switch space := p.spaceEnd > p.spaceAt; {
	case p.typeAt == p.typeEnd:
		return layout.Refuse(p.typeAt, p.typeAt, rulePURLType, "missing type of package")
	case p.nameAt >= p.nameEnd:
		return layout.Refuse(p.nameEnd, p.nameEnd, rulePURLName, "missing name of the package")
	case t.Space && !space:
		return layout.Refuse(p.nameAt, p.nameEnd, rulePURLNamespace, "packages of type "+t.Name+" must have a namespace")
	case t.NoSpace && space:
		return layout.Refuse(p.spaceAt, p.spaceEnd, rulePURLNamespace, "packages of type "+t.Name+" must not have a namespace")
	}
	name := decoded(p.Text[p.nameAt:p.nameEnd])
	if t.NotInName != "" && strings.Contains(name, t.NotInName) {
		return layout.Refuse(p.nameAt, p.nameEnd, rulePURLName, "names of packages of type "+t.Name+" must not contain "+t.NotInName)
	}
	if t.Qualifier != "" && p.qualifier(t.Qualifier) == "" {
		return layout.Refuse(p.nameEnd, p.nameEnd, rulePURLQualifier, "packages of type "+t.Name+" must have the qualifier "+t.Qualifier)
	}
	return p.checkQualifiers()
}

func (p *packageURL) checkQualifiers() []scheme.Finding {
	for f := range queryFields(&p.Layout, '&') {
		if f.name == p.QueryEnd {
			break // an empty query, or an ampersand at its end
		}
		for i := f.name; i < f.nameEnd; i++ {
			if c := p.Text[i]; !ascii.IsLetter(c) && (i == f.name || !ascii.IsDigit(c) && strings.IndexByte(".-_", c) < 0) {
				return layout.Refuse(i, i+1, rulePURLQualifier, "a key must begin with a letter, followed by letters, digits, dots, hyphens and underscores")
			}
		}
		if f.name == f.nameEnd {
			return layout.Refuse(f.name, f.name, rulePURLQualifier, "missing key")
		}
	}
	if f, again := repeatedField(p.Text, max(p.Query, 0), max(p.QueryEnd, 0), '&'); again && p.Query >= 0 {
		return layout.Refuse(f.name, f.nameEnd, rulePURLQualifier, "the key is repeated")
	}
	return nil
}

func partsPURL(dst []scheme.Part, u uri.URI) []scheme.Part {
	p := packageOf(u)
	t := layout.Taker{Layout: p.Layout, Parts: dst}
	t.Part("type", p.typeAt, p.typeEnd)
	if p.spaceEnd > p.spaceAt {
		t.Data("namespace", p.spaceAt, p.spaceEnd)
	}
	if p.nameAt < p.nameEnd {
		t.Data("name", p.nameAt, p.nameEnd)
	}
	t.Data("version", p.version, p.end)
	appendFields(&t, "parameter", t.Query, t.QueryEnd, '&')
	t.Fragment()
	return t.Parts
}

// canonicalPURL writes a package URL in the canonical form of its specification. The type and the
// keys are in lower case. Qualifiers are sorted, and empty qualifiers are omitted. Names follow the
// rules for their package type. All characters except letters, digits, the colon and . - _ ~ are
// percent-encoded.
func canonicalPURL(u uri.URI) string {
	p := packageOf(u)
	t, _ := pid.LookupPURLType(p.Text[p.typeAt:p.typeEnd])
	var b strings.Builder
	b.WriteString("pkg:" + strings.ToLower(p.Text[p.typeAt:p.typeEnd]))
	for segment := range strings.SplitSeq(p.Text[p.spaceAt:p.spaceEnd], "/") {
		if segment != "" {
			b.WriteString("/" + encodePURL(foldIf(t.FoldSpace, decoded(segment))))
		}
	}
	name := foldIf(t.FoldName || t.Databricks && isDatabricks(p.qualifier("repository_url")), decoded(p.Text[p.nameAt:p.nameEnd]))
	if t.Hyphens {
		name = hyphenated(name)
	}
	b.WriteString("/" + encodePURL(name))
	if p.version >= 0 && p.version < p.end {
		version := decoded(p.Text[p.version:p.end])
		b.WriteString("@" + encodePURL(foldIf(t.FoldHash && isCommit(version), version)))
	}
	b.WriteString(p.canonicalQualifiers())
	if p.Frag >= 0 {
		b.WriteString(canonicalSubpath(p.Text[p.Frag:]))
	}
	return b.String()
}

func (p *packageURL) qualifier(key string) string {
	for f := range queryFields(&p.Layout, '&') {
		if f.is(p.Text, key) && f.value >= 0 {
			return decoded(p.Text[f.value:f.end])
		}
	}
	return ""
}

// isDatabricks reports whether the host in a URL belongs to Databricks. The URL may lack its
// scheme.
func isDatabricks(url string) bool {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	host, _, _ := strings.Cut(strings.ToLower(url), "/")
	return strings.HasSuffix(host, ".azuredatabricks.net") || strings.HasSuffix(host, ".databricks.com")
}

func isCommit(version string) bool {
	return len(version) == 40 && strings.Trim(version, "0123456789abcdefABCDEF") == ""
}

func (p *packageURL) canonicalQualifiers() string {
	list := sortedFields(p.Text, p.Query, p.QueryEnd, '&', func(b []byte, f field) []byte {
		if f.empty() {
			return nil
		}
		return append(b, strings.ToLower(p.Text[f.name:f.nameEnd])+"="+encodePURL(decoded(p.Text[f.value:f.end]))...)
	})
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	if len(list) == 0 {
		return ""
	}
	return "?" + strings.Join(list, "&")
}

// canonicalSubpath returns the subpath without empty segments and dot segments.
func canonicalSubpath(s string) string {
	var list []string
	for segment := range strings.SplitSeq(s, "/") {
		if text := decoded(segment); text != "" && text != "." && text != ".." {
			list = append(list, encodePURL(text))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "#" + strings.Join(list, "/")
}

// decoded decodes the percent-encodings of a component, which must be valid.
func decoded(s string) string {
	text, err := uri.Unescape(s)
	if err != nil {
		return s
	}
	return string(text)
}

func foldIf(fold bool, s string) string {
	if fold {
		return strings.ToLower(s)
	}
	return s
}

// hyphenated replaces each run of hyphens, underscores and dots by a hyphen, as the Python Package
// Index does.
func hyphenated(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte("-_.", s[i]) < 0 {
			b.WriteByte(s[i])
		} else if i == 0 || strings.IndexByte("-_.", s[i-1]) < 0 {
			b.WriteByte('-')
		}
	}
	return b.String()
}

func encodePURL(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; ascii.IsAlnum(c) || strings.IndexByte(".-_~:", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString(ascii.Escape(c))
		}
	}
	return b.String()
}
