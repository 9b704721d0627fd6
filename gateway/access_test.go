package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, s := range texts {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

func mustDoor(t testing.TB, a Access) *AccessControl {
	t.Helper()
	d, err := NewAccessControl(a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPolicies(t *testing.T) {
	own := prefixes("192.0.2.0/24", "2001:db8:1::/48", "::ffff:198.51.100.0/120")
	for _, tt := range []struct {
		policy Policy
		from   string
		want   bool
	}{
		{"", "192.0.2.1", false},
		{Off, "192.0.2.1", false},
		{Own, "192.0.2.1", true},
		{Own, "192.0.3.1", false},
		{Own, "::ffff:192.0.2.1", true}, // the same host, as an IPv6 socket shows it
		{Own, "::ffff:192.0.3.1", false},
		{Own, "::192.0.2.1", false},
		{Own, "198.51.100.7", true},
		{Own, "::ffff:198.51.100.7", true},
		{Own, "198.51.101.7", false},
		{Own, "2001:db8:1::7", true},
		{Own, "2001:db8:1::7%eth0", true},
		{Own, "2001:db8:2::7", false},
		{Own, "127.0.0.1", false},
		{Own, "", false},
		{All, "203.0.113.9", true},
		{All, "", true},
	} {
		var from netip.Addr
		if tt.from != "" {
			from = netip.MustParseAddr(tt.from)
		}
		d := mustDoor(t, Access{Policy: tt.policy, Own: own})
		if got := d.Admits(&Client{Addr: from}); got != tt.want {
			t.Errorf("Y95-65: %s: %q: got %v, want %v", tt.policy, tt.from, got, tt.want)
		}
		leave, err := d.enter(&Client{Addr: from})
		if (err == nil) != tt.want || !tt.want && !errors.Is(err, errDenied) {
			t.Errorf("Y95-65: %s: %q: %v", tt.policy, tt.from, err)
		}
		if err == nil {
			leave()
		}
	}
	var shut *AccessControl
	if shut.Admits(&Client{Addr: own[0].Addr()}) || shut.Policy() != Off {
		t.Error("a nil access control admits a client")
	}
}

func TestBadAccess(t *testing.T) {
	for _, tt := range []struct {
		a    Access
		want string
	}{
		{Access{Policy: "some"}, "must be off, own or all"},
		{Access{Policy: Own}, "needs the addresses of own users"},
		{Access{Policy: Own, Own: []netip.Prefix{{}}}, "invalid prefix of addresses"},
		{Access{Policy: Own, Own: prefixes("::ffff:0.0.0.0/90")}, "other than IPv4-mapped"},
		{Access{Policy: All, Burst: -1}, "must not be negative"},
	} {
		if _, err := NewAccessControl(tt.a); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %q", tt.a, err, tt.want)
		}
	}
	for s, want := range map[string]Policy{"": Off, "off": Off, "own": Own, "all": All} {
		if got, err := parsePolicy(s); got != want || err != nil {
			t.Errorf("%q: got %v, %v", s, got, err)
		}
	}
}

// count returns how many requests of a client are admitted at once.
func count(d *AccessControl, from string, tries int) (n int, last error) {
	for range tries {
		leave, err := d.enter(&Client{Addr: netip.MustParseAddr(from)})
		if err != nil {
			last = err
			continue
		}
		leave()
		n++
	}
	return n, last
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustDoor(t, Access{Policy: All, Own: prefixes("10.0.0.0/8"), Rate: 2, Burst: 5})
		n, err := count(d, "192.0.2.1", 20)
		var e *LimitError
		if n != 5 || !errors.As(err, &e) || e.After <= 0 || e.After > 500*time.Millisecond {
			t.Errorf("got %d, %v", n, err)
		}
		if n, _ = count(d, "192.0.2.2", 20); n != 5 {
			t.Errorf("another stranger: %d", n)
		}
		if n, _ = count(d, "10.1.2.3", 500); n != 500 {
			t.Errorf("an own user: %d", n)
		}
		time.Sleep(time.Second)
		if n, _ = count(d, "192.0.2.1", 20); n != 2 {
			t.Errorf("a second later: %d", n)
		}
		time.Sleep(time.Hour)
		if n, _ = count(d, "192.0.2.1", 20); n != 5 {
			t.Errorf("an hour later: %d", n)
		}
		// All addresses of an IPv6 /64 count as one client.
		n = 0
		for i := range 20 {
			got, _ := count(d, fmt.Sprintf("2a00:1:2:3::%x", i), 1)
			n += got
		}
		if other, _ := count(d, "2a00:1:2:4::1", 1); n != 5 || other != 1 {
			t.Errorf("one network: %d, another: %d", n, other)
		}
	})
}

