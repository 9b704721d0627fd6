package scheme

import "github.com/nomen-project/nomen/uri"

// A Status says who stands behind the name of a scheme.
type Status uint8

// The statuses. The first three are those of the registry of IANA (RFC 7595, 4).
const (
	StatusUnregistered Status = iota // in wide use, and not at IANA
	StatusPermanent
	StatusProvisional
	StatusHistorical
	StatusExperimental // "x-", by agreement between parties (1993, Registration of naming schemes)
	statuses
)

// String returns the name of the status: unregistered, permanent, provisional,
// historical, experimental.
func (s Status) String() string {
	names := [statuses]string{"unregistered", "permanent", "provisional", "historical", "experimental"}
	if s >= statuses {
		return "unknown"
	}
	return names[s]
}

// ParseStatus returns the status with a name; see [Status.String].
func ParseStatus(name string) (Status, bool) {
	for s := range statuses {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

// A Kind says what identifiers of a scheme are. Every one of them is a URI.
type Kind uint8

// The kinds.
const (
	KindUnstated Kind = iota // nobody has said
	KindLocator              // says where: a URL
	KindName                 // says which, wherever it is: a URN and its relatives
	KindOther                // an action, an address of people, the data themselves
	kinds
)

// String returns the name of the kind: unstated, locator, name, other.
func (k Kind) String() string {
	names := [kinds]string{"unstated", "locator", "name", "other"}
	if k >= kinds {
		return "unknown"
	}
	return names[k]
}

// A Special says that characters have a meaning of their own in a component of
// a scheme, so that where they are data they have to be escaped.
type Special struct {
	Component uri.Component
	Chars     string // each of them; an escape, such as %00, counts as one
	Meaning   string
}

// A Scheme is one record of the catalogue.
type Scheme struct {
	Name      string // in lower case
	Title     string // for people
	Status    Status
	Kind      Kind
	Reference string // the documents by which it is read
	Template  string // URL of the registration, if it has a page of its own
	Example   string // a whole URI that is valid
	Note      string // what a user should know; what is not checked and why
	Security  string // considerations of its own
	Danger    string // what may happen to who follows one from a stranger; "" if nothing but a request

	DefaultPort  string // in decimal
	Transport    string // "tcp", "udp" or ""
	Hierarchical bool   // slashes are a hierarchy, so that relative references make sense
	RootPath     bool   // an empty path after an authority is the same as "/"
	Interactive  bool   // a session for a person: nothing is retrieved
	Special      []Special

	// Retrieval says in words how an object is had by its locator, and
	// Properties what is promised of identifiers that locate nothing. One of
	// them is what a registration must have (1993, Registration of naming
	// schemes).
	Retrieval  string
	Properties string
	Gateway    string // a gateway locator that the proposer offers; see [Gateways]

	Rules RuleSet
}

// A RuleSet holds the functions of a scheme. Each may be nil. They take a URI of that
// scheme, read in any dialect, which [uri.URI.Dialect] tells: what the documents
// of 1993 say holds in that dialect, what the later ones say in all others.
type RuleSet struct {
	// Check returns what is wrong by the scheme's own rules, and what is to be
	// said about a URI that is not; nil, without allocation, if nothing is.
	Check func(u uri.URI) []Finding

	// Parts appends the named parts in the order of the spelling. It takes also
	// what Check refuses, and then appends what can be told.
	Parts func(dst []Part, u uri.URI) []Part

	// Build writes the URI that has the parts, whose values are raw, in a
	// dialect; see [Scheme.Build].
	Build func(d uri.Dialect, parts []Part) (string, error)

	// Request says what a client asks for, and whom, to retrieve what u
	// locates: that which [Request] does not say of all schemes. It gets a URI
	// that Check accepts.
	Request func(u uri.URI, c Client) (Request, error)

	// Inner tells where in the spelling a URI begins and ends that u wraps or
	// carries, such as what view-source is to show. Its scheme is asked too.
	Inner func(u uri.URI) (from, to int, ok bool)

	// Canonical returns the one spelling of all that the scheme holds
	// equivalent. It gets a URI that Check accepts and that is normal by
	// [uri.LevelScheme], and must be idempotent.
	Canonical func(u uri.URI) string
}

// Check returns what is to be said about u, a URI of the scheme: the first thing
// that its own rules refuse, what may deceive or harm who follows it, and what
// could be written better, in the order of offsets. What the general syntax has
// to say is told by [uri.URI.Inspect]. Input without findings costs no
// allocation.
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

// Parts returns the named parts of u, a URI of the scheme. What is undefined is
// not there; what is empty is.
func (s *Scheme) Parts(u uri.URI) []Part { return s.AppendParts(nil, u) }

// AppendParts is [Scheme.Parts] for those who have a slice already: it allocates
// only if dst has no room.
func (s *Scheme) AppendParts(dst []Part, u uri.URI) []Part {
	if s.Rules.Parts == nil || !u.IsValid() {
		return dst
	}
	if dst == nil {
		dst = make([]Part, 0, usualParts)
	}
	return s.Rules.Parts(dst, u)
}

// usualParts is how many parts few URIs exceed.
const usualParts = 6

// SchemeRules returns what the general normalisation needs to know.
func (s *Scheme) SchemeRules() uri.SchemeRules {
	return uri.SchemeRules{Scheme: s.Name, DefaultPort: s.DefaultPort, RootPath: s.RootPath}
}

// Canonical returns the one spelling of all that the scheme holds equivalent to
// u: its normal form by [uri.LevelScheme], and what the scheme adds. A URI that
// the scheme refuses has the normal form of the general syntax alone: it is
// equivalent to nothing else. Where that form would break rules that u keeps, as
// a needless escape is needed there, only case is normalised.
func (s *Scheme) Canonical(u uri.URI) uri.URI {
	given := u
	u = u.Normalize(uri.LevelScheme, s.SchemeRules())
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
		panic("scheme: internal error: " + s.Name + ": the canonical spelling is no URI: " + err.Error())
	}
	return v
}
