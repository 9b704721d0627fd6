package adminapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// A Difference is a change of one field, or of one value of a list.
type Difference struct {
	Field  string `json:"field"`            // such as "status", "locations", "metadata.title"
	Before string `json:"before,omitempty"` // "" if the value was added
	After  string `json:"after,omitempty"`  // "" if the value was removed
}

// InAnotherOrder is the value of [Difference.After] for a list whose values were only reordered.
const InAnotherOrder = "(in another order)"

// Differences returns the fields in which two records differ. A nil record means that the name did
// not exist. Two locations with the same URL and component are compared as one location whose other
// fields changed.
func Differences(before, after *store.Record) []Difference {
	var none store.Record
	if before == nil {
		before = &none
	}
	if after == nil {
		after = &none
	}
	var d differences
	if before != &none && after != &none {
		d.value("name", before.Spelling, after.Spelling)
	}
	d.value("status", string(before.Status), string(after.Status))
	d.value("reason", before.Reason, after.Reason)
	d.value("show_locations", whenTrue(before.ShowLocations), whenTrue(after.ShowLocations))
	d.locations(before.Locations, after.Locations)
	elements := maps.Clone(before.Metadata)
	if elements == nil {
		elements = nomen.Metadata{}
	}
	maps.Copy(elements, after.Metadata)
	for _, e := range slices.Sorted(maps.Keys(elements)) {
		d.list("metadata."+e, before.Metadata[e], after.Metadata[e])
	}
	d.list("same_as", before.SameAs, after.SameAs)
	d.list("successors", before.Successors, after.Successors)
	d.values(before.Values, after.Values)
	return d
}

func (d *differences) values(before, after []nomen.Value) {
	was, is := valueTexts(before), valueTexts(after)
	for _, index := range slices.Sorted(maps.Keys(union(was, is))) {
		d.value(fmt.Sprintf("values[%d]", index), was[index], is[index])
	}
}

func valueTexts(all []nomen.Value) map[int]string {
	texts := map[int]string{}
	for i := range all {
		b, err := json.Marshal(&all[i])
		if err != nil {
			panic("adminapi: " + err.Error()) // cannot happen: a value has only texts and a number
		}
		texts[all[i].Index] = string(b)
	}
	return texts
}

func whenTrue(b bool) string {
	if b {
		return "true"
	}
	return ""
}

// AuthorityDifferences is like [Differences] for authorities; nil means that the authority did not
// exist. Fields have their JSON names, and values other than strings are JSON.
func AuthorityDifferences(before, after *store.Authority) []Difference {
	return fieldDifferences(authorityFields(before), authorityFields(after))
}

// UserDifferences is like [Differences] for users; nil means that the user did not exist. Grants
// are lists of texts such as "editor of urn:nbn:se".
func UserDifferences(before, after *store.User) []Difference {
	return fieldDifferences(userFields(before), userFields(after))
}

func userFields(u *store.User) map[string]json.RawMessage {
	if u == nil {
		return fieldsOf(struct{}{})
	}
	grants := []string{}
	for _, g := range u.Grants {
		for _, p := range g.Prefixes {
			grants = append(grants, g.Role+" of "+p)
		}
		if len(g.Prefixes) == 0 {
			grants = append(grants, g.Role+" of all names")
		}
	}
	return fieldsOf(struct {
		Name     string   `json:"name,omitempty"`
		Mail     string   `json:"mail,omitempty"`
		Subjects []string `json:"subjects,omitempty"`
		Grants   []string `json:"grants,omitempty"`
		Disabled bool     `json:"disabled,omitempty"`
	}{u.Name, u.Mail, u.Subjects, grants, u.Disabled})
}

func fieldDifferences(was, is map[string]json.RawMessage) []Difference {
	var d differences
	for _, field := range slices.Sorted(maps.Keys(union(was, is))) {
		a, isListA := texts(was[field])
		b, isListB := texts(is[field])
		if isListA && isListB {
			d.list(field, a, b)
		} else {
			d.value(field, plain(was[field]), plain(is[field]))
		}
	}
	return d
}

