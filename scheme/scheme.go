package scheme

import "github.com/nomen-project/nomen/uri"

// A Status is the registration status of a scheme.
type Status uint8

// The registration statuses. The first three are those of the IANA registry
// (RFC 7595, 4).
const (
	StatusUnregistered Status = iota // in wide use, not registered at IANA
	StatusPermanent
	StatusProvisional
	StatusHistorical
	StatusExperimental // "x-", by agreement between parties (1993, Registration of naming schemes)
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

// ParseStatus is the inverse of [Status.String].
func ParseStatus(name string) (Status, bool) {
	for s := range statuses {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

// A Kind says what the identifiers of a scheme identify. All of them are URIs.
type Kind uint8

// The kinds of schemes.
const (
	KindUnstated Kind = iota // not defined by any document
	KindLocator              // identifies by location, as a URL does
	KindName                 // identifies independently of location, as a URN does
	KindOther                // an action, an address of a person, inline data
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

// A Special lists characters that have a special meaning in a component. If such a character is
// data, it must be percent-encoded.
type Special struct {
	Component uri.Component
	Chars     string // one or more characters; a percent-encoding such as %00 counts as one
	Meaning   string
}

// A Scheme is an entry of the catalogue.
type Scheme struct {
	Name      string // in lower case
	Title     string // for display
	Status    Status
	Kind      Kind
	Reference string // the documents that define the scheme
	Template  string // URL of the registration, if it has its own page
	Example   string // a complete valid URI
	Note      string // notes for users: peculiarities, and what is not checked and why
	Security  string // security considerations specific to the scheme
	Danger    string // risks of following a link from an untrusted source; "" if the only risk is that a request is sent

	DefaultPort  string // in decimal
	Transport    string // "tcp", "udp" or ""
	Hierarchical bool   // slashes express a hierarchy, so relative references are useful
	RootPath     bool   // an empty path after an authority is equivalent to "/"
	Interactive  bool   // opens a session; no object is retrieved
	Special      []Special

	// Retrieval describes in words how to retrieve an object. Properties describes what an
	// identifier guarantees, if it does not locate anything. A registration must have Retrieval or
	// Properties (1993, Registration of naming schemes).
	Retrieval  string
	Properties string
	Gateway    string // a gateway that the scheme's proposer offers; see package fetch/plan

	Rules RuleSet
}

// A RuleSet holds the functions of a scheme. Each may be nil. The functions accept
// a URI of the scheme in any dialect (see [uri.URI.Dialect]). They apply the
// document of 1993 to a URI in the dialect of 1993, and the later documents to all
// other URIs.
type RuleSet struct {
	// Check returns the first violation of the scheme's own rules, or warnings
	// and remarks about a valid URI. If there is nothing to report, it returns
	// nil without allocating.
	Check func(u uri.URI) []Finding

	// Parts appends the named parts in the order of the spelling. It also
	// accepts a URI that Check rejects, and appends the parts it can determine.
	Parts func(dst []Part, u uri.URI) []Part

	// Build returns the text of the URI with the given parts, whose values are
	// raw; see [Scheme.Build].
	Build func(d uri.Dialect, parts []Part) (string, error)

	// Inner returns the range of a URI contained in u, such as the document of
	// a view-source URI. Check inspects that URI by the rules of its own scheme.
	Inner func(u uri.URI) (from, to int, ok bool)

	// Canonical returns the canonical form of u. The URI has passed Check and
	// is normalised to [uri.LevelScheme]. Canonical must be idempotent.
	Canonical func(u uri.URI) string
}

// Check returns findings about u, a URI of the scheme, sorted by offset: the
// first violation of the scheme's own rules, warnings about deception or harm,
// and remarks on style. It does not repeat what [uri.URI.Inspect] reports about
// the general syntax. It does not allocate if there are no findings.
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

// Parts returns the named parts of u, a URI of the scheme. It omits undefined
// parts and includes empty ones.
func (s *Scheme) Parts(u uri.URI) []Part { return s.appendParts(nil, u) }

// appendParts is like [Scheme.Parts], but appends to dst. It allocates only if the capacity of dst
// is insufficient.
func (s *Scheme) appendParts(dst []Part, u uri.URI) []Part {
	if s.Rules.Parts == nil || !u.IsValid() {
		return dst
	}
	if dst == nil {
		dst = make([]Part, 0, usualParts)
	}
	return s.Rules.Parts(dst, u)
}

// usualParts is the initial capacity for parts; few URIs have more.
const usualParts = 6

// schemeRules returns the properties of the scheme that normalisation needs.
func (s *Scheme) schemeRules() uri.SchemeRules {
	return uri.SchemeRules{Scheme: s.Name, DefaultPort: s.DefaultPort, RootPath: s.RootPath, IPv6Text: true}
}

// Canonical returns the canonical form of u, which is one of these:
//
//   - If Check rejects u: the normal form of the general syntax.
//   - If the scheme requires a percent-encoding in u that the general syntax
//     removes as redundant: u with only its case normalised.
//   - In all other cases: the normal form at [uri.LevelScheme], with the scheme's
//     own rules applied.
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
