package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/rule"
)

// A Policy determines how names of an authority are answered. The zero value serves
// registered names only.
//
// A record of the name itself always takes precedence, then Suffix, then Rules, and
// finally Delegation.
type Policy struct {
	Rules      rule.Set    `json:"rules,omitempty"`      // locations of names without a record
	Delegation *Delegation `json:"delegation,omitempty"` // the resolver of names that are not found here
	Suffix     Suffix      `json:"suffix,omitempty"`     // what to do with a registered name followed by more

	Access     Access `json:"access,omitempty"`                         // whether the names are public
	AccessNote string `json:"access_note,omitempty" toml:"access_note"` // why they are not, for people

	Services   []nomen.Service     `json:"services,omitempty"`                       // offered services; all if empty
	Keywords   map[string][]string `json:"keywords,omitempty"`                       // known directives with their values; an empty list allows any value (2012, 2.3)
	RComponent map[string]string   `json:"r_component,omitempty" toml:"r_component"` // directives for each r-component: "toc" is "c=toc" (RFC 8141, 2.3.1)
	QComponent Passing             `json:"q_component,omitempty" toml:"q_component"` // whether a q-component is appended to the location's query; append if empty
	Query      Passing             `json:"query,omitempty"`                          // whether a plain query is appended; ignore if empty
	Fragment   bool                `json:"fragment,omitempty"`                       // references to the names may have fragments (2012, 2.4)

	Fetch  bool   `json:"fetch,omitempty"`                  // I2R and I2Rs send the resource itself
	Choice Choice `json:"choice,omitempty"`                 // how to choose among locations of equal rank
	MaxAge int    `json:"max_age,omitempty" toml:"max_age"` // seconds for which answers may be cached

	CheckDigit string `json:"check_digit,omitempty" toml:"check_digit"` // check character at the end of new names: namespace, noid, luhn or mod97, as in package mint
}

// A Delegation refers the names of an authority to another resolver.
type Delegation struct {
	Mode Mode `json:"mode"`

	// To is the address of that resolver. It is either a URI template (RFC 6570) of a
	// name's page there, with {name}, {element} and {prefix}, and {?s,c,with,at} for the
	// request; or HOST or HOST:PORT of an authority's address (1995, 3.2), optionally
	// followed by /full or /element for the form of names that it accepts. If empty, the
	// resolver is found by discovery.
	To string `json:"to,omitempty"`
}

// A Mode is how a delegated name is answered.
type Mode string

// The modes.
const (
	ModeRedirect Mode = "redirect" // the client is redirected to the resolver
	ModeAsk      Mode = "ask"      // the resolver is asked, and its answer returned
)

// A Suffix says how to answer a name that consists of a registered name, a delimiter and
// more.
type Suffix string

// SuffixAppend appends the rest of the name to the locations of the registered one, as n2t and
// PURL servers do. With the empty Suffix a registered name followed by more is not found.
const SuffixAppend Suffix = "append"

// An Access says whether the names of an authority are public.
type Access string

// The kinds of access. The empty Access makes the names public.
const (
	AccessDenied Access = "denied" // not public: 403
	AccessLegal  Access = "legal"  // not public for legal reasons: 451
)

// A Passing says whether a part of the request is copied to the location.
type Passing string

// The values of Passing.
const (
	PassAppend Passing = "append"
	PassIgnore Passing = "ignore"
)

// A Choice says how one of several locations of equal rank is chosen.
type Choice string

// ChoiceFixed always chooses the location with the greatest weight, and the first one among
// equal weights. The empty Choice chooses at random in proportion to weight.
const ChoiceFixed Choice = "fixed"

// IsZero reports whether p is the zero policy.
func (p *Policy) IsZero() bool { return len(p.Text()) == 0 }

// Text returns the policy as the JSON text that stores keep: fields in the order above,
// map keys in byte order, no white space; "" for the zero policy. Equal policies have
// equal texts.
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

// ParsePolicy is the inverse of [Policy.Text]. It rejects unknown fields, because a
// policy must not be applied in part.
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

// clone returns a deep copy of p.
func (p *Policy) clone() Policy {
	c, err := ParsePolicy(p.Text())
	if err != nil {
		panic(err) // Text writes what ParsePolicy reads
	}
	return c
}
