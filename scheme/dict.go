package scheme

import "github.com/nomen-project/nomen/uri"

var dict = Scheme{
	Name: "dict", Title: "Dictionary Server Protocol", Kind: KindLocator,
	Reference:   "RFC 2229, 5",
	Example:     "dict://dict.example.org/d:shortcake:wordnet:1",
	Note:        "d: is a definition, m: words that match; an omitted database is !, the first that has the word, an omitted strategy . that of the server",
	Security:    "what is looked up can be read by everybody on the way",
	DefaultPort: "2628", Transport: "tcp",
	Special:   []Special{{uri.ComponentPath, ":", "separates command, word, database, strategy and number"}},
	Retrieval: "ask for definitions of the word in the database, or for words that match, and take the one with the number",
	Rules:     RuleSet{Check: withFragment(checkDict, ruleDict), Parts: partsDict, Canonical: canonicalDict},
}

// The rules of dict URLs.
const (
	ruleDict     = "RFC 2229, 5: URL specification"
	ruleDictLine = "RFC 2229, 2.2: commands"
)

// dictNames are what may follow a command, in order.
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

// checkDict checks a command and what it is given.
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
		return refuse(from, from, ruleDict, "the word is missing")
	}
	if bad := l.refuseControls(ruleDictLine, "DICT"); bad != nil {
		return bad
	}
	names := l.dictNames()
	for at, i := from, 0; at <= l.pathEnd; i++ {
		end := until(l.s, at, l.pathEnd, ':')
		switch {
		case i == len(names):
			return refuse(at-1, l.pathEnd, ruleDict, "there are too many colons: one in a word is %3A")
		case names[i] == "n" && at < end && !isNumber(l.s[at:end], 0):
			return refuse(at, end, ruleDict, "which one is a number")
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

// canonicalDict leaves out what is meant without it, and colons behind which
// nothing follows.
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
