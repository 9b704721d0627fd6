package server

import (
	"context"
	"fmt"
	"html"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// unfit are URIs that a resolver must not send a client to.
var unfit = []string{
	"ms-msdt:/id%20PCWDiagnostic", "search-ms:query=x", "file:///etc/passwd", "vscode://file/x", "ssh://-oProxyCommand=x/", "intent://x",
	"javascript:alert(1)", "data:text/html,x", "telnet://-oX/", "sftp://%2DoX/", "https://u:p@h.example/",
	"ftp://h.example/a%0D%0ADELE%20b", "gopher://h.example/0a%0D%0Ab", "https://h.example:65536/", "http://h.example:99999999999999999999/", "https:x",
}

// TestLocationsIn tries to store invalid locations through every interface.
func TestLocationsIn(t *testing.T) {
	const good = "https://example.org/1"
	of := func(url string) *store.Record {
		return &store.Record{Spelling: "urn:example:n", Status: nomen.Active, Locations: []nomen.Location{{URL: url}}}
	}
	put := func(t *testing.T, r *registrar.Registrar, rec *store.Record) error {
		_, err := r.Put(t.Context(), registrar.Operator(), registrar.Request{Record: rec, Expected: store.AnyRevision}, "")
		return err
	}
	imported := func(f bulk.Format, text string) func(*testing.T, *registrar.Registrar, string) error {
		return func(t *testing.T, r *registrar.Registrar, url string) error {
			sum, err := bulk.Import(t.Context(), r, registrar.Operator(), strings.NewReader(fmt.Sprintf(text, url)), bulk.ImportOptions{Format: f})
			if err == nil && sum.Refused == 0 {
				return nil
			}
			return fmt.Errorf("rejected %d: %w", sum.Refused, err)
		}
	}
	for door, enter := range map[string]func(t *testing.T, r *registrar.Registrar, url string) error{
		"put":   func(t *testing.T, r *registrar.Registrar, url string) error { return put(t, r, of(url)) },
		"JSONL": imported(bulk.JSONLines, `{"name":"urn:example:n","locations":[{"url":%q}]}`),
		"CSV":   imported(bulk.CSV, "name,url\nurn:example:n,\"%s\"\n"),
		"batch": func(t *testing.T, r *registrar.Registrar, url string) error {
			outs, err := r.Apply(t.Context(), registrar.Operator(), []registrar.Request{{Record: of(url), Expected: store.AnyRevision}}, "")
			if err != nil {
				return err
			}
			return outs[0].Err
		},
		"relocate": func(t *testing.T, r *registrar.Registrar, url string) error {
			if err := put(t, r, of(good)); err != nil {
				t.Fatal(err)
			}
			done, err := r.Relocate(t.Context(), registrar.Operator(), registrar.Relocation{From: good, To: url, Refused: func(name.Name, error) {}})
			if err == nil && done.Locations == 0 {
				err = fmt.Errorf("nothing was changed")
			}
			return err
		},
		"rule": func(t *testing.T, r *registrar.Registrar, url string) error {
			a := &store.Authority{Prefix: name.MustParsePrefix("urn:x-r"), Owners: []string{"a", "b"}}
			a.Rules = rule.Set{{Match: "{n:d}", Locations: []nomen.Location{{URL: url}}, Tests: []rule.Test{{From: "urn:x-r:1", To: []string{url}}}}}
			_, err := r.PutAuthority(t.Context(), registrar.Operator(), a, 0, "")
			return err
		},
	} {
		for _, url := range append([]string{good + "2"}, unfit...) {
			_, s := newTestServer(t, nil)
			err := enter(t, registrar.New(s, registrar.Options{}), url)
			if (err == nil) != (url == good+"2") {
				t.Errorf("%s of %s: %v", door, url, err)
			}
		}
	}
}

// TestLocationsOut puts invalid locations into a store, as another program could, and
// into the answers of other resolvers: no client is sent there by any kind of request.
func TestLocationsOut(t *testing.T) {
	const prefix = "urn:x-loc"
	authority := func(change func(*store.Authority)) []*store.Authority {
		a := &store.Authority{Prefix: name.MustParsePrefix(prefix), Owners: []string{"a", "b"}}
		change(a)
		return []*store.Authority{a}
	}
	plain := authority(func(*store.Authority) {})
	asking := authority(func(a *store.Authority) {
		a.Delegation = &store.Delegation{Mode: store.ModeAsk, To: "other.example"}
	})
	records := func(change func(*store.Record)) []*store.Record {
		r := &store.Record{Spelling: prefix + ":1", Status: nomen.Active}
		change(r)
		return []*store.Record{r}
	}
	other := func(s *store.Store, answer func(nomen.Question) (*nomen.Answer, error)) func(*Options) {
		return func(o *Options) {
			ask := resolverFunc(func(_ context.Context, q nomen.Question) (*nomen.Answer, error) { return answer(q) })
			o.Resolver = resolve.New(*s, resolve.Options{Ask: func(string) (nomen.Resolver, error) { return ask, nil }})
		}
	}
	answer := func(change func(*nomen.Answer)) func(nomen.Question) (*nomen.Answer, error) {
		return func(q nomen.Question) (*nomen.Answer, error) {
			a := &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active}
			change(a)
			return a, nil
		}
	}
	at := func(url string) []nomen.Location {
		return []nomen.Location{{URL: url, Note: "n"}, {URL: url, Rel: "license"}}
	}
	type world struct {
		authorities []*store.Authority
		records     []*store.Record
		answer      func(nomen.Question) (*nomen.Answer, error)
		gateway     bool
		shown       bool // it may appear in text, as a name
	}
	for way, make := range map[string]func(url string) world{
		"stored": func(url string) world {
			return world{authorities: plain, records: records(func(r *store.Record) { r.Locations = at(url) })}
		},
		"alias": func(url string) world {
			return world{authorities: plain, records: records(func(r *store.Record) { r.SameAs = []string{url} }), shown: true}
		},
		"successor": func(url string) world {
			return world{authorities: plain, records: records(func(r *store.Record) {
				r.Status, r.Reason, r.Successors = nomen.Retired, "x", []string{url}
			}), shown: true}
		},
		"metadata": func(url string) world {
			return world{authorities: plain, records: records(func(r *store.Record) {
				r.Metadata = nomen.Metadata{"title": {"t"}, "creator": {url}, "rights": {url}, "type": {url}, "identifier": {url}, "relation": {url}}
			}), shown: true}
		},
		"tombstone": func(url string) world {
			return world{authorities: plain, records: records(func(r *store.Record) {
				r.Status, r.Reason, r.Locations, r.ShowLocations = nomen.Retired, "x", at(url), true
			})}
		},
		"delegate's locations": func(url string) world {
			return world{authorities: asking, answer: answer(func(a *nomen.Answer) { a.Locations = at(url) })}
		},
		"delegate's redirect": func(url string) world {
			return world{authorities: asking, answer: answer(func(a *nomen.Answer) { a.Redirect = url })}
		},
		"delegate's names": func(url string) world {
			return world{authorities: asking, answer: answer(func(a *nomen.Answer) { a.Names = []string{url} }), shown: true}
		},
		"delegate's successor": func(url string) world {
			return world{authorities: asking, answer: answer(func(a *nomen.Answer) {
				a.Status, a.Redirect = nomen.Retired, url
				if n, err := name.Parse(url); err == nil {
					a.Successors = []name.Name{n}
				}
			}), shown: true}
		},
		"delegate's tombstone": func(url string) world {
			return world{authorities: asking, answer: func(q nomen.Question) (*nomen.Answer, error) {
				a := &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Retired, Locations: at(url), Names: []string{url}, Redirect: url}
				return nil, &nomen.Error{Kind: nomen.Gone, Name: q.Name.Key(), Answer: a}
			}, shown: true}
		},
		"gateway": func(url string) world {
			return world{gateway: true, answer: answer(func(a *nomen.Answer) { a.Locations, a.Redirect = at(url), url })}
		},
	} {
		for _, url := range unfit {
			w := make(url)
			var st store.Store = storeOf(t, w.authorities, w.records)
			change := func(*Options) {}
			if w.answer != nil {
				change = other(&st, w.answer)
			}
			o := Options{Store: st, Resolver: resolve.New(st, resolve.Options{})}
			change(&o)
			if w.gateway {
				door, err := gateway.NewAccessControl(gateway.Access{Policy: gateway.All})
				if err != nil {
					t.Fatal(err)
				}
				other := resolverFunc(func(_ context.Context, q nomen.Question) (*nomen.Answer, error) { return w.answer(q) })
				if o.Resolver, err = gateway.NewForeignResolver(gateway.ForeignOptions{Inner: o.Resolver, Authorities: store.NewTable(st, time.Now, 0), Other: other, Access: door}); err != nil {
					t.Fatal(err)
				}
			}
			srv, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			for _, target := range []string{
				prefix + ":1", "/" + prefix + ":1", "/" + prefix + ":1?s=I2L", "/" + prefix + ":1?s=I2Ls", "/" + prefix + ":1?s=I2C", "/" + prefix + ":1?s=I2N", "/" + prefix + ":1?s=I2Ns",
				"/uri-res/N2L?" + prefix + ":1", "/uri-res/N2Ls?" + prefix + ":1", "/uri-res/N2C?" + prefix + ":1", "/" + prefix + ":1?s=I2C&format=linkset-json", "/" + prefix + ":1?s=I2C&format=bibtex",
				"/" + prefix + ":1?s=I2C&format=json-ld", "/" + prefix + ":1?s=I2C&format=urc", "/" + prefix + ":1?s=I2C&format=uri-list",
				"/-/timegate/" + prefix + ":1", "/-/timemap/" + prefix + ":1",
			} {
				for _, accept := range []string{"text/html", "text/plain", "application/json"} {
					p := ask(srv, target, accepting(accept))
					if found := leadsTo(p, url, w.shown); found != "" {
						t.Errorf("%s: %s, as %q: status %d: %s", way, target, accept, p.status, found)
					}
				}
			}
		}
	}
}

// leadsTo returns the parts of a reply that lead to a URL; shown says that it may appear
// in text.
func leadsTo(p *reply, url string, shown bool) string {
	for _, f := range p.fields {
		if f.name != "Location" && strings.Contains(f.value, "<"+url) || f.name != "Link" && strings.HasPrefix(f.value, url) {
			return f.name + ": " + f.value
		}
	}
	if strings.Contains(p.reason, " at "+url) || strings.Contains(p.reason, " to "+url) {
		return "reason phrase: " + p.reason
	}
	body := string(p.body)
	for _, link := range []string{`href="` + html.EscapeString(url), `HREF="` + html.EscapeString(url)} {
		if strings.Contains(body, link) {
			return link
		}
	}
	if !shown && strings.Contains(body, url) {
		return body
	}
	return ""
}
