package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/validator"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// reservedRequest answers urn+m, urn+a, urn+c and urn+p, in exactly this spelling. Every other
// element that begins with urn+ is an error (draft of 1995, 3.5 and 2.3).
func (s *Server) reservedRequest(ctx context.Context, r *request, a parsedTarget, set *store.AuthoritySet) *reply {
	if n, ok := a.requestElsewhere(set, r.host); ok {
		if p := s.passedRequest(ctx, r, a, set, n); p != nil {
			return p
		}
	}
	ans, err := s.requestAnswer(ctx, r, a, set)
	switch {
	case err != nil:
		return s.problem(ctx, r, a, err)
	case ans.Service == nomen.I2Ns:
		return s.authorityAnswer(r, a, set, ans)
	}
	return s.reservedAnswer(r, a, ans)
}

func (s *Server) requestAnswer(ctx context.Context, r *request, a parsedTarget, set *store.AuthoritySet) (*nomen.Answer, error) {
	switch {
	case !isRequest(a.reserved):
		return nil, &nomen.Error{
			Kind: nomen.Unknown, Name: a.reserved,
			Message: "unknown request: elements that begin with urn+ are reserved; supported are urn+m, urn+a, urn+c and urn+p",
		}
	case a.reserved == "urn+m":
		return s.metainformation(r, a), nil
	case a.authority == nil:
		return nil, &nomen.Error{Kind: nomen.Unknown, Name: a.reserved, Message: "no naming authority at this host"}
	}
	switch a.reserved {
	case "urn+a":
		return s.all(ctx, r, a, set)
	case "urn+c":
		return &nomen.Answer{Service: nomen.I2Ns, Names: a.authority.Children}, nil
	}
	return &nomen.Answer{Service: nomen.I2Ns, Names: a.authority.Parents}, nil
}

// metainformation returns the description of this resolver (draft of 1995, 3.5.1: Y95-55).
func (s *Server) metainformation(r *request, a parsedTarget) *nomen.Answer {
	about := &nomen.Location{Rel: "describedby"}
	var note []string
	if auth := a.authority; auth != nil {
		switch {
		case location.IsLink(auth.Contact):
			about.URL = auth.Contact
		case auth.Contact != "": // not a URI, because an earlier version accepted any text
			note = append(note, "Contact: "+auth.Contact)
		}
		if auth.Description != "" {
			note = append(note, auth.Description)
		}
		note = append(note, fmt.Sprintf("This is the resolver of the naming authority %s.", auth.Prefix))
		if len(auth.Owners) > 0 {
			note = append(note, "Its owners are "+strings.Join(auth.Owners, ", ")+".")
		}
		note = append(note, offered(auth)...)
	}
	if about.URL == "" {
		about.URL = s.base(r) + "/"
	}
	about.Note = strings.Join(append(note, "Software: nomen "+s.version+"."), "\n")
	return &nomen.Answer{Service: nomen.I2Ls, Locations: []nomen.Location{*about}}
}

// offered describes which services, directives and components an authority offers. The result is
// empty if it offers all of them (draft of 2012: N12-33, N12-35 and N12-37).
func offered(a *store.Authority) []string {
	var note []string
	if len(a.Services) > 0 {
		var names []string
		for _, s := range a.Services {
			names = append(names, string(s))
		}
		note = append(note, "Services: "+strings.Join(names, ", ")+".")
	}
	for _, keyword := range slices.Sorted(maps.Keys(a.Keywords)) {
		line := "Directive " + keyword + ": any value."
		if values := a.Keywords[keyword]; len(values) > 0 {
			line = "Directive " + keyword + ": " + strings.Join(values, ", ") + "."
		}
		note = append(note, line)
	}
	for _, r := range slices.Sorted(maps.Keys(a.RComponent)) {
		note = append(note, "The r-component "+r+" means "+a.RComponent[r]+".")
	}
	if a.Fragment {
		note = append(note, "Fragments are allowed.")
	}
	return note
}

// all returns the answer to urn+a: a link to the list of all ElementIDs (draft of 1995, 3.5.2:
// Y95-56).
func (s *Server) all(ctx context.Context, r *request, a parsedTarget, set *store.AuthoritySet) (*nomen.Answer, error) {
	if !a.authority.List {
		return nil, &nomen.Error{Kind: nomen.NoResult, Name: a.reserved, Message: "this naming authority does not list its names"}
	}
	size, err := s.sizes.of(ctx, s, set, a.authority)
	if err != nil {
		return nil, err
	}
	return &nomen.Answer{Service: nomen.I2Ls, Locations: []nomen.Location{{
		URL: s.base(r) + listPath + a.authority.Prefix.String(), Type: format.TypeText, Note: size.remark(),
	}}}, nil
}

// reservedAnswer sends the answer to a reserved request. It chooses the format by Accept, as for
// other requests (draft of 1995: Y95-54). Without Accept, it chooses the default format of
// descriptions.
func (s *Server) reservedAnswer(r *request, a parsedTarget, ans *nomen.Answer) *reply {
	return s.reservedIn(r, a, ans, format.Formats())
}

