package wire

import (
	"net"
	"syscall"
	"testing"
)

// keepAliveOf returns the settings of a connection that a listener accepts.
func keepAliveOf(t *testing.T, c net.ListenConfig) (got [4]int) {
	t.Helper()
	l, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dial(t, l.Addr().String())
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		for i, o := range [][2]int{
			{syscall.SOL_SOCKET, syscall.SO_KEEPALIVE},
			{syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE},
			{syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL},
			{syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT},
		} {
			if got[i], err = syscall.GetsockoptInt(int(fd), o[0], o[1]); err != nil {
				t.Error(err)
			}
		}
	})
	return got
}

// TestListenConfig checks that connections have the keep-alive that package net gives them.
func TestListenConfig(t *testing.T) {
	got, want := keepAliveOf(t, ListenConfig()), keepAliveOf(t, net.ListenConfig{})
	if got != want || got[0] != 1 {
		t.Errorf("got %v, want %v", got, want)
	}
}
