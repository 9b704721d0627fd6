//go:build !race

package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// Quick returns a connection like c that takes less processor time for reading and writing. If c does
// not come from the kernel, Quick returns c.
//
// Package net tells Go's scheduler about each system call, because it may wait. But a read or write of
// a connection never waits, because its socket is non-blocking. For the scheduler, a connection of
// Quick makes no system calls. The race detector needs those of package net, so with it Quick returns c.
func (p *Pauses) Quick(c net.Conn) net.Conn {
	s, ok := c.(socket)
	if !ok {
		return c
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return c
	}
	q := &quick{socket: s, raw: raw, yield: yield{all: p}}
	q.in.try, q.out.try = q.in.read, q.out.write
	return q
}

// A socket is a connection of the kernel.
type socket interface {
	net.Conn
	syscall.Conn
	CloseWrite() error
}

// A quick is a connection of Quick.
type quick struct {
	socket
	raw     syscall.RawConn
	in, out transfer
	yield   yield
}

// A transfer is a read or a write.
type transfer struct {
	mu    sync.Mutex
	p     []byte // the buffer, of a write the rest
	n     int    // bytes transferred
	errno syscall.Errno
	waits bool                  // the socket was not ready
	try   func(fd uintptr) bool // tries to transfer; false means that the socket is not ready
}

func (q *quick) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return q.socket.Read(p)
	}
	q.in.mu.Lock()
	defer q.in.mu.Unlock()
	yielded := q.yield.now()
	q.in.begin(p)
	err = q.raw.Read(q.in.try)
	q.yield.learn(yielded, q.in.waits)
	if n, err = q.in.end(), q.in.failure(q, "read", err); n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

func (q *quick) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return q.socket.Write(p)
	}
	q.out.mu.Lock()
	defer q.out.mu.Unlock()
	q.out.begin(p)
	err := q.raw.Write(q.out.try)
	q.yield.wrote.Store(true)
	return q.out.end(), q.out.failure(q, "write", err)
}

func (t *transfer) begin(p []byte) { t.p, t.n, t.errno, t.waits = p, 0, 0, false }

// end returns how many bytes were transferred.
func (t *transfer) end() int {
	t.p = nil
	return t.n
}

// failure returns the error of a transfer as package net does. The parameter err is the error of
// waiting for the socket.
func (t *transfer) failure(c net.Conn, op string, err error) error {
	var of *net.OpError
	switch {
	case errors.As(err, &of):
		of.Op = op
		return of
	case err == nil && t.errno != 0:
		local, remote := c.LocalAddr(), c.RemoteAddr()
		return &net.OpError{Op: op, Net: remote.Network(), Source: local, Addr: remote, Err: os.NewSyscallError(op, t.errno)}
	}
	return err
}

// read reads what is there.
func (t *transfer) read(fd uintptr) (ready bool) {
	n, ready := t.call(syscall.SYS_READ, fd)
	t.n = n
	return ready
}

// write writes until everything is written.
func (t *transfer) write(fd uintptr) (ready bool) {
	for len(t.p) > 0 {
		n, ready := t.call(syscall.SYS_WRITE, fd)
		if !ready || t.errno != 0 {
			return ready
		}
		t.n += n
		t.p = t.p[n:]
	}
	return true
}

// call makes a system call. If the socket is not ready, it returns false.
func (t *transfer) call(number, fd uintptr) (n int, ready bool) {
	for {
		n, _, errno := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(t.p))), uintptr(len(t.p)))
		switch errno {
		case 0:
			return int(n), true
		case syscall.EINTR:
		case syscall.EAGAIN:
			t.waits = true
			return 0, false
		default:
			t.errno = errno
			return 0, true
		}
	}
}