// authorityAnswer sends a list of naming authorities. The default format has one authority per line
// (draft of 1995, 3.5.3 and 3.5.4: Y95-58, Y95-59). Accept can select another format.
func (s *Server) authorityAnswer(r *request, a parsedTarget, set *store.AuthoritySet, ans *nomen.Answer) *reply {
	lines := format.Format{Name: "list", MediaType: format.TypeText, Charset: "utf-8", Write: func(w io.Writer, _ *nomen.Answer) error {
		return format.WriteList(w, format.Each(ans.Names...))
	}}
	offers := []format.Format{lines}
	for _, f := range format.Formats() {
		switch write := f.Write; f.MediaType {
		case format.TypeText:
			continue
		case format.TypeURIList: // as lines, except that hosts become URNs
			f.Write = func(w io.Writer, _ *nomen.Answer) error {
				named := *ans
				named.Names = nil
				for _, s := range ans.Names {
					named.Names = append(named.Names, authorityURN(s))
				}
				return write(w, &named)
			}
		case format.TypeJSONLD, format.TypeTurtle: // these would describe items as files of the subject
			f.Write = func(w io.Writer, linked *nomen.Answer) error {
				related := *linked
				related.Locations = slices.Clone(linked.Locations)
				for i := range related.Locations {
					related.Locations[i].Rel = "related"
				}
				return write(w, &related)
			}
		}
		offers = append(offers, f)
	}
	return s.reservedIn(r, a, authorityLinks(s.base(r), a.reserved, set, ans), offers)
}

// authorityURN returns the URN of a naming authority. A response in the protocol of 1995 may
// contain only the host of the authority.
func authorityURN(s string) string {
	if _, err := uri.Parse(s); err != nil && validHost(s) {
		return "urn:dns:" + s
	}
	return s
}

// authorityLinks converts a list of naming authorities to links to their descriptions (urn+m). If
// an authority with a host is not served here, its description is at that host (draft of 1995,
// 3.2). All other authorities have no link.
func authorityLinks(base, request string, set *store.AuthoritySet, ans *nomen.Answer) *nomen.Answer {
	linked := *ans
	linked.Names, linked.Locations, linked.Service = nil, nil, nomen.I2Ls
	rel := "item"
	if request == "urn+p" {
		rel = "up"
	}
	for _, s := range ans.Names {
		l := nomen.Location{URL: s, Rel: rel, Note: s}
		prefix := authorityURN(s)
		host, ofHost := strings.CutPrefix(strings.ToLower(prefix), "urn:dns:")
		if a := authorityWithPrefix(set, prefix); a != nil {
			l.URL = base + format.NamePath(a.Prefix.Spell("urn+m"))
		} else if ofHost && validHost(host) && !strings.Contains(host, ":") {
			l.URL = "http://" + host + ":" + strconv.Itoa(defaultPort) + "/urn+m"
		}
		linked.Locations = append(linked.Locations, l)
	}
	return &linked
}

func (s *Server) reservedIn(r *request, a parsedTarget, ans *nomen.Answer, offers []format.Format) *reply {
	for i, f := range offers {
		if f.MediaType == format.TypeHTML {
			offers[i] = f.On(s.bare(r))
		}
	}
	return s.inFormat(r, ans, offers, func(p *reply) {
		p.add("Vary", "Accept")
		p.add("Cache-Control", "no-cache")
		if a.authority != nil && a.reserved != "urn+a" {
			p.add("Last-Modified", validator.LastModified(a.authority.Modified, s.now()))
		}
	})
}

// patience is the number of unlisted records that elements skips before it checks the time.
const patience = 1000

var errTooFar = errors.New("server: too many unlisted records between two names of a list")

// elements yields the ElementIDs of the public names of an authority. It ends with an error if it
// does not find the next ElementID within Limits.Timeout.
func (s *Server) elements(ctx context.Context, set *store.AuthoritySet, a *store.Authority) func(func(string, error) bool) {
	return func(yield func(string, error) bool) {
		unlisted, since := 0, time.Time{}
		for at, err := range gateway.Walk(ctx, s.store, set, a, "") {
			if err == nil && !at.Listed {
				if unlisted++; unlisted%patience > 0 {
					continue
				}
				if unlisted == patience {
					since = s.now()
				}
				if s.now().Sub(since) <= s.limits.Timeout {
					continue
				}
				err = errTooFar
			}
			if err != nil {
				yield("", err)
				return
			}
			if unlisted = 0; !yield(a.Prefix.Element(at.Record.Name), nil) {
				return
			}
		}
	}
}

func authorityWithPrefix(set *store.AuthoritySet, prefix string) *store.Authority {
	p, err := name.ParsePrefix(prefix)
	if err != nil {
		return nil
	}
	for _, a := range set.All() {
		if a.Prefix == p {
			return a
		}
	}
	return nil
}
