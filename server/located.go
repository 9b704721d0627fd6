package server

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

const maxLocated = 100

// mayBeLocation reports whether the subject of a THTTP request may be the URL of a location. The
// service must be defined for locations, and the subject must not be a URN.
func (a parsedTarget) mayBeLocation(s nomen.Service) bool {
	if a.form != formTHTTP || !a.subject.IsValid() {
		return false
	}
	switch s {
	case nomen.I2N, nomen.I2Ns, nomen.I2C, nomen.I2Cs, nomen.I2Ls:
		scheme, _ := a.subject.Scheme()
		return !strings.EqualFold(scheme, "urn")
	}
	return false
}

func isNoName(err error) bool {
	return errors.Is(err, &nomen.Error{Kind: nomen.Unknown}) || errors.Is(err, &nomen.Error{Kind: nomen.Malformed})
}

// located answers a THTTP request about a location. The service is L2Ns, L2Ls or L2C of RFC 2169,
// or a service of RFC 2483 for a URI that is not a name here. The resolver is asked about each name
// with this location, so that the response reveals only what any client can find out.
func (s *Server) located(ctx context.Context, r *request, a parsedTarget, service nomen.Service) *reply {
	url := a.subject.String()
	spellings := spellingsOf(a.subject)
	names, err := s.namesAt(ctx, spellings)
	if err != nil {
		return s.problem(ctx, r, a, err)
	}
	leadsThere := func(l nomen.Location) bool { return slices.Contains(spellings, l.URL) }
	ans := &nomen.Answer{Service: service}
	for _, n := range names {
		a.name = n
		known, err := s.resolver.Resolve(ctx, a.questionFor(r, nomen.I2C))
		var none *nomen.Error
		switch {
		case errors.As(err, &none):
			continue
		case err != nil:
			return s.failure(r, err)
		case known.Status == nomen.Active && slices.ContainsFunc(known.Locations, leadsThere):
			gather(ans, known)
		}
	}
	if ans.Narrow(service); len(ans.Names) == 0 && !service.List() {
		return s.problem(ctx, r, a, &nomen.Error{Kind: nomen.Unknown, Name: url, Service: service, Message: "no name with this location"})
	}
	if service != nomen.I2C {
		ans.Name, ans.Spelling = name.Name{}, url
	}
	a.name = ans.Name
	return s.describedIn(r, a, ans, aboutURL(s.onPage(ctx, r, a, ans, offersFor(service)), ans))
}

// aboutURL changes the formats so that a list or a linkset contains the requested URL, just as a
// list about a name contains the name (RFC 2483, 5; RFC 9264, 4). It removes the formats of
// linksets if the URL cannot be the context of a link.
func aboutURL(offers []format.Format, about *nomen.Answer) []format.Format {
	if !about.Name.IsZero() {
		return offers
	}
	context, err := name.Parse(about.Spelling)
	var all []format.Format
	for _, f := range offers {
		write := f.Write
		switch f.MediaType {
		case format.TypeURIList:
			f.Write = func(w io.Writer, ans *nomen.Answer) error {
				if _, err := io.WriteString(w, "# "+about.Spelling+"\r\n"); err != nil {
					return err
				}
				return write(w, ans)
			}
		case format.TypeLinkset, format.TypeLinksetJSON:
			if err != nil {
				continue
			}
			f.Write = func(w io.Writer, ans *nomen.Answer) error {
				of := *ans
				of.Name = context
				return write(w, &of)
			}
		}
		all = append(all, f)
	}
	return all
}

// gather merges an answer about a name (ofName) into the answer about a location of this name
// (ans). The description in ans remains the description of the first name.
func gather(ans, ofName *nomen.Answer) {
	if len(ans.Names) == 0 {
		service := ans.Service
		names := ofName.Names
		*ans = *ofName
		ans.Service, ans.Names = service, []string{ofName.Name.Key()}
		ans.Names = append(ans.Names, names...)
		return
	}
	for _, l := range ofName.Locations {
		if !slices.ContainsFunc(ans.Locations, func(have nomen.Location) bool { return have.URL == l.URL }) {
			ans.Locations = append(ans.Locations, l)
		}
	}
	for _, n := range append([]string{ofName.Name.Key()}, ofName.Names...) {
		if !slices.Contains(ans.Names, n) {
			ans.Names = append(ans.Names, n)
		}
	}
	ans.Modified, ans.Changed = later(ans.Modified, ofName.Modified), later(ans.Changed, ofName.Changed)
	ans.Private = ans.Private || ofName.Private
}

// spellingsOf returns the spellings in which a location may be registered: the spelling in the
// request, and the normal form (RFC 3986, 6.2.2 and 6.2.3).
func spellingsOf(u uri.URI) []string {
	all := []string{u.String()}
	if normal := u.Normalize(uri.LevelScheme, extra.Catalogue().Rules()...).String(); normal != all[0] {
		all = append(all, normal)
	}
	return all
}

func (s *Server) namesAt(ctx context.Context, spellings []string) ([]name.Name, error) {
	if _, ok := s.store.(store.Finder); !ok {
		return nil, &nomen.Error{Kind: nomen.NoResult, Name: spellings[0], Message: "lookup by location is not supported by this store"}
	}
	var names []name.Name
	for _, url := range spellings {
		for place, err := range store.Find(ctx, s.store, url, store.Place{}) {
			if err != nil {
				return nil, err
			}
			if place.URL != url || len(names) == maxLocated {
				break
			}
			if !slices.Contains(names, place.Name) {
				names = append(names, place.Name)
			}
		}
	}
	return names, nil
}