func authorityFields(a *store.Authority) map[string]json.RawMessage {
	if a == nil {
		return fieldsOf(struct{}{})
	}
	content := *a
	content.Modified, content.Revision, content.Redacted = time.Time{}, 0, false
	fields := fieldsOf(content)
	delete(fields, "prefix")
	return fields
}

// fieldsOf returns the fields of v as JSON, by their names in JSON. The encoding of v must be an
// object.
func fieldsOf(v any) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &fields)
	}
	if err != nil {
		panic("adminapi: " + err.Error())
	}
	return fields
}

func union[K comparable, V any](a, b map[K]V) map[K]V {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// texts decodes a list of strings. If b is empty, texts returns an empty list.
func texts(b json.RawMessage) (list []string, ok bool) {
	return list, b == nil || json.Unmarshal(b, &list) == nil
}

// plain returns the decoded value of a JSON string, and the JSON of any other value.
func plain(b json.RawMessage) string {
	var s string
	if json.Unmarshal(b, &s) == nil {
		return s
	}
	return string(b)
}

type differences []Difference

func (d *differences) value(field, before, after string) {
	if before != after {
		*d = append(*d, Difference{field, before, after})
	}
}

// list records which values a list has lost and gained. If it has lost one value and gained one,
// list records a single changed value.
func (d *differences) list(field string, before, after []string) {
	removed, added := without(before, after), without(after, before)
	switch {
	case len(removed) == 1 && len(added) == 1:
		d.value(field, removed[0], added[0])
		return
	case len(removed)+len(added) == 0 && !slices.Equal(before, after):
		d.value(field, "", InAnotherOrder)
	}
	for _, s := range removed {
		d.value(field, s, "")
	}
	for _, s := range added {
		d.value(field, "", s)
	}
}

// without returns the values of a that are not in b. If a value occurs more often in a than in b,
// the result has the additional occurrences.
func without(a, b []string) []string {
	left := map[string]int{}
	for _, s := range b {
		left[s]++
	}
	var out []string
	for _, s := range a {
		if left[s]--; left[s] < 0 {
			out = append(out, s)
		}
	}
	return out
}

func (d *differences) locations(before, after []nomen.Location) {
	type id struct{ url, component string }
	there := map[id]nomen.Location{}
	for _, l := range before {
		there[id{l.URL, l.Component}] = l
	}
	var came differences
	for _, l := range after {
		key := id{l.URL, l.Component}
		old, ok := there[key]
		delete(there, key)
		switch {
		case !ok:
			came.value("locations", "", locationText(l))
		case old != l:
			came.value("locations", locationText(old), locationText(l))
		}
	}
	gone := len(there) > 0
	for _, l := range before {
		if key := (id{l.URL, l.Component}); there[key] == l {
			d.value("locations", locationText(l), "")
			delete(there, key)
		}
	}
	if !gone && len(came) == 0 && !slices.Equal(before, after) {
		came.value("locations", "", InAnotherOrder)
	}
	*d = append(*d, came...)
}

func locationText(l nomen.Location) string {
	var parts []string
	for _, p := range [...]struct{ label, value string }{
		{"", l.Type},
		{"", l.Lang},
		{"", l.Rel},
		{"", l.Country},
		{"component ", l.Component},
		{"charset ", l.Charset},
		{"from ", l.ValidFrom},
		{"until ", l.ValidUntil},
		{"note: ", l.Note},
	} {
		if p.value != "" {
			parts = append(parts, p.label+p.value)
		}
	}
	if l.Priority > 0 {
		parts = append(parts, fmt.Sprintf("priority %d", l.Priority))
	}
	if l.Weight > 0 {
		parts = append(parts, fmt.Sprintf("weight %d", l.Weight))
	}
	if l.Index > 0 {
		parts = append(parts, fmt.Sprintf("value %d", l.Index))
	}
	if l.Attributes != "" {
		parts = append(parts, l.Attributes)
	}
	if len(parts) == 0 {
		return l.URL
	}
	return l.URL + " (" + strings.Join(parts, ", ") + ")"
}
