package shown

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
)

func TestError(t *testing.T) {
	at := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: at, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	missing := &fs.PathError{Op: "open", Path: "a.csv", Err: syscall.ENOENT}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("an error of the module: EOF"), "an error of the module: EOF"},
		{missing, "a.csv: file or directory not found"},
		{fmt.Errorf("serve: --rules: %w", missing), "serve: --rules: a.csv: file or directory not found"},
		{fmt.Errorf("a.csv: %w", missing), "a.csv: file or directory not found"},
		{errors.Join(missing, &fs.PathError{Op: "read", Path: "d", Err: syscall.EISDIR}), "a.csv: file or directory not found\nd: is a directory, expected a file"},
		{&fs.PathError{Op: "open", Path: "f/a", Err: syscall.ENOTDIR}, "f/a: part of this path is a file, expected a directory"},
		{&fs.PathError{Op: "open", Path: "a", Err: syscall.EACCES}, "cannot open a: permission denied"},
		{&fs.PathError{Op: "stat", Path: "a", Err: syscall.EIO}, "cannot read a: input/output error"},
		{&fs.PathError{Op: "mkdir", Path: "a/b", Err: syscall.ENOENT}, "cannot create directory a/b: the directory above it does not exist"},
		{&fs.PathError{Op: "create", Path: "a/b", Err: syscall.ENOENT}, "cannot create a/b: the directory above it does not exist"},
		{&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EACCES}, "cannot rename a to b: permission denied"},
		{refused, "cannot connect to 192.0.2.1:80: connection refused"},
		{&url.Error{Op: "Get", URL: "http://a.example/", Err: refused}, "http://a.example/: cannot connect to 192.0.2.1:80: connection refused"},
		{&net.OpError{Op: "read", Net: "tcp", Addr: at, Err: os.NewSyscallError("read", syscall.ECONNRESET)}, "connection to 192.0.2.1:80 failed: connection reset by peer"},
		{&net.OpError{Op: "read", Net: "tcp", Err: io.EOF}, "connection failed: unexpected end of data"},
		{&net.OpError{Op: "listen", Net: "tcp", Addr: at, Err: syscall.EACCES}, "cannot listen at 192.0.2.1:80: permission denied (ports below 1024 need root or a socket unit)"},
		{&net.OpError{Op: "listen", Net: "tcp", Addr: at, Err: syscall.EADDRINUSE}, "cannot listen at 192.0.2.1:80: another program listens there"},
		{&net.OpError{Op: "listen", Net: "tcp", Err: &net.AddrError{Err: "invalid port", Addr: "99999"}}, "cannot listen: address 99999: invalid port"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "h.invalid", Server: "192.0.2.53:53", IsNotFound: true}}, `host "h.invalid" not found in DNS`},
		{&net.DNSError{Err: "i/o timeout", Name: "h.example", Server: "192.0.2.53:53", IsTimeout: true}, `looking up "h.example": the DNS server 192.0.2.53:53 did not answer in time`},
		{&net.OpError{Op: "listen", Net: "tcp", Err: &net.DNSError{Err: "unknown port", Name: "tcp/web", IsNotFound: true}}, `unknown port "web"`},
		{&net.DNSError{Err: "server misbehaving", Name: "h.example"}, `looking up "h.example" in DNS failed: server misbehaving`},
		{fmt.Errorf("a: %w", context.DeadlineExceeded), "a: timed out"},
		{fmt.Errorf("a DEOF: %w", io.EOF), "a DEOF: unexpected end of data"},
		{fmt.Errorf("a: %w, %w", io.ErrUnexpectedEOF, io.EOF), "a: unexpected end of data, unexpected end of data"},
	} {
		if got := Error(tt.err); got != tt.want {
			t.Errorf("Error(%q): got %q, want %q", tt.err, got, tt.want)
		}
	}
}
