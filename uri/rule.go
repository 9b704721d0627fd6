package uri

// A rule is a production of the grammar. It is either a production that all dialects have, under
// different names, or the form of one scheme in the draft of 1993.
type rule uint8

// The productions in which a parser can find a fault.
const (
	ruleReference rule = iota
	ruleScheme
	ruleAuthority
	ruleUserinfo
	ruleHost
	ruleLiteral
	rulePort
	ruleFirstSegment
	rulePath
	ruleQuery
	ruleFragment
	ruleEscape
	ruleCount
)

// The forms of the draft of 1993.
const (
	ruleFTP rule = ruleCount + iota
	ruleAFS
	ruleNews
	ruleWAIS
	ruleProspero
	ruleTelnet
	ruleGopher
)

var formNames = [...]string{
	"fileaddress", "afsaddress", "newsaddress", "waisaddress", "prosperoaddress", "telnetaddress", "gopheraddress",
}

func (r rule) name(d Dialect) string {
	if r >= ruleCount {
		return formNames[r-ruleCount]
	}
	if !d.IsValid() {
		d = Latest
	}
	return grammars[d].rules[r]
}
