// Package public holds what is known of the names that are not given out here:
// where the world's registries and libraries answer for them, as authorities with
// rules that an operator can load, change and load again.
//
// [Namespaces] are the public namespaces of URNs and the schemes of persistent
// names, one authority for each part that somebody else answers for. [Prefixes]
// are the compact identifiers of two registries of the life sciences, under a web
// address of the operator's choice.
//
// Where a location is right today it need not be so tomorrow: each rule carries
// tests, and none of it is used unless an operator loads it.
//
// The tables of prefixes have a line for each, with columns between tabs: prefix,
// name, pattern, example, "deprecated" or nothing, then for each provider its
// rank, country and URL, "$" standing for the identifier.
package public

//go:generate go run ./gen ../../shared/data/prefixes

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

// Namespaces returns the authorities of public namespaces in the order of their
// prefixes. They belong to the caller.
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

// A Registry is one of prefixes.
type Registry struct {
	Name  string // as it calls itself
	Home  string // and the base of its own names
	Terms string // of the licence, and who has to be named
	table string
}

//go:embed bioregistry.tsv
var bioregistry string

//go:embed identifiers.tsv
var identifiers string

// Registries returns the registries that [Prefixes] knows.
func Registries() []Registry {
	return []Registry{
		{"bioregistry", "https://bioregistry.io", "CC0", bioregistry},
		{"identifiers.org", "https://identifiers.org", "CC BY 4.0, identifiers.org, EMBL-EBI", identifiers},
	}
}

// A Prefix is one of a registry, made an authority.
type Prefix struct {
	Authority *store.Authority
	Example   name.Name // zero if the registry has none
}

// Prefixes yields the prefixes of a registry as authorities of names below base,
// an http or https URL without query: PREFIX of https://identifiers.org has the
// names https://identifiers.org/PREFIX:IDENTIFIER. "" is the registry's own base.
//
// A prefix for which the registry has no location is an authority without rules.
func (r Registry) Prefixes(base string) iter.Seq2[*Prefix, error] {
	if base == "" {
		base = r.Home
	}
	return func(yield func(*Prefix, error) bool) {
		if strings.ContainsAny(base, "?#") || !strings.HasPrefix(base, "https://") && !strings.HasPrefix(base, "http://") {
			yield(nil, fmt.Errorf("public: %q: want an http or https URL without query and fragment", base))
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

// prefix makes an authority of the columns of a line.
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
