package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/rule"
)

// A Policy is what an authority has decided about the answers for its names. The
// zero value serves what is registered and nothing else.
//
// An exact record always wins. Then come Suffix, the rules, and last the
// delegation.
type Policy struct {
	Rules      rule.Set    `json:"rules,omitempty"`      // locations of names that have no record
	Delegation *Delegation `json:"delegation,omitempty"` // who answers for names that nothing here knows
	Suffix     Suffix      `json:"suffix,omitempty"`     // what becomes of a registered name with more behind it

	Access     Access `json:"access,omitempty"`      // who may ask
	AccessNote string `json:"access_note,omitempty"` // why not everybody, for people

	Services   []nomen.Service     `json:"services,omitempty"`    // those offered; all if empty
	Keywords   map[string][]string `json:"keywords,omitempty"`    // directives that have a meaning, with their values; none listed means any (2012, 2.3)
	RComponent map[string]string   `json:"r_component,omitempty"` // what an r-component means, as directives: "toc" is "c=toc" (RFC 8141, 2.3.1)
	QComponent Passing             `json:"q_component,omitempty"` // whether it is appended to the location's query; it is if empty
	Query      Passing             `json:"query,omitempty"`       // the same of a plain query; it is not if empty
	Fragment   bool                `json:"fragment,omitempty"`    // references to its names may have fragments (2012, 2.4)

	Fetch  bool   `json:"fetch,omitempty"`   // I2R and I2Rs send the resource itself
	Choice Choice `json:"choice,omitempty"`  // among locations of the same rank
	MaxAge int    `json:"max_age,omitempty"` // seconds that answers may be kept without asking again

	CheckDigit string `json:"check_digit,omitempty"` // by which new names are checked at their end: namespace, noid, luhn or mod97, as package mint has them
}

// A Delegation hands the names of an authority to another resolver.
type Delegation struct {
	Mode Mode `json:"mode"`

	// To is where that resolver is: the URI template of RFC 6570 of a name's
	// page there, with {name}, {element} and {prefix}, and {?s,c,with,at} for what
	// is asked; or HOST or HOST:PORT of an authority's address (1995, 3.2), perhaps
	// with /full or /element for the form in which it takes names. Empty,
	// it has to be discovered.
	To string `json:"to,omitempty"`
}

// A Mode is how a delegated name is answered.
type Mode string

// The modes.
const (
	ModeRedirect Mode = "redirect" // the client is sent there
	ModeAsk      Mode = "ask"      // it is asked, and its answer passed on
)

// A Suffix is what becomes of a name that begins with a registered one, ending
// at a delimiter.
type Suffix string

// SuffixAppend puts the rest of the name behind the registered one's locations,
// as n2t and PURL servers do. The empty Suffix makes such names unknown.
const SuffixAppend Suffix = "append"

// An Access is who may ask for the names of an authority.
type Access string

// The kinds of access; everybody may ask if it is empty.
const (
	AccessDenied Access = "denied" // nobody: 403
	AccessLegal  Access = "legal"  // nobody, for legal reasons: 451
)

// A Passing is whether a part of the request is put into the location.
type Passing string

// The kinds of passing.
const (
	PassAppend Passing = "append"
	PassIgnore Passing = "ignore"
)

// A Choice is how one of several locations of the same rank is chosen.
type Choice string

// ChoiceFixed always takes the one with the greatest weight, of those the first.
// The empty Choice shares by weight at random.
const ChoiceFixed Choice = "fixed"

// IsZero reports whether p decides nothing.
func (p *Policy) IsZero() bool { return len(p.Text()) == 0 }

// Text returns the policy as the JSON text in which stores keep it: the fields
// in the order above, keys of maps in byte order, no white space; "" for the
// zero policy. Equal policies are equal texts.
func (p *Policy) Text() string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return "" // it consists of strings and numbers
	}
	const none = "{}"
	s := string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	if s == none {
		return ""
	}
	return s
}

// ParsePolicy is the inverse of [Policy.Text]. It refuses fields that it does
// not know: a policy that is followed in part is none.
func ParsePolicy(s string) (Policy, error) {
	var p Policy
	if s == "" {
		return p, nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return Policy{}, fmt.Errorf("store: policy: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Policy{}, fmt.Errorf("store: policy: more follows at offset %d", d.InputOffset())
	}
	return p, nil
}

// clone returns a copy that shares nothing with p.
func (p *Policy) clone() Policy {
	c, err := ParsePolicy(p.Text())
	if err != nil {
		panic(err) // Text writes what ParsePolicy reads
	}
	return c
}
