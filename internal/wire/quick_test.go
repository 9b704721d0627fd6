package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestQuick: a connection of Quick behaves like one of package net.
func TestQuick(t *testing.T) {
	as := map[string]func(net.Conn) net.Conn{"net": func(c net.Conn) net.Conn { return c }, "quick": new(Pauses).Quick}
	for kind, wrap := range as {
		for what, check := range map[string]func(t *testing.T, c net.Conn, far *net.TCPConn){
			"much data":       checkMuchData,
			"writes at once":  checkWritesAtOnce,
			"end of input":    checkEnd,
			"deadline":        checkDeadline,
			"close":           checkClosed,
			"reset":           checkReset,
			"nothing to move": checkEmpty,
		} {
			t.Run(kind+"/"+what, func(t *testing.T) {
				c, far := connected(t)
				check(t, wrap(c), far)
			})
		}
	}
	if c, _ := net.Pipe(); new(Pauses).Quick(c) != c {
		t.Error("Quick changes a connection in memory")
	}
}

// connected returns the two ends of a connection.
func connected(tb testing.TB) (*net.TCPConn, *net.TCPConn) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	far := dial(tb, l.Addr().String())
	c, err := l.Accept()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close(); far.Close() })
	return c.(*net.TCPConn), far
}

func checkMuchData(t *testing.T, c net.Conn, far *net.TCPConn) {
	data := bytes.Repeat([]byte("0123456789abcde\n"), 1<<19)
	go func() {
		time.Sleep(20 * time.Millisecond) // until the buffers of the kernel are full; what is checked does not depend on it
		_, _ = io.Copy(far, far)
		_ = far.CloseWrite()
	}()
	var got []byte
	var readErr error
	var reader sync.WaitGroup
	reader.Go(func() { got, readErr = io.ReadAll(c) })
	n, err := c.Write(data)
	_ = c.(interface{ CloseWrite() error }).CloseWrite()
	reader.Wait()
	if n != len(data) || err != nil || readErr != nil || !bytes.Equal(got, data) {
		t.Errorf("wrote %d bytes, %v, and read %d, %v, want %d", n, err, len(got), readErr, len(data))
	}
}

func checkWritesAtOnce(t *testing.T, c net.Conn, far *net.TCPConn) {
	const each, writers = 1 << 20, 4
	for w := range byte(writers) {
		go func() { _, _ = c.Write(bytes.Repeat([]byte{'a' + w}, each)) }()
	}
	piece := make([]byte, each)
	for range writers {
		if _, err := io.ReadFull(far, piece); err != nil || bytes.Count(piece, piece[:1]) != each {
			t.Fatalf("%v, or two writes are mixed", err)
		}
	}
}

func checkEnd(t *testing.T, c net.Conn, far *net.TCPConn) {
	_, _ = far.Write([]byte("last"))
	_ = far.CloseWrite()
	for _, want := range []string{"last", ""} {
		p := make([]byte, 9)
		n, err := c.Read(p)
		if got := string(p[:n]); got != want || (err == io.EOF) != (want == "") {
			t.Errorf("Read: %q, %v, want %q", got, err, want)
		}
	}
}

func checkDeadline(t *testing.T, c net.Conn, _ *net.TCPConn) {
	_ = c.SetDeadline(time.Now().Add(time.Millisecond))
	_, readErr := c.Read(make([]byte, 1))
	_, writeErr := c.Write(make([]byte, 64<<20))
	checkOpError(t, readErr, "read", os.ErrDeadlineExceeded)
	checkOpError(t, writeErr, "write", os.ErrDeadlineExceeded)
}

// checkOpError checks that an error is of the same kind as the errors of package net.
func checkOpError(t *testing.T, err error, op string, want error) {
	t.Helper()
	var of *net.OpError
	if !errors.Is(err, want) || !errors.As(err, &of) || of.Op != op || of.Net != "tcp" || of.Addr == nil {
		t.Errorf("%s: %v, want %v", op, err, want)
	}
	var late net.Error
	if errors.As(err, &late); late.Timeout() != (want == os.ErrDeadlineExceeded) {
		t.Errorf("%s: Timeout is %v of %v", op, late.Timeout(), err)
	}
}

func checkClosed(t *testing.T, c net.Conn, _ *net.TCPConn) {
	reading := make(chan error)
	go func() { _, err := c.Read(make([]byte, 1)); reading <- err }()
	_ = c.Close()
	checkOpError(t, <-reading, "read", net.ErrClosed)
	_, err := c.Write([]byte("x"))
	checkOpError(t, err, "write", net.ErrClosed)
}

func checkReset(t *testing.T, c net.Conn, far *net.TCPConn) {
	_ = far.SetLinger(0)
	_ = far.Close()
	_, err := c.Read(make([]byte, 1))
	checkOpError(t, err, "read", syscall.ECONNRESET)
	_, err = c.Write([]byte("x"))
	checkOpError(t, err, "write", syscall.EPIPE)
}

func checkEmpty(t *testing.T, c net.Conn, _ *net.TCPConn) {
	for what, move := range map[string]func([]byte) (int, error){"Read": c.Read, "Write": c.Write} {
		if n, err := move(nil); n != 0 || err != nil {
			t.Errorf("%s of nothing: %d, %v", what, n, err)
		}
	}
}

// TestYield: pauses go on while they are useful. After a useless one, more and more reads have none.
func TestYield(t *testing.T) {
	all := new(Pauses)
	y := yield{all: all}
	pauses := func(reads int, waited bool) (n int) {
		for range reads {
			y.wrote.Store(true)
			made := y.now()
			all.made.Store(0)
			if y.learn(made, waited); made {
				n++
			}
		}
		return n
	}
	if y.now() {
		t.Error("a pause before anything was written")
	}
	for _, c := range []struct {
		what   string
		waited bool
		want   int
	}{
		{"useful", false, 500},
		{"useless", true, 9}, // after 0, 1, 2, 4, ... 128 and 240 reads
		{"useless for long", true, 3},
	} {
		if got := pauses(500, c.waited); got != c.want {
			t.Errorf("%s: %d pauses before 500 reads, want %d", c.what, got, c.want)
		}
	}
	pauses(maxUseless+1, false)
	if got := pauses(4, true); got != 2 {
		t.Errorf("useless after a useful one: %d pauses before 4 reads, want 2", got)
	}
}

// TestPausesOfAll: after maxPauses pauses of all connections, every second read has no pause until one of
// them has waited, so that the scheduler looks for connections with input.
func TestPausesOfAll(t *testing.T) {
	const reads = 10 * maxPauses
	all := new(Pauses)
	ys := []yield{{all: all}, {all: all}}
	pauses := func() (n int) {
		for i := range reads {
			y := &ys[i/3%len(ys)]
			y.wrote.Store(true)
			made := y.now()
			if y.learn(made, false); made {
				n++
			}
		}
		return n
	}
	for range 2 {
		if got, want := pauses(), maxPauses+(reads-maxPauses)/2; got < want-1 || got > want+1 {
			t.Errorf("%d pauses before %d reads, want %d", got, reads, want)
		}
		ys[0].learn(false, true)
	}
}
