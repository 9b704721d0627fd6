package uri

import (
	"iter"
	"slices"
	"strings"
)

// Params are the parameters of a query, such as "a=1&b=2", in order. Params is an immutable value,
// so methods such as [Params.Set] return a changed copy. These methods preserve the spelling of the
// parameters that they do not change. They also preserve empty parameters, such as the one in the
// middle of "a=1&&b".
//
// A parameter without an equals sign has an empty value. The zero Params has no parameters and
// represents an absent query.
type Params struct {
	list []string // raw parameters; nil if there is no query
	form bool     // "+" means a space
}

// Params returns the parameters of the query of u. It does not decode a plus sign as a space; see
// [URI.FormParams].
func (u URI) Params() Params { return u.params(false) }

// FormParams returns the parameters of a query that an HTML form has submitted
// (application/x-www-form-urlencoded; URL Standard, section 5). It decodes a plus sign as a space.
func (u URI) FormParams() Params { return u.params(true) }

func (u URI) params(form bool) Params {
	query, ok := u.Query()
	if !ok {
		return Params{form: form}
	}
	return Params{strings.Split(query, "&"), form}
}

// WithParams returns a copy of u whose query is p. If p has no parameters, the copy has no query.
func (u URI) WithParams(p Params) (URI, error) {
	query, ok := p.Query()
	if !ok {
		return u.Without(ComponentQuery)
	}
	return u.With(ComponentQuery, query)
}

// Query returns the query that p represents, with its escapes. It returns false if p has no
// parameters.
func (p Params) Query() (string, bool) { return strings.Join(p.list, "&"), p.list != nil }

// All returns an iterator over the decoded names and values. It skips empty parameters.
func (p Params) All() iter.Seq2[Data, Data] {
	return func(yield func(name, value Data) bool) {
		for _, raw := range p.list {
			if raw == "" {
				continue
			}
			name, value, _ := strings.Cut(raw, "=")
			if !yield(p.decode(name), p.decode(value)) {
				return
			}
		}
	}
}

// Get returns the decoded value of the first parameter called name, and whether there is such a
// parameter.
func (p Params) Get(name Data) (Data, bool) {
	for n, value := range p.All() {
		if n == name {
			return value, true
		}
	}
	return "", false
}

// GetAll returns the decoded values of all parameters called name, in order.
func (p Params) GetAll(name Data) []Data {
	var all []Data
	for n, value := range p.All() {
		if n == name {
			all = append(all, value)
		}
	}
	return all
}

// Set returns a copy of p in which value is the only value of name. It replaces the first parameter
// called name and removes the others. If p has no such parameter, Set adds one at the end. If the
// first parameter called name already has the value, its spelling does not change.
func (p Params) Set(name, value Data) Params {
	found := false
	list := make([]string, 0, len(p.list)+1)
	for _, raw := range p.list {
		switch {
		case !p.has(raw, name):
			list = append(list, raw)
		case !found:
			found = true
			if _, old, _ := strings.Cut(raw, "="); p.decode(old) != value {
				raw = p.encode(name, value)
			}
			list = append(list, raw)
		}
	}
	if p.list = list; found {
		return p
	}
	return p.Add(name, value)
}

// Add returns a copy of p with a parameter added at the end.
func (p Params) Add(name, value Data) Params {
	list := p.list
	if len(list) == 1 && list[0] == "" { // an empty query
		list = nil
	}
	p.list = append(slices.Clip(list), p.encode(name, value))
	return p
}

// Remove returns a copy of p without the parameters called name. If no parameters remain, the copy
// represents an absent query.
func (p Params) Remove(name Data) Params {
	var list []string
	for _, raw := range p.list {
		if !p.has(raw, name) {
			list = append(list, raw)
		}
	}
	p.list = list
	return p
}

// Sort returns a copy of p, sorted by the octets of the decoded names. Parameters with the same
// name keep their order.
func (p Params) Sort() Params {
	p.list = slices.Clone(p.list)
	name := func(raw string) Data {
		raw, _, _ = strings.Cut(raw, "=")
		return p.decode(raw)
	}
	slices.SortStableFunc(p.list, func(a, b string) int { return strings.Compare(string(name(a)), string(name(b))) })
	return p
}

func (p Params) has(raw string, name Data) bool {
	if raw == "" {
		return false
	}
	raw, _, _ = strings.Cut(raw, "=")
	return p.decode(raw) == name
}

// decode decodes a name or a value of a valid query. In the draft of 1993 the query can contain a
// percent sign that is not part of an escape; decode returns such a text unchanged.
func (p Params) decode(raw string) Data {
	if p.form {
		raw = strings.ReplaceAll(raw, "+", " ")
	}
	data, err := Decode(raw)
	if err != nil {
		return Data(raw)
	}
	return data
}

func (p Params) encode(name, value Data) string {
	s := EscapeQueryPart(string(name)) + "=" + EscapeQueryPart(string(value))
	if p.form {
		s = strings.ReplaceAll(s, "%20", "+")
	}
	return s
}
