package uri

// A rule is a production of the grammar. Most rules exist in all dialects, under different names.
// The others are the forms of single schemes in the draft of 1993.
type rule uint8

// The productions for which the parser reports faults.
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
