package registrar

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

func TestAuthority(t *testing.T) {
	d := newDesk(t)
	out := d.authority(&store.Authority{
		Prefix: name.MustParsePrefix("urn:ietf:rfc"), Owners: []string{"one"},
		Hosts: []string{"RFC.Example.:4500", "[::1]:80"}, Addresses: []string{"::ffff:192.0.2.1"}, Parents: []string{"urn:ietf"},
		Children: []string{"https://example.org/", "urn:dns:child.example"}, Contact: "mailto:names@example.org", Redirect: 302, Service: "I2C",
	})
	if diff := cmp.Diff([]string{"rfc.example", "[::1]"}, out.Authority.Hosts); diff != "" {
		t.Errorf("hosts (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"192.0.2.1"}, out.Authority.Addresses); diff != "" {
		t.Errorf("addresses (-want +got)\n%s", diff)
	}
	if !out.Created || out.Result.Revision != 1 || len(out.Warnings) != 1 || out.Warnings[0].Code != WarnOwners {
		t.Errorf("outcome %+v; want created, a warning about owners", out)
	}
	set, err := d.authorities.Set(d.ctx, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Of(name.MustParse("urn:ietf:rfc:1")); got == nil || got.Contact != "mailto:names@example.org" {
		t.Errorf("the authority of a name: %+v", got)
	}
	if got := set.Of(name.MustParse("urn:ietf:std:1")); got != nil {
		t.Errorf("the authority of a name under none: %+v", got)
	}
}

func TestAuthorityRefused(t *testing.T) {
	p := name.MustParsePrefix("urn:dns:new.example")
	for _, c := range []struct {
		field string
		a     store.Authority
	}{
		{"prefix", store.Authority{}},
		{"owners[1]", store.Authority{Prefix: p, Owners: []string{"a", ""}}},
		{"owners[0]", store.Authority{Prefix: p, Owners: []string{"a\nb"}}},
		{"hosts[0]", store.Authority{Prefix: p, Hosts: []string{"a b"}}},
		{"hosts[0]", store.Authority{Prefix: p, Hosts: []string{""}}},
		{"hosts[0]", store.Authority{Prefix: p, Hosts: []string{"-a.example"}}},
		{"hosts[0]", store.Authority{Prefix: p, Hosts: []string{"[::1"}}},
		{"hosts[1]", store.Authority{Prefix: p, Hosts: []string{"x.example", "ORG.example:4500"}}},
		{"addresses[0]", store.Authority{Prefix: p, Addresses: []string{"localhost"}}},
		{"addresses[0]", store.Authority{Prefix: p, Addresses: []string{"192.0.2.7"}}},
		{"default", store.Authority{Prefix: p, Default: true}},
		{"parents[0]", store.Authority{Prefix: p, Parents: []string{"no-prefix"}}},
		{"parents[0]", store.Authority{Prefix: p, Parents: []string{"urn:dns:a\r\nb"}}},
		{"children[0]", store.Authority{Prefix: p, Children: []string{"javascript:x"}}},
		{"contact", store.Authority{Prefix: p, Contact: "names@example.org"}},
		{"contact", store.Authority{Prefix: p, Contact: "javascript:x"}},
		{"contact", store.Authority{Prefix: p, Contact: "ms-msdt:/id%20x"}},
		{"contact", store.Authority{Prefix: p, Contact: "tel:*%2306%23"}},
		{"description", store.Authority{Prefix: p, Description: "\x1b"}},
		{"default_service", store.Authority{Prefix: p, Service: "X2Y"}},
		{"redirect_status", store.Authority{Prefix: p, Redirect: 200}},
	} {
		d := newDesk(t)
		d.authority(&store.Authority{
			Prefix: name.MustParsePrefix("urn:dns:example.org"), Hosts: []string{"org.example"}, Addresses: []string{"192.0.2.7"}, Default: true,
		})
		_, err := d.PutAuthority(d.ctx, Operator(), &c.a, store.AnyRevision, "")
		if field, _, _ := refusal(err); field != c.field {
			t.Errorf("PutAuthority(%+v): field %q (%v), want %q", c.a, field, err, c.field)
		}
	}
}

// For a bare email address the error suggests mailto:.
func TestContactByMail(t *testing.T) {
	d := newDesk(t)
	a := &store.Authority{Prefix: name.MustParsePrefix("urn:dns:example.org"), Contact: "names@example.org"}
	if _, err := d.PutAuthority(d.ctx, Operator(), a, store.AnyRevision, ""); err == nil || !strings.Contains(err.Error(), "mailto:names@example.org") {
		t.Errorf("got %v", err)
	}
}

func TestAuthorityRights(t *testing.T) {
	own := name.MustParsePrefix("urn:dns:example.org")
	for _, c := range []struct {
		what  string
		actor Actor
		a     store.Authority
		ok    bool
	}{
		{"editor", editor(), store.Authority{Prefix: own}, false},
		{"owner", actor(Owner, "urn:dns:example.org"), store.Authority{Prefix: own, Description: "d"}, true},
		{"owner below", actor(Owner, "urn:ietf"), store.Authority{Prefix: name.MustParsePrefix("urn:ietf:rfc")}, true},
		{"owner elsewhere", actor(Owner, "urn:dns:example.com"), store.Authority{Prefix: own}, false},
		{"owner, hosts", actor(Owner), store.Authority{Prefix: own, Hosts: []string{"x.example"}}, false},
		{"owner, default", actor(Owner), store.Authority{Prefix: own, Default: true}, false},
		{"administrator under a prefix, hosts", actor(Administrator, "urn:dns:example.org"), store.Authority{Prefix: own, Hosts: []string{"victim.example"}}, false},
		{"administrator under a prefix, addresses", actor(Administrator, "urn:dns:example.org"), store.Authority{Prefix: own, Addresses: []string{"192.0.2.9"}}, false},
		{"administrator under a prefix, default", actor(Administrator, "urn:dns:example.org"), store.Authority{Prefix: own, Default: true}, false},
		{"administrator under a prefix, the rest", actor(Administrator, "urn:dns:example.org"), store.Authority{Prefix: own, Description: "d"}, true},
		{"administrator under a new prefix, its host", actor(Administrator, "urn:dns:victim.example"), store.Authority{Prefix: name.MustParsePrefix("urn:dns:victim.example")}, false},
		{"administrator under a new web prefix, its host", actor(Administrator, "https://victim.example"), store.Authority{Prefix: name.MustParsePrefix("https://victim.example/x")}, false},
		{"owner, an owner of others", actor(Owner, "urn:ietf"), store.Authority{Prefix: name.MustParsePrefix("urn:ietf:rfc"), Owners: []string{"us", "c"}}, false},
		{"owner, an owner of one's own", actor(Owner, "urn:ietf"), store.Authority{Prefix: name.MustParsePrefix("urn:ietf:rfc"), Owners: []string{"us"}}, true},
		{"administrator, an owner of others", actor(Administrator), store.Authority{Prefix: name.MustParsePrefix("urn:ietf:rfc"), Owners: []string{"c"}}, true},
		{"administrator, a host of others", actor(Administrator), store.Authority{Prefix: name.MustParsePrefix("urn:dns:victim.example")}, true},
		{"administrator, hosts", actor(Administrator), store.Authority{Prefix: own, Hosts: []string{"x.example"}}, true},
		{"owner, a resolver for the server to ask", actor(Owner), store.Authority{Prefix: own, Policy: store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "10.0.0.1"}}}, false},
		{"administrator under a prefix, a resolver for the server to ask", actor(Administrator, "urn:dns:example.org"), store.Authority{Prefix: own, Policy: store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "http://10.0.0.1/?{+name}"}}}, false},
		{"administrator under a prefix, a resolver to discover", actor(Administrator, "urn:dns:example.org"), store.Authority{Prefix: own, Policy: store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk}}}, true},
		{"administrator under a prefix, a resolver for clients", actor(Administrator, "urn:dns:example.org"), store.Authority{Prefix: own, Policy: store.Policy{Delegation: &store.Delegation{Mode: store.ModeRedirect, To: "https://r.example/{+name}"}}}, true},
		{"administrator, a resolver for the server to ask", actor(Administrator), store.Authority{Prefix: own, Policy: store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "10.0.0.1"}}}, true},
	} {
		d := newDesk(t)
		if _, err := d.PutAuthority(d.ctx, Operator(), &store.Authority{Prefix: name.MustParsePrefix("urn:example:theirs"), Owners: []string{"c"}}, 0, ""); err != nil {
			t.Fatal(err)
		}
		_, err := d.PutAuthority(d.ctx, c.actor, &c.a, store.AnyRevision, "")
		if is[*DeniedError](err) == c.ok || c.ok && err != nil {
			t.Errorf("%s: %v, want allowed %t", c.what, err, c.ok)
		}
	}
}

