// Package public contains ready-made naming authorities for well-known identifiers that other
// organizations assign. The rules of each authority lead to the resolvers of registries and
// libraries. An operator can load these authorities, change them, and load them again.
//
// [Namespaces] are the public URN namespaces and the schemes of persistent names, with one
// authority for each part that has its own resolver. [Registry.Prefixes] are the compact
// identifiers of two registries of the life sciences, under a web address of the operator's
// choice.
//
// Resolvers move, so every rule has tests. The rules have no effect until an operator loads
// them.
//
// The tables of prefixes have a line for each prefix, with columns separated by tabs: prefix,
// name, pattern, example, "deprecated" or nothing, and then the rank, country and URL of each
// provider. In the URL, "$" stands for the identifier.
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

// Namespaces returns the authorities of public namespaces in the order of their prefixes. The
// caller may change them.
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

// A Registry is a registry of prefixes.
type Registry struct {
	Name  string // the spelling that the registry uses for its name
	Home  string // address of the registry, and the base of its own names
	Terms string // the licence, and the required attribution
	table string
}

//go:embed bioregistry.tsv
var bioregistry string

//go:embed identifiers.tsv
var identifiers string

// Registries returns the registries of prefixes.
func Registries() []Registry {
	return []Registry{
		{"bioregistry", "https://bioregistry.io", "CC0", bioregistry},
		{"identifiers.org", "https://identifiers.org", "CC BY 4.0, identifiers.org, EMBL-EBI", identifiers},
	}
}

// A Prefix is a prefix of a registry, with its authority.
type Prefix struct {
	Authority *store.Authority
	Example   name.Name // zero if the registry has none
}

// Prefixes yields the prefixes of a registry as authorities for names below base, which must be
// an http or https URL without a query. For example, if base is https://identifiers.org, the
// authority of PREFIX has the names https://identifiers.org/PREFIX:IDENTIFIER. If base is "",
// Prefixes uses the registry's own base.
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

// prefix returns the prefix, with its authority, that the columns of a line describe.
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
