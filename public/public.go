// Package public has naming authorities for well-known identifiers that other organisations assign.
// The rules of these authorities return locations at the resolvers of the organisations. For
// example, a rule redirects DOIs to https://doi.org. The authorities have no effect until an
// operator loads them into a store. The operator can then change them, and can load newer versions.
//
// [Namespaces] returns authorities for public URN namespaces and schemes of persistent names. If
// parts of a namespace have different resolvers, each part has an authority. [Registry.Prefixes]
// returns authorities for the compact identifiers of two registries in the life sciences. The names
// of these authorities begin with a URL that the operator chooses. All rules have tests.
//
// The tables of prefixes have a line for each prefix. The columns are separated by tabs. They are
// the prefix, the name, the pattern, an example, and "deprecated" or nothing. Each remaining column
// has the rank, country and URL of a provider. In a URL, "$" is replaced by the identifier.
package public

//go:generate go run ./gen ../testdata/corpus/whole/prefixes

import (
	"bytes"
	_ "embed" // for the tables
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

//go:embed namespaces.jsonl
var namespaces []byte

// Namespaces returns the authorities of public namespaces, sorted by prefix. The caller may modify
// them.
func Namespaces() ([]*store.Authority, error) {
	var all []*store.Authority
	d := json.NewDecoder(bytes.NewReader(namespaces))
	d.DisallowUnknownFields()
	for {
		a := new(store.Authority)
		switch err := d.Decode(a); err {
		case nil:
			all = append(all, a)
		case io.EOF:
			return all, nil
		default:
			return nil, fmt.Errorf("public: authority %d: %w", len(all)+1, err)
		}
	}
}

// A Registry is a registry of prefixes for compact identifiers.
type Registry struct {
	Name  string // the name of the registry
	Home  string // URL of the registry, and the default base of names
	Terms string // the licence and the required attribution
	table string
}

//go:embed bioregistry.tsv
var bioregistry string

//go:embed identifiers.tsv
var identifiers string

func Registries() []Registry {
	return []Registry{
		{"bioregistry", "https://bioregistry.io", "CC0", bioregistry},
		{"identifiers.org", "https://identifiers.org", "CC BY 4.0, identifiers.org, EMBL-EBI", identifiers},
	}
}

// A Prefix is a prefix in a registry, with the authority for its names.
type Prefix struct {
	Authority *store.Authority
	Example   name.Name // zero if the registry has no example
}

// Prefixes returns an iterator over the prefixes of a registry. The names of their authorities
// begin with base, which must be an http or https URL without a query. For example, if base is
// https://identifiers.org, the authority of PREFIX has the names
// https://identifiers.org/PREFIX:IDENTIFIER. An empty base means r.Home.
//
// If the registry has no location for a prefix, the authority of the prefix has no rules.
func (r Registry) Prefixes(base string) iter.Seq2[*Prefix, error] {
	if base == "" {
		base = r.Home
	}
	return func(yield func(*Prefix, error) bool) {
		if strings.ContainsAny(base, "?#") || !strings.HasPrefix(base, "https://") && !strings.HasPrefix(base, "http://") {
			yield(nil, fmt.Errorf("public: invalid base %q: must be an http or https URL without query and fragment", base))
			return
		}
		for line := range strings.Lines(r.table) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			p, err := r.prefix(strings.TrimRight(base, "/"), strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
			if !yield(p, err) {
				return
			}
		}
	}
}

func (r Registry) prefix(base string, columns []string) (*Prefix, error) {
	id, title, pattern, example, places := columns[0], columns[1], columns[2], columns[3], columns[5:]
	at, err := name.ParsePrefix(base + "/" + id)
	if err != nil {
		return nil, fmt.Errorf("public: %w", err)
	}
	a := &store.Authority{Prefix: at, Description: title + " (" + r.Name + ")"}
	if columns[4] != "" {
		a.Description += ", " + columns[4]
	}
	p := &Prefix{Authority: a}
	if example != "" {
		if p.Example, err = name.Parse(at.String() + ":" + uri.EscapePath(example)); err != nil {
			return nil, fmt.Errorf("public: %s: %w", id, err)
		}
	}
	if len(places) == 0 {
		return p, nil
	}
	one, err := newRule(pattern, example, places)
	if err != nil {
		return nil, fmt.Errorf("public: %s: %w", id, err)
	}
	a.Rules, err = tested(at, one, example, places)
	if err != nil {
		return nil, fmt.Errorf("public: %s: %w", id, err)
	}
	return p, nil
}
