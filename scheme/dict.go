package scheme

import "github.com/nomen-project/nomen/uri"

var dict = Scheme{
	Name: "dict", Title: "Dictionary Server Protocol", Kind: KindLocator,
	Reference:   "RFC 2229, 5",
	Example:     "dict://dict.example.org/d:shortcake:wordnet:1",
	Note:        "d: asks for a definition, m: for matching words; the default database is ! (the first with a match), the default strategy . (chosen by the server)",
	Security:    "the query is sent in the clear",
	DefaultPort: "2628", Transport: "tcp",
	Special:   []Special{{uri.ComponentPath, ":", "separates the command, word, database, strategy and number"}},
	Retrieval: "ask the database for definitions of the word or for matching words, and select one by number",
	Rules:     RuleSet{Check: withFragment(checkDict, ruleDict), Parts: partsDict, Canonical: canonicalDict},
}

// The grammar rules of dict URLs.
const (
	ruleDict     = "RFC 2229, 5: URL specification"
	ruleDictLine = "RFC 2229, 2.2: commands"
)

// dictNames returns the names of the arguments of the command, in order.
func (l *layout) dictNames() []string {
	if l.path+1 < l.pathEnd && lower(l.s[l.path+1]) == 'm' {
		return dictMatch[:]
	}
	return dictDefine[:]
}

var (
	dictDefine = [...]string{"word", "database", "n"}
	dictMatch  = [...]string{"word", "database", "strategy", "n"}
)

// checkDict checks the command and its arguments.
//
//	dict://<user>;<auth>@<host>:<port>/d:<word>:<database>:<n>
//	dict://<user>;<auth>@<host>:<port>/m:<word>:<database>:<strat>:<n>
func checkDict(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.needServer(ruleDict); bad != nil {
		return bad
	}
	if bad := l.refuseQuery(ruleDict); bad != nil {
		return bad
	}
	const command = len("/d:")
	from := l.path + command
	switch {
	case from > l.pathEnd || l.s[from-1] != ':' || lower(l.s[l.path+1]) != 'd' && lower(l.s[l.path+1]) != 'm':
		return refuse(l.path, l.pathEnd, ruleDict, "a slash, d: or m:, and a word must follow the host")
	case from == l.pathEnd || l.s[from] == ':':
		return refuse(from, from, ruleDict, "missing word")
	}
	if bad := l.refuseControls(ruleDictLine, "DICT"); bad != nil {
		return bad
	}
	names := l.dictNames()
	for at, i := from, 0; at <= l.pathEnd; i++ {
		end := until(l.s, at, l.pathEnd, ':')
		switch {
		case i == len(names):
			return refuse(at-1, l.pathEnd, ruleDict, "too many colons; percent-encode a colon in a word as %3A")
		case names[i] == "n" && at < end && !isNumber(l.s[at:end], 0):
			return refuse(at, end, ruleDict, "the last argument must be a number")
		}
		at = end + 1
	}
	return nil
}

func partsDict(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	if t.user >= 0 {
		end := until(t.s, t.user, t.userEnd, ';')
		t.data("user", t.user, end)
		if end < t.userEnd {
			t.data("auth", end+1, t.userEnd)
		}
	}
	t.server()
	from := min(t.path+1, t.pathEnd)
	colon := until(t.s, from, t.pathEnd, ':')
	t.part("command", from, colon)
	for at, i := colon+1, 0; at <= t.pathEnd; i++ {
		end := until(t.s, at, t.pathEnd, ':')
		if names := t.dictNames(); i < len(names) {
			t.data(names[i], at, end)
		}
		at = end + 1
	}
	t.search()
	t.fragment()
	return t.parts
}

// canonicalDict omits default values and trailing empty arguments.
func canonicalDict(u uri.URI) string {
	l := layoutOf(u)
	names := l.dictNames()
	b := append(make([]byte, 0, len(l.s)), l.s[:l.path]...)
	b = append(b, '/', lower(l.s[l.path+1]))
	keep := len(b)
	for at, i := l.path+len("/d:"), 0; at <= l.pathEnd; i++ {
		end := until(l.s, at, l.pathEnd, ':')
		value := l.s[at:end]
		if names[i] == "database" && value == "!" || names[i] == "strategy" && value == "." {
			value = ""
		}
		b = append(append(b, ':'), value...)
		if value != "" {
			keep = len(b)
		}
		at = end + 1
	}
	return string(append(b[:keep], l.s[l.end():]...))
}
