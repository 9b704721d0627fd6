package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/rule"
)

// A Policy determines how requests for the names of an authority are answered. A record always has
// precedence. For a name without a record, the resolver applies Suffix, then Rules, then
// Delegation. With the zero Policy, only names with records are found.
type Policy struct {
	Rules      rule.Set    `json:"rules,omitempty"`      // locations of names without a record
	Delegation *Delegation `json:"delegation,omitempty"` // the resolver to ask about names that are not found here
	Suffix     Suffix      `json:"suffix,omitempty"`     // how to answer a registered name that is followed by more text

	Access     Access `json:"access,omitempty"`                         // whether the names are public; empty if they are
	AccessNote string `json:"access_note,omitempty" toml:"access_note"` // why the names are not public, for people to read

	Services   []nomen.Service     `json:"services,omitempty"`                       // services offered; if empty, all
	Keywords   map[string][]string `json:"keywords,omitempty"`                       // known directives and their values; an empty list allows any value (draft of 2012, 2.3)
	RComponent map[string]string   `json:"r_component,omitempty" toml:"r_component"` // what an r-component means, as directives: "toc" is "c=toc" (RFC 8141, section 2.3.1)
	QComponent Passing             `json:"q_component,omitempty" toml:"q_component"` // whether a q-component is appended to the query of the location; PassAppend if empty
	Query      Passing             `json:"query,omitempty"`                          // whether a plain query is appended to the query of the location; ignored if empty
	Fragment   bool                `json:"fragment,omitempty"`                       // references to the names can have fragments (draft of 2012, 2.4)

	Fetch    bool     `json:"fetch,omitempty"`    // services I2R and I2Rs send the resource itself
	Choice   Choice   `json:"choice,omitempty"`   // how to choose one of several locations of equal rank
	Failover Failover `json:"failover,omitempty"` // what takes the place of locations that the checks of links found to be dead; if empty, nothing

	MaxAge int `json:"max_age,omitempty" toml:"max_age"` // how long answers may be cached, in seconds

	Commitment string `json:"commitment,omitempty"` // what the authority promises, such as "Permanent: Stable Content"; for people to read

	CheckDigit string `json:"check_digit,omitempty" toml:"check_digit"` // how to compute the check character at the end of new names: namespace, noid, luhn or mod97; see package mint

	Mint []string `json:"mint,omitempty"` // templates of new names, which differ in the text before their first part; see package mint
}

// A Delegation passes requests for the names of an authority on to another resolver.
type Delegation struct {
	Mode Mode `json:"mode"`

	// To is the address of the resolver. It has one of three forms:
	//
	//   - a URI template (RFC 6570) for the page of a name at the resolver, with {name},
	//     {element} and {prefix}, and {?s,c,with,at} for the request;
	//   - the address of the host of an authority (draft of 1995, 3.2): HOST or HOST:PORT. The
	//     suffix /full or /element is the form of the names in requests;
	//   - dspace:URL, a DSpace repository with handles, only for [ModeAsk].
	//
	// If To is empty, nomen finds the resolver by discovery.
	To string `json:"to,omitempty"`
}

// A Mode determines how a request for a delegated name is answered.
type Mode string

// Values of Mode.
const (
	ModeRedirect Mode = "redirect" // redirect the client to the resolver
	ModeAsk      Mode = "ask"      // query the resolver, and return its answer
)

// A Suffix determines how a request is answered that consists of a registered name, a delimiter and
// more text.
type Suffix string

// SuffixAppend appends the delimiter and the text to the locations of the registered name, as n2t
// and PURL servers do. With the empty Suffix, such a name is not found.
const SuffixAppend Suffix = "append"

// An Access determines whether the names of an authority are public.
type Access string

// Values of Access. The empty Access makes the names public.
const (
	AccessDenied Access = "denied" // not public: HTTP status 403
	AccessLegal  Access = "legal"  // not public for legal reasons: HTTP status 451
)

// A Passing determines whether a part of a request is appended to the location or ignored.
type Passing string

// Values of Passing.
const (
	PassAppend Passing = "append"
	PassIgnore Passing = "ignore"
)

// A Choice determines how one of several locations of equal rank is chosen. The empty Choice
// chooses at random, in proportion to the weights.
type Choice string

// ChoiceFixed chooses the location with the greatest weight, and the first of several such
// locations.
const ChoiceFixed Choice = "fixed"

// A Failover determines what replaces a dead location. A location is dead when link checks on
// several days have found that it is no longer available.
type Failover string

// FailoverArchive redirects to another location of the resource, or to a location with the relation
// archive or memento, while a location is dead.
const FailoverArchive Failover = "archive"

// IsZero reports whether p is the zero policy.
func (p *Policy) IsZero() bool { return len(p.Text()) == 0 }

// Text returns the JSON text of p in a canonical form, in which stores keep it: the fields are in
// the order of [Policy], map keys are in byte order, and there is no white space. The text of the
// zero policy is "".
func (p *Policy) Text() string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return "" // cannot happen: a policy has only strings and numbers
	}
	const none = "{}"
	s := string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	if s == none {
		return ""
	}
	return s
}

// ParsePolicy parses the result of [Policy.Text]. It rejects unknown fields, because a policy must
// not be applied in part.
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
		return Policy{}, fmt.Errorf("store: policy: unexpected data after the policy at offset %d", d.InputOffset())
	}
	return p, nil
}

func (p *Policy) clone() Policy {
	c, err := ParsePolicy(p.Text())
	if err != nil {
		panic(err) // cannot happen: ParsePolicy reads what Text has written
	}
	return c
}
