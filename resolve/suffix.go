package resolve

import (
	"errors"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

const maxBeginnings = 32

// extended looks for records of shorter names with which the name begins. It returns the answer
// from the record with the longest of these names, or nil.
func (d *decision) extended() (*nomen.Answer, error) {
	left := maxBeginnings
	for p := range d.name.Prefixes {
		base := name.FromKey(p.String())
		if left == 0 || !d.authority.Prefix.Covers(base) {
			break
		}
		left--
		rec, err := d.records.Get(d.ctx, base, d.q.At)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if d.q.Explain {
			d.explain("the record of %s also covers names that begin with it", base)
		}
		if rec.Status != nomen.Active || rec.Redacted {
			return d.registered(rec)
		}
		return d.found(d.extend(rec, d.rest(base)))
	}
	if d.q.Explain {
		d.explain("no beginning of it has a record")
	}
	return nil, nil
}

// rest returns the part of the name after base. For an ARK, it returns this part in the spelling of
// the question. Hyphens and a slash at the end do not distinguish ARKs, but the location can depend
// on them.
func (d *decision) rest(base name.Name) string {
	rest := d.name.Key()[len(base.Key()):]
	spelling := d.q.Subject.String()
	if i := strings.IndexAny(spelling, "?#"); i >= 0 {
		spelling = spelling[:i]
	}
	if n, err := name.Parse(spelling); err != nil || n != d.name || n.Scheme() != "ark" {
		return rest
	}
	for i := len(base.Key()); i < len(spelling); i++ {
		if spelling[i] != '/' && spelling[i] != '.' {
			continue
		}
		if n, err := name.Parse(spelling[:i]); err == nil && n == base {
			return spelling[i:]
		}
	}
	return rest
}

func (d *decision) extend(rec *store.Record, tail string) *nomen.Answer {
	a := &nomen.Answer{
		Service: d.service, Name: d.name, Status: nomen.Active,
		MaxAge: d.maxAge(), Modified: rec.Modified, Revision: rec.Revision,
	}
	for _, l := range rec.PublicLocations() {
		longer, ok := behind(l.URL, tail)
		if !ok {
			if d.q.Explain {
				d.explain("left out: %[2]s cannot be appended to %[1]s safely", l.URL, tail)
			}
			continue
		}
		l.URL = longer
		a.Locations = append(a.Locations, l)
	}
	return a
}

// behind appends tail, which is the rest of a name and begins with a delimiter, to a location
// before its fragment. Two slashes become one. If the result would be outside the registered
// location, behind returns false.
func behind(loc, tail string) (string, bool) {
	u, err := uri.Parse(loc)
	if err != nil {
		return "", false
	}
	authority, hasAuthority := u.Authority()
	_, hasQuery := u.Query()
	head, fragment, hasFragment := strings.Cut(loc, "#")
	switch path := u.Path(); {
	case !hasAuthority && !isURN(loc): // for schemes such as mailto and tel, a longer address could belong to another person
		return "", false
	case hasQuery:
	case path == "":
		head += "/"
		tail = strings.TrimPrefix(tail, "/")
	case strings.HasSuffix(path, "/"):
		tail = strings.TrimPrefix(tail, "/")
	}
	longer := head + tail
	if hasFragment {
		longer += "#" + fragment
	}
	v, err := uri.Parse(longer)
	if err != nil {
		return "", false
	}
	same, _ := v.Authority()
	return longer, location.CheckURI(v) == nil && same == authority && (hasQuery || !rule.Climbs(v.Path()))
}

func isURN(s string) bool {
	scheme, _, _ := strings.Cut(s, ":")
	return strings.EqualFold(scheme, "urn")
}
