package extra

import (
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var dict = scheme.Scheme{
	Name: "dict", Title: "Dictionary Server Protocol", Kind: scheme.KindLocator,
	Reference:   "RFC 2229, 5",
	Example:     "dict://dict.example.org/d:shortcake:wordnet:1",
	Note:        "d: asks for a definition, m: for matching words; the default database is ! (the first with a match), the default strategy . (chosen by the server)",
	Security:    "the query is sent in the clear",
	DefaultPort: "2628", Transport: "tcp",
	Special:   []scheme.Special{inPath(":", "separates the command, word, database, strategy and number")},
	Retrieval: "ask the database for definitions of the word or for matching words, and select one by number",
	Rules:     scheme.RuleSet{Check: withFragment(checkDict, ruleDict), Parts: partsDict, Canonical: canonicalDict},
}

const (
	ruleDict     = "RFC 2229, 5: URL specification"
	ruleDictLine = "RFC 2229, 2.2: commands"
)

// dictNames returns the names of the arguments for the command in the URL, in order.
func dictNames(l *layout.Layout) []string {
	if l.Path+1 < l.PathEnd && ascii.Lower(l.Text[l.Path+1]) == 'm' {
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
func checkDict(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := firstOf(l.NeedServer(ruleDict), refuseQuery(&l, ruleDict)); bad != nil {
		return bad
	}
	const command = len("/d:")
	from := l.Path + command
	switch {
	case from > l.PathEnd || l.Text[from-1] != ':' || ascii.Lower(l.Text[l.Path+1]) != 'd' && ascii.Lower(l.Text[l.Path+1]) != 'm':
		return layout.Refuse(l.Path, l.PathEnd, ruleDict, "a slash, d: or m:, and a word must follow the host")
	case from == l.PathEnd || l.Text[from] == ':':
		return layout.Refuse(from, from, ruleDict, "missing word")
	}
	if bad := l.RefuseControls(ruleDictLine, "DICT"); bad != nil {
		return bad
	}
	names := dictNames(&l)
	for at, i := from, 0; at <= l.PathEnd; i++ {
		end := ascii.Until(l.Text, at, l.PathEnd, ':')
		switch {
		case i == len(names):
			return layout.Refuse(at-1, l.PathEnd, ruleDict, "too many colons; percent-encode a colon in a word as %3A")
		case names[i] == "n" && at < end && !isNumber(l.Text[at:end], 0):
			return layout.Refuse(at, end, ruleDict, "the last argument must be a number")
		}
		at = end + 1
	}
	return nil
}

func partsDict(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	if t.User >= 0 {
		end := ascii.Until(t.Text, t.User, t.UserEnd, ';')
		t.Data("user", t.User, end)
		t.Data("auth", end+1, t.UserEnd)
	}
	t.Server()
	from := min(t.Path+1, t.PathEnd)
	colon := ascii.Until(t.Text, from, t.PathEnd, ':')
	t.Part("command", from, colon)
	for at, i := colon+1, 0; at <= t.PathEnd; i++ {
		end := ascii.Until(t.Text, at, t.PathEnd, ':')
		if names := dictNames(&t.Layout); i < len(names) {
			t.Data(names[i], at, end)
		}
		at = end + 1
	}
	t.Search()
	t.Fragment()
	return t.Parts
}

// canonicalDict omits default values, and empty arguments at the end.
func canonicalDict(u uri.URI) string {
	l := layout.Of(u)
	names := dictNames(&l)
	b := append(make([]byte, 0, len(l.Text)), l.Text[:l.Path]...)
	b = append(b, '/', ascii.Lower(l.Text[l.Path+1]))
	keep := len(b)
	for at, i := l.Path+len("/d:"), 0; at <= l.PathEnd; i++ {
		end := ascii.Until(l.Text, at, l.PathEnd, ':')
		value := l.Text[at:end]
		if names[i] == "database" && value == "!" || names[i] == "strategy" && value == "." {
			value = ""
		}
		b = append(append(b, ':'), value...)
		if value != "" {
			keep = len(b)
		}
		at = end + 1
	}
	return string(append(b[:keep], l.Text[l.End():]...))
}
