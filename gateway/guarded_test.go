package gateway_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/guard"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// A hosts is a DNS. From the second question about a host on, it returns the address in later, if
// there is one.
type hosts struct {
	at, later map[string]string
	asked     map[string]int
}

func (h hosts) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	host = strings.TrimSuffix(host, ".")
	text := h.at[host]
	if h.asked[host]++; h.asked[host] > 1 && h.later[host] != "" {
		text = h.later[host]
	}
	if text == "" {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return []netip.Addr{netip.MustParseAddr(text)}, nil
}

// The server connects to no private address on behalf of a client, even if DNS first returns a
// public address.
func TestGuardedWorld(t *testing.T) {
	private := map[string]string{}
	for i, a := range []string{
		"127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "::", "fe80::1", "fc00::1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "224.0.0.1", "255.255.255.255",
	} {
		private["inside"+string(rune('a'+i))+".example"] = a
	}
	const publicAddress = "192.0.43.7"
	private["turn.example"] = publicAddress
	dns := hosts{private, map[string]string{"turn.example": "127.0.0.1"}, map[string]int{}}
	dialed := []string{}
	c, err := client.New(client.Options{Guard: true, DNS: dns, Retries: -1, DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
		dialed = append(dialed, address)
		return nil, io.ErrUnexpectedEOF
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := fill(t, nil, nil)
	access, err := gateway.NewAccessControl(gateway.Access{Policy: gateway.All, Burst: 1000})
	if err != nil {
		t.Fatal(err)
	}
	w, err := gateway.NewForeignResolver(gateway.ForeignOptions{
		Inner: resolve.New(s, resolve.Options{}), Authorities: store.NewTable(s, time.Now, time.Second), Other: c, Access: access,
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for host := range private {
			_, err := w.Resolve(t.Context(), nomen.Question{Name: name.MustParse("urn:dns:" + host + ":x"), Service: nomen.I2L})
			if err == nil {
				t.Errorf("%s: an answer", host)
			}
		}
	}
	for _, address := range dialed {
		a := netip.MustParseAddrPort(address).Addr()
		if err := guard.Check(a); err != nil {
			t.Errorf("a connection to %s: %v", address, err)
		}
	}
	if len(dialed) != 1 || !strings.HasPrefix(dialed[0], publicAddress) {
		t.Errorf("connections to %q", dialed)
	}
}
