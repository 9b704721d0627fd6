package format

import (
	"io"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/accept"
)

// A Problem says why there is no answer. It has the problem details of RFC 9457, and extensions for
// the five kinds of [nomen.Error]. Problems of any other type can have the same extensions.
type Problem struct {
	Type     string // a URI reference that ends in the kind, see [ProblemPath]; "" means about:blank
	Title    string // of the type, for people
	Status   int    // of the HTTP response
	Detail   string // what happened, for people
	Instance string // a URI reference that identifies this occurrence
	On       Page   // the page that shows the problem; not sent

	Name        string        // the name that was requested
	Service     nomen.Service // the service that was requested
	Offset      int           // offset of the error in Name, in bytes, if the name is malformed
	Rule        string        // the violated production, if the name is malformed
	Suggestions []string      // names that the client may have meant
	Legal       bool          // access is denied for legal reasons
	Available   []string      // the media types that are available
	Answer      *nomen.Answer // the tombstone, if the name is retired
	Why         []string      // an explanation for people, if requested
}

// ProblemPath is the prefix of the types that [NewProblem] sets. The kind of the error follows.
const ProblemPath = "/-/problems/"

// NewProblem returns the problem for e, with the HTTP status of the response. The problem does not
// contain the cause of e.
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

func kindTitle(k nomen.Kind) string {
	switch k {
	case nomen.Malformed:
		return "The name is malformed"
	case nomen.Unknown:
		return "The name was not found"
	case nomen.NoResult:
		return "The name has no such result"
	case nomen.Gone:
		return "The name was retired"
	case nomen.Denied:
		return "Access to this name is denied"
	}
	return "No answer"
}

// Kind returns the kind at the end of the type, or 0 if the type does not end in one of the five
// kinds.
func (p *Problem) Kind() nomen.Kind {
	last := p.Type[strings.LastIndexAny(p.Type, "/#:")+1:]
	for k := nomen.Malformed; k <= nomen.Denied; k++ {
		if last == k.String() {
			return k
		}
	}
	return 0
}

// repeats reports whether the detail equals the reason in the tombstone.
func (p *Problem) repeats() bool { return p.Answer != nil && p.Answer.Reason == p.Detail }

func (p *Problem) nextStep() string {
	switch p.Kind() {
	case nomen.Malformed:
		return "Check the name against its source: a character may be missing or added."
	case nomen.Unknown:
		return "Check the name against its source. If it is the same there, report it to the publisher of the source."
	case nomen.Denied:
		return "Contact the publisher of the name for more information."
	}
	return ""
}

// Err returns the error from which p was made, without its cause. It returns nil if the type does
// not end in one of the five kinds.
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

// ReadProblem reads problem details that [WriteProblem] or other software has written.
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

// A ProblemForm is a format in which problems are written.
type ProblemForm struct {
	MediaType string // without parameters
	Charset   string // the charset parameter of the media type, or ""
	Write     func(w io.Writer, p *Problem) error
}

// ContentType returns the value of a Content-Type field.
func (f ProblemForm) ContentType() string { return contentType(f.MediaType, f.Charset) }

// InUnicode returns the variant of f for a client that accepts UTF-8; see [Format.InUnicode].
func (f ProblemForm) InUnicode() ProblemForm {
	if f.MediaType == TypeURC {
		f.Write = func(w io.Writer, p *Problem) error { return writeProblemURC(w, p, unicode) }
	}
	return f
}

// ProblemFormat returns the format of a problem for a request with this Accept field. The format is
// plain text, HTML, text/urc-0, or problem details for a client that prefers a JSON format. If the
// field has no preference, the format is plain text. If no format is acceptable, ProblemFormat
// returns the first that the field does not exclude by q=0, or plain text if all formats are
// excluded. A problem never leads to the status 406.
func ProblemFormat(field string) ProblemForm {
	text := ProblemForm{TypeText, charsetUTF8, writeProblemText}
	page := ProblemForm{TypeHTML, charsetUTF8, WriteProblemHTML}
	details := ProblemForm{TypeProblem, "", WriteProblem}
	forms := []ProblemForm{text, page, details, details, details, details, {TypeURC, "", WriteProblemURC}}
	types := [...]string{TypeText, TypeHTML, TypeProblem, TypeJSON, TypeLinksetJSON, TypeJSONLD, TypeURC}
	var f accept.Field
	f.ReadMedia(field)
	of := func(i int) accept.Preference { return preference(&f, types[i], forms[i].Charset) }
	i, ok := best(&f, len(types), of)
	if !ok {
		i, _ = notExcluded(len(types), of) // 0 if all are excluded
	}
	return forms[i]
}

// StatusOf returns the HTTP status for e. This is the status that a rule has set, or otherwise the
// status for the kind of e.
func StatusOf(e *nomen.Error) int {
	if e.Status != 0 {
		return e.Status
	}
	switch e.Kind {
	case nomen.Malformed:
		return http.StatusBadRequest
	case nomen.Unknown, nomen.NoResult:
		return http.StatusNotFound
	case nomen.Gone:
		return http.StatusGone
	case nomen.Denied:
		if e.Legal {
			return http.StatusUnavailableForLegalReasons
		}
		return http.StatusForbidden
	}
	return http.StatusInternalServerError
}