func TestAuthorityConflict(t *testing.T) {
	d := newDesk(t)
	a := &store.Authority{Prefix: name.MustParsePrefix("urn:dns:example.org")}
	if _, err := d.PutAuthority(d.ctx, Operator(), a, 0, ""); !is[*store.ConflictError](err) {
		t.Errorf("create what is there: %v", err)
	}
}

func TestBearer(t *testing.T) {
	a, err := Bearer(&store.Token{ID: "t", Role: "owner", Who: "w", Prefixes: []string{"urn:dns:example.org"}})
	if err != nil || a.Role() != Owner || a.Who != "w" || len(a.Scope()) != 1 {
		t.Errorf("Bearer = %+v, %v", a, err)
	}
	if a, err := Bearer(&store.Token{Role: "administrator", Revoked: true}); err != nil || a.Role() != Reader {
		t.Errorf("Bearer of a revoked token = %+v, %v", a, err)
	}
	if _, err := Bearer(&store.Token{Role: "king"}); err == nil {
		t.Error("Bearer of an unknown role: no error")
	}
	if _, err := Bearer(&store.Token{Role: "editor", Prefixes: []string{"?"}}); err == nil {
		t.Error("Bearer of a bad prefix: no error")
	}
	for r := Reader; r <= Administrator; r++ {
		if got, ok := ParseRole(r.String()); got != r || !ok {
			t.Errorf("ParseRole(%q) = %v, %t", r.String(), got, ok)
		}
	}
}

