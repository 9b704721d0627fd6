package guard

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ addr, why string }{
		{"192.0.43.7", ""},
		{"8.8.8.8", ""},
		{"100.63.255.255", ""},
		{"100.128.0.0", ""},
		{"172.15.255.255", ""},
		{"172.32.0.0", ""},
		{"223.255.255.255", ""},
		{"2606:2800:220:1::1", ""},
		{"2a00:1450:4001::1", ""},
		{"::ffff:8.8.8.8", ""},
		{"64:ff9b::8.8.8.8", ""},
		{"2002:808:808::1", ""},
		{"2a00::5efe:8.8.8.8", ""},
		{"2001:200::1", ""},

		{"0.0.0.0", "this host"},
		{"0.1.2.3", "this host"},
		{"10.0.0.1", "private"},
		{"100.64.0.1", "carrier"},
		{"100.127.255.255", "carrier"},
		{"127.0.0.1", "loopback"},
		{"127.255.255.254", "loopback"},
		{"169.254.169.254", "link-local"},
		{"172.16.0.1", "private"},
		{"172.31.255.255", "private"},
		{"192.0.0.8", "protocol"},
		{"192.0.2.1", "documentation"},
		{"192.88.99.1", "relay"},
		{"192.168.1.1", "private"},
		{"198.19.0.1", "benchmarks"},
		{"198.51.100.1", "documentation"},
		{"203.0.113.1", "documentation"},
		{"224.0.0.1", "multicast"},
		{"239.255.255.255", "multicast"},
		{"255.255.255.255", "broadcast"},
		{"240.0.0.1", "future"},
		{"::", "no address"},
		{"::1", "loopback"},
		{"::7f00:1", "no global"},           // IPv4-compatible
		{"::ffff:0:127.0.0.1", "no global"}, // RFC 2765
		{"::ffff:127.0.0.1", "loopback"},
		{"::ffff:10.0.0.1", "private"},
		{"64:ff9b::127.0.0.1", "loopback"},
		{"64:ff9b::a00:1", "private"},
		{"64:ff9b:1::808:808", "private"},
		{"100::1", "discarded"},
		{"2001::1", "Teredo"},
		{"2001:2::1", "protocol"},
		{"2001:db8::1", "documentation"},
		{"3fff::1", "documentation"},
		{"2002:7f00:1::1", "loopback"},
		{"2002:c0a8:101::1", "private"},
		{"2a00::5efe:192.168.1.1", "private"},
		{"2a00::200:5efe:10.0.0.1", "private"},
		{"4000::1", "no global"},
		{"fc00::1", "private"},
		{"fdff::1", "private"},
		{"fe80::1", "link-local"},
		{"fe80::1%eth0", "of one link"},
		{"2a00::1%eth0", "of one link"},
		{"fec0::1", "private"},
		{"ff02::1", "multicast"},
	} {
		a := netip.MustParseAddr(tt.addr)
		err := Check(a)
		var e *AddressError
		switch {
		case tt.why == "" && err != nil:
			t.Errorf("Check(%s) = %v, want nil", tt.addr, err)
		case tt.why != "" && (!errors.As(err, &e) || e.Addr != a || !strings.Contains(e.Why, tt.why)):
			t.Errorf("Check(%s) = %v, want one that says %q", tt.addr, err, tt.why)
		}
	}
	if Check(netip.Addr{}) == nil {
		t.Error("the zero address is let through")
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{"10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "::ffff:10.0.0.1"} {
		b, _ := netip.MustParseAddr(s).MarshalBinary()
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok || Check(a) != nil {
			return
		}
		if u := a.Unmap(); u.IsPrivate() || !u.IsGlobalUnicast() {
			t.Errorf("%s is let through", a)
		}
	})
}
