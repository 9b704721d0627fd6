package scheme

import "github.com/nomen-project/nomen/uri"

// A Status is the registration status of a scheme.
type Status uint8

// The statuses. The IANA registry has the three without a comment (RFC 7595, section 4).
const (
	StatusUnregistered Status = iota // in wide use, but not registered at IANA
	StatusPermanent
	StatusProvisional
	StatusHistorical
	StatusExperimental // begins with "x-"; its users agree on its meaning (draft of 1993, section "Registration of naming schemes")
	statuses
)

// String returns "unregistered", "permanent", "provisional", "historical" or
// "experimental".
func (s Status) String() string {
	names := [statuses]string{"unregistered", "permanent", "provisional", "historical", "experimental"}
	if s >= statuses {
		return "unknown"
	}
	return names[s]
}

// ParseStatus returns the status for a name that [Status.String] returns.
func ParseStatus(name string) (Status, bool) {
	for s := range statuses {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

// A Kind is the kind of the URIs of a scheme, such as locators or names.
type Kind uint8

// The kinds of schemes.
const (
	KindUnstated Kind = iota // no document defines it
	KindLocator              // the URIs are URLs, which identify an object by its location
	KindName                 // the URIs are names such as URNs, which do not depend on a location
	KindOther                // the URIs are something else, such as actions, addresses of people or inline data
	kinds
)

// String returns "unstated", "locator", "name" or "other".
func (k Kind) String() string {
	names := [kinds]string{"unstated", "locator", "name", "other"}
	if k >= kinds {
		return "unknown"
	}
	return names[k]
}

// A Special is a set of characters with a special meaning in a component. These characters must be
// percent-encoded if they are data.
type Special struct {
	Component uri.Component
	Chars     string // a percent-encoding such as %00 counts as a character
	Meaning   string
}

// A Scheme describes a URI scheme.
type Scheme struct {
	Name      string // in lower case
	Title     string // for display
	Status    Status
	Kind      Kind
	Reference string // the documents that define the scheme
	Template  string // URL of the registration template at IANA, or ""
	Example   string // a valid URI of the scheme
	Note      string // for users: peculiarities of the scheme, and rules that are not checked
	Security  string // security considerations that are specific to the scheme
	Danger    string // what can happen when an untrusted link is followed; "" if only a request is sent

	DefaultPort  string // in decimal
	Transport    string // "tcp", "udp" or ""
	Hierarchical bool   // the path is a hierarchy, so relative references make sense
	RootPath     bool   // an empty path after an authority is equivalent to "/"
	Interactive  bool   // a URI opens a session instead of locating an object
	Special      []Special

	// Retrieval describes how to retrieve the object of a URI. If URIs of the scheme are not
	// locators, Properties describes what they guarantee instead. A registration requires one of
	// these two fields (draft of 1993, section "Registration of naming schemes").
	Retrieval  string
	Properties string
	Gateway    string // a gateway that the authors of the scheme offer; see package fetch/plan

	Rules RuleSet
}

// A RuleSet holds the functions that implement the rules of a scheme. Each function may be nil. The
// functions accept URIs of the scheme in any dialect (see [uri.URI.Dialect]). They apply the draft
// of 1993 to URIs in the dialect of 1993, and later documents to all other URIs.
type RuleSet struct {
	// Check returns the first violation of the rules of the scheme. For a valid URI it
	// returns warnings and remarks. It returns nil without allocating if there is nothing to report.
	Check func(u uri.URI) []Finding

	// Parts appends the named parts of u in the order in which the URI has them. If Check rejects
	// u, Parts appends the parts that it can determine.
	Parts func(dst []Part, u uri.URI) []Part

	// Build returns the text of a URI with the given raw parts; see [Scheme.Build].
	Build func(d uri.Dialect, parts []Part) (string, error)

	// Inner returns the range of a URI that is contained in u, such as the document in a
	// view-source URI. Check then inspects that URI by the rules of its own scheme.
	Inner func(u uri.URI) (from, to int, ok bool)

	// Canonical returns the canonical form of u, which has passed Check and has been normalised at
	// [uri.LevelScheme]. Canonical must be idempotent.
	Canonical func(u uri.URI) string
}

// Check returns findings about u, sorted by offset. The argument must be a URI of the scheme. The
// findings are the first violation of the scheme's rules, warnings about deceptive or harmful URIs,
// and remarks on style. Check does not repeat what [uri.URI.Inspect] reports about the general
// syntax. It does not allocate if there are no findings.
func (s *Scheme) Check(u uri.URI) []Finding {
	if !u.IsValid() {
		return nil
	}
	var found []Finding
	if s.Rules.Check != nil {
		found = s.Rules.Check(u)
	}
	return s.appendGeneral(found, u)
}

// Parts returns the named parts of u, which must be a URI of the scheme. A part that is present but
// empty is included.
func (s *Scheme) Parts(u uri.URI) []Part { return s.appendParts(nil, u) }

// appendParts appends the named parts of u to dst. It allocates only if dst has too little
// capacity.
func (s *Scheme) appendParts(dst []Part, u uri.URI) []Part {
	if s.Rules.Parts == nil || !u.IsValid() {
		return dst
	}
	if dst == nil {
		dst = make([]Part, 0, usualParts)
	}
	return s.Rules.Parts(dst, u)
}

const usualParts = 6

func (s *Scheme) schemeRules() uri.SchemeRules {
	return uri.SchemeRules{Scheme: s.Name, DefaultPort: s.DefaultPort, RootPath: s.RootPath, IPv6Text: true}
}

// Canonical returns the canonical form of u, which must be a URI of the scheme. There are three
// cases:
//
//   - If Check rejects u, the canonical form is the normal form of the general syntax.
//   - If the scheme requires a percent-encoding in u that the general syntax
//     would decode as unnecessary, only the case of u is normalised.
//   - Otherwise, u is normalised at [uri.LevelScheme], and then by the rules of
//     the scheme.
func (s *Scheme) Canonical(u uri.URI) uri.URI {
	given := u
	u = u.Normalize(uri.LevelScheme, s.schemeRules())
	if s.Rules.Check != nil && u.IsValid() && HasError(s.Rules.Check(u)) {
		if !HasError(s.Rules.Check(given)) {
			return given.Normalize(uri.LevelCase)
		}
		return u
	}
	if s.Rules.Canonical == nil || !u.IsValid() {
		return u
	}
	text := s.Rules.Canonical(u)
	if text == u.String() {
		return u
	}
	v, err := u.Dialect().Parse(text)
	if err != nil {
		panic("scheme: internal error: " + s.Name + ": the canonical form is not a valid URI: " + err.Error())
	}
	return v
}
