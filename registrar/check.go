package registrar

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/urn"
)

func refuse(subject, field string, f fault) error {
	return &RefusalError{Name: subject, Field: field, Offset: f.offset, Rule: f.rule, Message: f.message, Err: f.err}
}

func refuseAt(subject, list string, i int, sub string, f fault) error {
	return refuse(subject, fmt.Sprintf("%s[%d]%s", list, i, sub), f)
}

func identify(rec *store.Record, set *store.AuthoritySet) (name.Name, *store.Authority, error) {
	n := rec.Name
	if rec.Spelling != "" {
		var err error
		if n, err = name.Parse(rec.Spelling); err != nil {
			return n, nil, refuse(rec.Spelling, "name", nameFault(rec.Spelling, err))
		}
	}
	if n.IsZero() {
		return n, nil, refuse("", "name", faultf(0, "name", "a record needs a name"))
	}
	a := set.Of(n)
	n = a.Fold(n)
	if !rec.Name.IsZero() && a.Fold(rec.Name) != n {
		return n, nil, refuse(rec.Spelling, "name", faultf(0, "name", "is not a spelling of %s", rec.Name.Key()))
	}
	return n, a, checkAssignable(n, a)
}

func checkAssignable(n name.Name, a *store.Authority) error {
	if location.Runs(n.Scheme()) {
		return refuse(n.Key(), "name", faultf(0, "scheme", "%s: makes a browser execute or display the content of the link itself", n.Scheme()))
	}
	element := ""
	if a != nil {
		element = a.Prefix.Element(n)
	}
	if rest, ok := strings.CutPrefix(n.Key(), "urn:dns:"); ok {
		_, element, _ = strings.Cut(rest, ":") // urn:dns:AuthorityID:ElementID (1995, 2.2)
	}
	if urn.IsRequest(element) {
		return refuse(n.Key(), "name", faultf(len(n.Key())-len(element), "ElementID",
			"elements that begin with %q are requests to a resolver and cannot be assigned", urn.ReservedPrefix))
	}
	return nil
}

func checkRecord(n name.Name, rec *store.Record, fields Fields) error {
	of := cmp.Or(rec.Spelling, n.Key())
	if fields.has(FieldStatus) && !validStatus(rec.Status) {
		return refuse(of, "status", faultf(0, "status", "%q must be reserved, active or retired", rec.Status))
	}
	if fields.has(FieldLocations) {
		for i := range rec.Locations {
			if field, f := checkLocation(&rec.Locations[i]); f.bad() {
				return refuseAt(of, "locations", i, "."+field, f)
			}
		}
	}
	if fields.has(FieldMetadata) {
		if err := checkMetadata(of, rec.Metadata); err != nil {
			return err
		}
	}
	if fields.has(FieldSameAs) {
		for i, s := range rec.SameAs {
			if f := checkSame(s); f.bad() {
				return refuseAt(of, "same_as", i, "", f)
			}
		}
	}
	if fields.has(FieldSuccessors) {
		if err := checkSuccessors(of, n, rec.Successors); err != nil {
			return err
		}
	}
	if fields.has(FieldValues) {
		if err := checkValues(of, rec.Values); err != nil {
			return err
		}
	}
	if f := checkText(rec.Reason, true); fields.has(FieldReason) && f.bad() {
		return refuse(of, "reason", f)
	}
	return nil
}

// validStatus reports whether a status is valid. The empty status, which leaves the status
// unchanged, is valid.
func validStatus(s nomen.Status) bool {
	switch s {
	case "", nomen.Reserved, nomen.Active, nomen.Retired:
		return true
	}
	return false
}

// isElement reports whether s is one of the fifteen metadata elements of RFC 5013.
func isElement(s string) bool {
	switch s {
	case "title", "creator", "subject", "description", "publisher", "contributor",
		"date", "type", "format", "identifier", "source", "language", "relation",
		"coverage", "rights":
		return true
	}
	return false
}

func checkMetadata(of string, m nomen.Metadata) error {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !isElement(key) {
			return refuse(of, "metadata."+key, faultf(0, "element", "is not an element of Dublin Core (RFC 5013)"))
		}
		for i, s := range m[key] {
			if f := checkFull(s, true); f.bad() {
				return refuseAt(of, "metadata."+key, i, "", f)
			}
		}
	}
	return nil
}

// checkSame checks a value of same_as: a URI, or a URN that follows the rules of its namespace.
func checkSame(s string) fault {
	u, f := parseURI(s)
	if f.bad() {
		f.message += meant(s, f.message)
		return f
	}
	if scheme, _ := u.Scheme(); strings.EqualFold(scheme, "urn") {
		if _, err := name.Parse(s); err != nil {
			return nameFault(s, err)
		}
	}
	return fault{}
}

func checkSuccessors(of string, self name.Name, successors []string) error {
	for i, s := range successors {
		n, err := name.Parse(s)
		switch {
		case err != nil:
			return refuseAt(of, "successors", i, "", nameFault(s, err))
		case location.Runs(n.Scheme()):
			_, f := parseURI(s)
			return refuseAt(of, "successors", i, "", f)
		case n == self:
			return refuseAt(of, "successors", i, "", faultf(0, "name", "a name cannot be its own successor"))
		}
	}
	return nil
}

// checkMerged makes the checks that need the existing record, which is nil for a new name. The
// parameter rec is the record after the request.
func (p *plan) checkMerged(rec, existing *store.Record, req *Request) error {
	of := cmp.Or(rec.Spelling, rec.Name.Key())
	if existing != nil && existing.Status == nomen.Retired && rec.Status == nomen.Active {
		if !p.actor.MayName(rec.Name, Owner) {
			denied := p.actor.Denied(Owner, rec.Name, of)
			denied.Why = "it is retired"
			return denied
		}
		if req.Expected == store.AnyRevision {
			return refuse(of, "status", faultf(0, "state",
				"the name is retired; to reactivate it, give the revision of its tombstone, %d, as the expected revision", existing.Revision))
		}
	}
	if err := checkReason(rec); err != nil {
		return err
	}
	if req.Add && req.Fields.has(FieldLocations) {
		for i := range rec.Locations {
			if field, f := checkInterval(&rec.Locations[i]); f.bad() {
				return refuseAt(of, "locations", i, "."+field, f)
			}
		}
	}
	return nil
}

func checkReason(rec *store.Record) error {
	of := cmp.Or(rec.Spelling, rec.Name.Key())
	switch {
	case rec.Status == nomen.Retired:
	case rec.ShowLocations:
		return refuse(of, "show_locations", faultf(0, "state", "allowed only for a retired name: the locations of other names are always shown"))
	case rec.Reason != "":
		return refuse(of, "reason", faultf(0, "state", "allowed only for a retired name"))
	}
	return nil
}
