package format

import (
	"io"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/accept"
)

// A Problem tells why there is no answer: problem details of RFC 9457 with the
// extensions that the five kinds of [nomen.Error] need. Problems of other types
// have those members that say something.
type Problem struct {
	Type     string // a URI reference that ends in the kind, see [ProblemPath]; "" for about:blank
	Title    string // of the type, for people
	Status   int    // of HTTP
	Detail   string // of this occurrence, for people
	Instance string // a URI reference of this occurrence

	Name        string        // as asked
	Service     nomen.Service // of the question
	Offset      int           // of malformed: in bytes, into Name
	Rule        string        // of malformed: the production that was broken
	Suggestions []string      // names that may have been meant
	Legal       bool          // of denied: for legal reasons
	Available   []string      // media types that could be had
	Answer      *nomen.Answer // what can be said all the same: the tombstone
	Why         []string      // how it came about, for people; if it was asked for
}

// ProblemPath is the path before the kind in the types that [NewProblem] makes.
const ProblemPath = "/-/problems/"

// NewProblem returns the problem that e is, with the status of the response. The
// cause of e is kept private.
func NewProblem(e *nomen.Error, status int) *Problem {
	return &Problem{
		Type:        ProblemPath + e.Kind.String(),
		Title:       kindTitle(e.Kind),
		Status:      status,
		Detail:      e.Message,
		Name:        e.Name,
		Service:     e.Service,
		Offset:      e.Offset,
		Rule:        e.Rule,
		Suggestions: e.Suggestions,
		Legal:       e.Legal,
		Answer:      e.Answer,
		Why:         e.Why,
	}
}

// kindTitle says in words what a kind is.
func kindTitle(k nomen.Kind) string {
	switch k {
	case nomen.Malformed:
		return "The name is not well formed"
	case nomen.Unknown:
		return "The name is not known"
	case nomen.NoResult:
		return "The name is known, but has nothing of what was asked for"
	case nomen.Gone:
		return "The name was retired"
	case nomen.Denied:
		return "What is known about the name may not be told"
	}
	return "There is no answer"
}

// Kind returns the kind that the type of p ends in; 0 if it is none of the five.
func (p *Problem) Kind() nomen.Kind {
	last := p.Type[strings.LastIndexAny(p.Type, "/#:")+1:]
	for k := nomen.Malformed; k <= nomen.Denied; k++ {
		if last == k.String() {
			return k
		}
	}
	return 0
}

// repeats reports whether the detail is what the tombstone says anyway.
func (p *Problem) repeats() bool { return p.Answer != nil && p.Answer.Reason == p.Detail }

// nextStep says what a person can do about p.
func (p *Problem) nextStep() string {
	switch p.Kind() {
	case nomen.Malformed:
		return "Compare the name with where you found it: a character may be missing, or one too many."
	case nomen.Unknown:
		return "Compare the name with where you found it, and tell them if it is the same there."
	case nomen.Denied:
		return "Whoever published the name can tell you more."
	}
	return ""
}

// Err returns the error that p was made of, without its cause; nil if p is of
// none of the five kinds.
func (p *Problem) Err() *nomen.Error {
	k := p.Kind()
	if k == 0 {
		return nil
	}
	return &nomen.Error{
		Kind:        k,
		Name:        p.Name,
		Service:     p.Service,
		Offset:      p.Offset,
		Rule:        p.Rule,
		Message:     p.Detail,
		Suggestions: p.Suggestions,
		Legal:       p.Legal,
		Answer:      p.Answer,
		Why:         p.Why,
	}
}

// A problemObject is a problem as JSON has it.
type problemObject struct {
	Type     string `json:"type,omitempty"`
	Title    string `json:"title,omitempty"`
	Status   int    `json:"status,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Instance string `json:"instance,omitempty"`

	Name        string        `json:"name,omitempty"`
	Service     nomen.Service `json:"service,omitempty"`
	Offset      *int          `json:"offset,omitempty"`
	Rule        string        `json:"rule,omitempty"`
	Suggestions []string      `json:"suggestions,omitempty"`
	Legal       bool          `json:"legal,omitempty"`
	Available   []string      `json:"available,omitempty"`
	Answer      *object       `json:"answer,omitempty"`
	Why         []string      `json:"why,omitempty"`
}

// WriteProblem writes p as application/problem+json.
func WriteProblem(w io.Writer, p *Problem) error {
	o := problemObject{
		Type: p.Type, Title: p.Title, Status: p.Status, Detail: p.Detail, Instance: p.Instance,
		Name: p.Name, Service: p.Service, Rule: p.Rule, Suggestions: p.Suggestions, Legal: p.Legal, Available: p.Available,
		Why: p.Why,
	}
	if p.Kind() == nomen.Malformed || p.Offset != 0 {
		o.Offset = &p.Offset
	}
	if p.Answer != nil {
		o.Answer = newObject(p.Answer)
	}
	return encode(w, &o)
}

// ReadProblem reads what [WriteProblem] wrote, or problem details of others.
func ReadProblem(r io.Reader) (*Problem, error) {
	var o problemObject
	if err := decode(r, TypeProblem, &o); err != nil {
		return nil, err
	}
	p := &Problem{
		Type: o.Type, Title: o.Title, Status: o.Status, Detail: o.Detail, Instance: o.Instance,
		Name: o.Name, Service: o.Service, Rule: o.Rule, Suggestions: orNil(o.Suggestions), Legal: o.Legal, Available: orNil(o.Available),
		Why: orNil(o.Why),
	}
	if o.Offset != nil {
		p.Offset = min(max(*o.Offset, 0), len(p.Name))
	}
	if o.Answer == nil {
		return p, nil
	}
	var err error
	if p.Answer, err = o.Answer.answer(); err != nil {
		return nil, err
	}
	return p, nil
}

// A ProblemForm is one way to write a problem as bytes.
type ProblemForm struct {
	MediaType string // without parameters
	Charset   string // the parameter of the media type; "" for none
	Write     func(w io.Writer, p *Problem) error
}

// ContentType returns the media type with its parameter.
func (f ProblemForm) ContentType() string { return contentType(f.MediaType, f.Charset) }

// InUnicode does what [Format.InUnicode] does.
func (f ProblemForm) InUnicode() ProblemForm {
	if f.MediaType == TypeURC {
		f.Write = func(w io.Writer, p *Problem) error { return writeProblemURC(w, p, unicode) }
	}
	return f
}

// ProblemFormat returns the form that an Accept field wants for a problem. A
// client that takes some kind of JSON gets problem details, one that takes
// text/urc-0 gets that. Where the field leaves the choice, or nothing acceptable
// is there, it is plain text: a problem never leads to 406.
func ProblemFormat(field string) ProblemForm {
	text := ProblemForm{TypeText, charsetUTF8, WriteProblemText}
	page := ProblemForm{TypeHTML, charsetUTF8, WriteProblemHTML}
	details := ProblemForm{TypeProblem, "", WriteProblem}
	forms := []ProblemForm{text, page, details, details, details, details, {TypeURC, "", WriteProblemURC}}
	types := [...]string{TypeText, TypeHTML, TypeProblem, TypeJSON, TypeLinksetJSON, TypeJSONLD, TypeURC}
	var f accept.Field
	f.ReadMedia(field)
	of := func(i int) accept.Preference { return preference(&f, types[i], forms[i].Charset) }
	i, ok := best(&f, len(types), of)
	if !ok {
		i, _ = notExcluded(len(types), of) // the first if all are
	}
	return forms[i]
}