// counting counts the reads of all authorities.
type counting struct {
	store.Store
	readings int
}

func (c *counting) Authorities(ctx context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	c.readings++
	return c.Store.Authorities(ctx, at)
}

// TestManyAuthorities checks that the other authorities are read only for one that could
// conflict with them.
func TestManyAuthorities(t *testing.T) {
	s := &counting{Store: memstore.New()}
	defer s.Close()
	r := New(s, Options{Now: func() time.Time { return noon }})
	for i := range 20 {
		a := &store.Authority{Prefix: name.MustParsePrefix(fmt.Sprintf("urn:nbn:fi:x%d", i)), Owners: []string{"a", "b"}}
		if _, err := r.PutAuthority(t.Context(), Operator(), a, 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	if s.readings != 0 {
		t.Errorf("%d readings of all authorities", s.readings)
	}
	hosted := func(prefix string) error {
		a := &store.Authority{Prefix: name.MustParsePrefix(prefix), Hosts: []string{"h.example"}}
		_, err := r.PutAuthority(t.Context(), Operator(), a, 0, "")
		return err
	}
	if err := hosted("urn:x-a"); err != nil {
		t.Error(err)
	}
	if err := hosted("urn:x-b"); err == nil {
		t.Error("two authorities are asked at the same host")
	}
	set, err := r.authorities.Set(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Of(name.MustParse("urn:nbn:fi:x7-1")); got == nil || got.Prefix.String() != "urn:nbn:fi:x7" {
		t.Errorf("the authority of a name: %v", got)
	}
}
