package discover

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"
)

var _ DNS = (*net.Resolver)(nil)

// A zone returns the addresses of the names in it.
type zone map[string][]netip.Addr

var errNoSuchHost = errors.New("no such host")

func (z zone) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	addrs, ok := z[network+" "+host]
	if !ok {
		return nil, errNoSuchHost
	}
	return addrs, nil
}

func addrs(s ...string) (out []netip.Addr) {
	for _, a := range s {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

func TestAddresses(t *testing.T) {
	many := make([]netip.Addr, 0, 300)
	for i := range 300 {
		many = append(many, netip.AddrFrom4([4]byte{192, 0, byte(i >> 8), byte(i)}))
	}
	dns := zone{
		"ip names.example.org.": addrs("192.0.2.1", "2001:db8::1", "192.0.2.2", "::ffff:192.0.2.1", "192.0.2.1"),
		"ip empty.example.":     nil,
		"ip many.example.":      many,
		"ip local":              addrs("10.0.0.1"),
	}
	ctx := t.Context()
	for _, host := range []string{"names.example.org", "names.example.org."} { // Y95-23, Y95-26: all, of both families, once
		got, err := Addresses(ctx, dns, host)
		if want := addrs("192.0.2.1", "2001:db8::1", "192.0.2.2"); err != nil || !slices.Equal(got, want) {
			t.Errorf("Addresses(%q) = %v, %v, want %v", host, got, err, want)
		}
	}
	if got, err := Addresses(ctx, dns, "many.example"); err != nil || !slices.Equal(got, many[:maxAddresses]) {
		t.Errorf("many addresses: %v, %v", got, err)
	}
	for _, host := range []string{"sub.names.example.org", "example.org"} { // Y95-11: no inference
		if got, err := Addresses(ctx, dns, host); !errors.Is(err, errNoSuchHost) {
			t.Errorf("Addresses(%q) = %v, %v, want an error", host, got, err)
		}
	}
	if got, err := Addresses(ctx, dns, "empty.example"); err == nil || err.Error() != "discover: empty.example has no address" {
		t.Errorf("no address: %v, %v", got, err)
	}
	if got, err := Addresses(ctx, dns, "local"); err == nil { // not in the search list
		t.Errorf("a relative name: %v", got)
	}
	for _, host := range []string{"192.0.2.1", "2001:db8::1"} { // of a table
		if got, err := Addresses(ctx, dns, host); err != nil || !slices.Equal(got, addrs(host)) {
			t.Errorf("Addresses(%q) = %v, %v", host, got, err)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Addresses(cancelled, dns, "names.example.org"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestHostAddresses(t *testing.T) {
	dns := zone{"ip local": addrs("10.0.0.1")}
	for _, tt := range []struct{ host, want string }{
		{"local", "10.0.0.1"},
		{"192.0.2.1", "192.0.2.1"},
		{"2001:db8::1", "2001:db8::1"},
		{"::ffff:192.0.2.1", "192.0.2.1"},
		{"fe80::1%eth0", "fe80::1%eth0"},
	} {
		if got, err := HostAddresses(t.Context(), dns, tt.host); err != nil || !slices.Equal(got, addrs(tt.want)) {
			t.Errorf("HostAddresses(%q) = %v, %v, want %s", tt.host, got, err, tt.want)
		}
	}
}
