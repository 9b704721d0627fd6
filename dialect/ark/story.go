package ark

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/internal/anvl"
	"github.com/nomen-project/nomen/internal/ezid"
	"github.com/nomen-project/nomen/store"
)

// unavailable is the ERC value for unknown information.
const unavailable = "(:unav)"

// A story is the answer to the four questions of the ERC kernel metadata.
type story struct{ Who, What, When, Where string }

func labels() []string { return []string{"who", "what", "when", "where"} }

func (s *story) field(label string) *string {
	return map[string]*string{"who": &s.Who, "what": &s.What, "when": &s.When, "where": &s.Where}[label]
}

// ofAuthority returns the story of an authority: who is responsible for its names, what it is, and
// when it last changed. Where is "".
func ofAuthority(a *store.Authority) story {
	return story{Who: strings.Join(a.Owners, "; "), What: a.Description, When: day(a.Modified)}
}

type description struct {
	id       string
	status   nomen.Status
	reason   string // reason for which the name was retired
	modified time.Time
	story    story
	more     map[string]string // further metadata, by label
	support  *story            // the promise about the name; nil if it was not requested
}

// describe returns the description of a name. If another resolver has the record, rec is nil. If no
// authority covers the name, a is nil.
func describe(base string, of *nomen.Answer, rec *store.Record, a *store.Authority) *description {
	d := &description{id: of.Name.Key(), status: of.Status, reason: of.Reason, modified: of.Modified}
	elements := ezid.Elements{}
	if rec != nil {
		elements = ezid.Of(rec, base)
	}
	d.story = story{
		Who:   answer(of.Metadata, elements, "creator", "erc.who", "dc.creator", "datacite.creator"),
		What:  answer(of.Metadata, elements, "title", "erc.what", "dc.title", "datacite.title"),
		When:  answer(of.Metadata, elements, "date", "erc.when", "dc.date", "datacite.publicationyear"),
		Where: base + "/" + d.id,
	}
	d.more = map[string]string{}
	for field, values := range of.Metadata {
		if field != "creator" && field != "title" && field != "date" {
			d.more[field] = strings.Join(values, "; ")
		}
	}
	d.support = promise(base, rec, a)
	return d
}

// answer returns the metadata in a field of the record. If the field is empty, it returns the value
// of the first of the elements that has a value. This may be a code such as "(:tba)".
func answer(m nomen.Metadata, e ezid.Elements, field string, elements ...string) string {
	if len(m[field]) > 0 {
		return strings.Join(m[field], "; ")
	}
	for _, label := range elements {
		if e[label] != "" {
			return e[label]
		}
	}
	return unavailable
}

// Types of values in which a record has a promise about its name. EZID clients set the elements
// whose type begins with supportType. arklet clients set the value with the type arkletCommitment.
const (
	supportType      = "erc-support."
	arkletCommitment = "arklet:commitment"
)

// promise returns the promise about a name, from the record or otherwise from the authority.
func promise(base string, rec *store.Record, a *store.Authority) *story {
	var s story
	if a != nil {
		s = ofAuthority(a)
		s.What, s.Where = a.Commitment, base+"/"+a.Prefix.String()+string(dialect.Info)
	}
	if own := ownPromise(rec); own.What != "" {
		s.What, s.When = own.What, cmp.Or(own.When, day(rec.Modified))
		s.Who, s.Where = cmp.Or(own.Who, s.Who), cmp.Or(own.Where, s.Where)
	}
	if s.What == "" {
		s.When = ""
	}
	for _, label := range labels() {
		text := s.field(label)
		*text = cmp.Or(*text, unavailable)
	}
	return &s
}

func ownPromise(rec *store.Record) (s story) {
	if rec == nil {
		return s
	}
	for i := range rec.Values {
		v := &rec.Values[i]
		label, ok := strings.CutPrefix(strings.TrimPrefix(v.Type, "ezid:"), supportType)
		if v.Type == arkletCommitment {
			label, ok = "what", true
		}
		if text := s.field(label); ok && text != nil && v.Public() && v.Format == nomen.FormatText {
			*text = v.Data
		}
	}
	return s
}

func describeAuthority(base string, a *store.Authority) *description {
	d := &description{id: a.Prefix.String(), status: nomen.Active, modified: a.Modified, story: ofAuthority(a)}
	d.story.Where = base + "/" + d.id
	for _, label := range labels() {
		text := d.story.field(label)
		*text = cmp.Or(*text, unavailable)
	}
	d.support = promise(base, nil, a)
	return d
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// text returns the description as an ERC.
func (d *description) text() []byte {
	b := appendStory([]byte("erc:\n"), &d.story)
	for _, label := range slices.Sorted(maps.Keys(d.more)) {
		b = anvl.AppendElement(b, label, d.more[label])
	}
	if d.status == nomen.Retired {
		b = anvl.AppendElement(b, "status", strings.TrimSuffix("retired: "+d.reason, ": "))
	}
	if d.support != nil {
		b = appendStory(append(b, "erc-support:\n"...), d.support)
	}
	return b
}

func appendStory(b []byte, s *story) []byte {
	for _, label := range labels() {
		b = anvl.AppendElement(b, label, *s.field(label))
	}
	return b
}

func (d *description) object() map[string]any {
	story := maps.Clone(d.more)
	if story == nil {
		story = map[string]string{}
	}
	all := map[string]any{"id": d.id, "status": string(d.status), "erc": fill(story, &d.story)}
	if d.support != nil {
		all["erc-support"] = fill(map[string]string{}, d.support)
	}
	if d.reason != "" {
		all["reason"] = d.reason
	}
	if !d.modified.IsZero() {
		all["modified"] = d.modified.UTC().Format(time.RFC3339)
	}
	return all
}

func fill(object map[string]string, s *story) map[string]string {
	for _, label := range labels() {
		object[label] = *s.field(label)
	}
	return object
}
