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

// Quick returns a connection that behaves like c and takes less processor time to read and write.
// If c is not a connection of the kernel, Quick returns c.
//
// Package net tells Go's scheduler of each system call, because a system call may wait. Reading and
// writing a connection never waits, because its socket is non-blocking. So the connections of Quick
// make system calls without telling the scheduler. If the race detector is enabled, Quick returns
// c, because the race detector needs the calls of package net.
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

type quick struct {
	socket
	raw     syscall.RawConn
	in, out transfer
	yield   yield
}

// A transfer is a read or a write.
type transfer struct {
	mu    sync.Mutex
	p     []byte // the buffer, or what is still to be written
	n     int    // how many bytes were transferred
	errno syscall.Errno
	waits bool                  // the socket was not ready
	try   func(fd uintptr) bool // tries to transfer, and returns false if the socket is not ready
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

func (t *transfer) end() int {
	t.p = nil
	return t.n
}

// failure returns the error of a transfer in the form of package net. The parameter err is the
// error of waiting for the socket.
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

func (t *transfer) read(fd uintptr) (ready bool) {
	n, ready := t.call(syscall.SYS_READ, fd)
	t.n = n
	return ready
}

// write writes all data, in as many system calls as necessary.
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

// call makes a system call. It returns false if the socket is not ready.
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
