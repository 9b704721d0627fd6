package uri

import (
	"iter"
	"slices"
	"strings"
)

// Params are the parameters of a query, separated by ampersands, in their order. It is an
// immutable value; methods that change something return a new value. Parameters that a method
// does not change keep their spelling byte for byte. Methods also keep empty parameters, such as
// the one between the ampersands of "a=1&&b".
//
// A parameter without an equals sign has an empty value. The zero Params has no parameters,
// which is an undefined query.
type Params struct {
	list []string // raw parameters; nil for an undefined query
	form bool     // "+" is a space
}

// Params returns the parameters of the query of u, in which a plus sign is a plus sign.
func (u URI) Params() Params { return u.params(false) }

// FormParams returns the parameters of the query of u in the format of HTML forms,
// application/x-www-form-urlencoded (URL Standard, 5), in which a plus sign is a space.
func (u URI) FormParams() Params { return u.params(true) }

func (u URI) params(form bool) Params {
	query, ok := u.Query()
	if !ok {
		return Params{form: form}
	}
	return Params{strings.Split(query, "&"), form}
}

// WithParams returns u with p as its query. If p has no parameters, the result has no query.
func (u URI) WithParams(p Params) (URI, error) {
	query, ok := p.Query()
	if !ok {
		return u.Without(ComponentQuery)
	}
	return u.With(ComponentQuery, query)
}

// Query returns the raw query. It reports false if p has no parameters.
func (p Params) Query() (string, bool) { return strings.Join(p.list, "&"), p.list != nil }

// All returns the names and values of all parameters that are not empty, decoded.
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

// Get returns the value of the first parameter with a name, and whether there is one.
func (p Params) Get(name Data) (Data, bool) {
	for n, value := range p.All() {
		if n == name {
			return value, true
		}
	}
	return "", false
}

// GetAll returns the values of all parameters with a name, in order.
func (p Params) GetAll(name Data) []Data {
	var all []Data
	for n, value := range p.All() {
		if n == name {
			all = append(all, value)
		}
	}
	return all
}

// Set returns p with exactly one parameter of a name. The new parameter replaces the first one with
// this name. If no parameter has this name, Set adds it at the end. Other parameters with this name
// are removed. If the first one already has the value, it keeps its spelling.
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

// Add returns p with another parameter at the end.
func (p Params) Add(name, value Data) Params {
	list := p.list
	if len(list) == 1 && list[0] == "" { // an empty query
		list = nil
	}
	p.list = append(slices.Clip(list), p.encode(name, value))
	return p
}

// Remove returns p without the parameters with a name. If no parameters remain, the query is
// undefined.
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

// Sort returns p sorted by the octets of the decoded names. Parameters with the same
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

// has reports whether a raw parameter has a name.
func (p Params) has(raw string, name Data) bool {
	if raw == "" {
		return false
	}
	raw, _, _ = strings.Cut(raw, "=")
	return p.decode(raw) == name
}

// decode decodes a name or a value of a valid query. In the dialect of 1993 a query can have a
// percent sign that is not an escape; such a text is not decoded.
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

// encode returns the raw text of a parameter with a name and a value.
func (p Params) encode(name, value Data) string {
	s := EscapeQueryPart(string(name)) + "=" + EscapeQueryPart(string(value))
	if p.form {
		s = strings.ReplaceAll(s, "%20", "+")
	}
	return s
}
