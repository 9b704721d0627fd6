package client

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
)

// An address that gave no answer is reported once.
func TestUnreachableOnce(t *testing.T) {
	at := netip.MustParseAddrPort("192.0.2.1:4500")
	dial := &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(at), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	read := &net.OpError{Op: "read", Net: "tcp", Addr: net.TCPAddrFromAddrPort(at), Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	for _, tt := range []struct {
		err  UnreachableError
		want string
	}{
		{UnreachableError{"h.example:4500", []Attempt{{at, dial}}}, "client: no answer from h.example:4500: 192.0.2.1:4500 (connection refused)"},
		{UnreachableError{"h.example:4500", []Attempt{{at, dial}, {at, errors.New("closed")}}}, "client: no answer from h.example:4500: 192.0.2.1:4500 (connection refused), 192.0.2.1:4500 (closed)"},
		{UnreachableError{"192.0.2.1:4500", []Attempt{{at, dial}}}, "client: no answer from 192.0.2.1:4500: connection refused"},
		{UnreachableError{"h.example", []Attempt{{Err: read}}}, "client: no answer from h.example: read: connection reset by peer"},
	} {
		if got := tt.err.Error(); got != tt.want || !errors.Is(&tt.err, tt.err.Tried[0].Err) {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