// Ten addresses have a rate limit of their own. All other addresses together get as many requests
// as one client.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := mustDoor(t, Access{Policy: All, Rate: 1, Burst: 3, Addresses: 10})
		all := 0
		for i := range 5000 {
			n, _ := count(d, fmt.Sprintf("198.51.%d.%d", i/250, i%250), 1)
			all += n
		}
		if want := 10 + 3; all != want {
			t.Errorf("%d got in, want %d", all, want)
		}
		time.Sleep(time.Minute)
		if n, _ := count(d, "203.0.113.1", 5); n != 3 {
			t.Errorf("later: %d", n)
		}
	})
}

func TestTotal(t *testing.T) {
	d := mustDoor(t, Access{Policy: All, Own: prefixes("10.0.0.0/8"), Total: 2})
	first, err := d.enter(&Client{Addr: netip.MustParseAddr("10.0.0.1")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = d.enter(&Client{Addr: netip.MustParseAddr("192.0.2.1")}); err != nil {
		t.Fatal(err)
	}
	var e *LimitError
	if _, err = d.enter(&Client{Addr: netip.MustParseAddr("10.0.0.1")}); !errors.As(err, &e) || !strings.Contains(err.Error(), "1s") {
		t.Errorf("got %v", err)
	}
	first()
	first() // a second call does nothing
	if _, err = d.enter(&Client{Addr: netip.MustParseAddr("10.0.0.1")}); err != nil {
		t.Error(err)
	}
	if _, err = d.enter(&Client{Addr: netip.MustParseAddr("10.0.0.1")}); !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}

func TestAsker(t *testing.T) {
	c := &Client{Addr: netip.MustParseAddr("192.0.2.1")}
	if got := ClientOf(WithClient(context.Background(), c)); got != c {
		t.Errorf("got %v", got)
	}
	if got := ClientOf(context.Background()); got != nil {
		t.Errorf("got %v", got)
	}
}

// If another site made the browser of an own user send a request, the client does not count as an
// own user.
func TestMisledAsker(t *testing.T) {
	own := prefixes("192.0.2.0/24")
	for _, tt := range []struct {
		policy         Policy
		misled         string
		admits, enters bool // enters: permitted as an own user
	}{
		{Own, "", true, true},
		{Own, "another site sent it", false, false},
		{All, "", true, false},
		{All, "another site sent it", true, false},
	} {
		d := mustDoor(t, Access{Policy: tt.policy, Own: own, Burst: 1, Rate: 0.001})
		a := &Client{Addr: ownUser, Misled: tt.misled}
		leave, err := d.enter(a)
		if d.Admits(a) != tt.admits || (err == nil) != tt.admits || a.Entered() != tt.enters {
			t.Errorf("%+v: got %v, %v, %v", tt, d.Admits(a), err, a.Entered())
		}
		if err == nil {
			leave()
		}
		if _, again := d.enter(a); tt.policy == All && (again == nil) != (tt.misled == "") {
			t.Errorf("%+v: no limit for a stranger: %v", tt, again)
		}
	}
}
