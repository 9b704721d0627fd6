package systemd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// inherit duplicates the descriptors of listeners to the numbers from first on.
func inherit(t *testing.T, first int, listeners ...net.Listener) {
	t.Helper()
	for i, l := range listeners {
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := syscall.Dup3(int(f.Fd()), first+i, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSockets(t *testing.T) {
	const first = 200 // far above the descriptors of the test
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	inherit(t, first, l, other)
	t.Setenv("LISTEN_FDS", "2")
	t.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()))
	t.Setenv("LISTEN_FDNAMES", "web:")
	got, err := socketsFrom(first)
	if err != nil || len(got) != 2 {
		t.Fatalf("got %v, %v", got, err)
	}
	for i, want := range []struct {
		name string
		at   net.Listener
	}{{"web", l}, {"unknown", other}} {
		on, err := net.FileListener(got[i].File)
		if err != nil {
			t.Fatal(err)
		}
		if got[i].Name != want.name || on.Addr().String() != want.at.Addr().String() {
			t.Errorf("socket %d is %s at %v, want %s at %v", i, got[i].Name, on.Addr(), want.name, want.at.Addr())
		}
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, got[i].File.Fd(), syscall.F_GETFD, 0)
		if errno != 0 || flags&syscall.FD_CLOEXEC == 0 {
			t.Errorf("socket %d is passed on to programs that the service starts", i)
		}
		on.Close()
		got[i].File.Close()
	}
	for _, name := range []string{"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"} {
		if v, ok := os.LookupEnv(name); ok {
			t.Errorf("%s=%s is still set", name, v)
		}
	}
	if got, err := Sockets(); got != nil || err != nil {
		t.Errorf("the second call returns %v, %v", got, err)
	}
}

// Sockets for another process, and invalid numbers, are not used.
func TestSocketsOfOthers(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, tt := range []struct {
		count, pid string
		fails      bool
	}{
		{"1", "1", false},
		{"1", "", false},
		{"", own, false},
		{"0", own, false},
		{"x", own, true},
		{"-1", own, true},
		{"257", own, true},
		{"99999999999999999999", own, true},
	} {
		t.Setenv("LISTEN_FDS", tt.count)
		t.Setenv("LISTEN_PID", tt.pid)
		if got, err := Sockets(); len(got) != 0 || (err != nil) != tt.fails {
			t.Errorf("LISTEN_FDS=%s LISTEN_PID=%s: %v, %v", tt.count, tt.pid, got, err)
		}
	}
}

func TestPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tls-key"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ dir, text, want, fault string }{
		{"", "/etc/key.pem", "/etc/key.pem", ""},
		{dir, "key.pem", "key.pem", ""},
		{dir, "", "", ""},
		{dir, "credential:tls-key", filepath.Join(dir, "tls-key"), ""},
		{"", "credential:tls-key", "", "the service has no credentials"},
		{dir, "credential:other", "", `credential "other": not found; add LoadCredential=other:`},
		{dir, "credential:", "", "invalid credential name"},
		{dir, "credential:../tls-key", "", "invalid credential name"},
		{dir, "credential:..", "", "invalid credential name"},
	} {
		t.Setenv("CREDENTIALS_DIRECTORY", tt.dir)
		got, err := Path(tt.text)
		if got != tt.want || (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("Path(%q) = %q, %v, want %q, %q", tt.text, got, err, tt.want, tt.fault)
		}
	}
}

// Each report is one datagram, to a socket with a path or to an abstract one.
func TestNotifier(t *testing.T) {
	for _, address := range []string{filepath.Join(t.TempDir(), "notify"), "@nomen-test-" + strconv.Itoa(os.Getpid())} {
		c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		t.Setenv("NOTIFY_SOCKET", address)
		t.Setenv("WATCHDOG_USEC", "30000000")
		t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
		n, err := NewNotifier()
		if err != nil || n.watchdog != 30*time.Second {
			t.Fatalf("watchdog %v, %v", n.watchdog, err)
		}
		for _, err := range []error{n.Status("a\nb"), n.Ready("ready"), n.Reloading("reload"), n.Stopping("stop")} {
			if err != nil {
				t.Error(err)
			}
		}
		for _, want := range []string{"STATUS=a b", "READY=1\nSTATUS=ready", "RELOADING=1\nSTATUS=reload\nMONOTONIC_USEC=", "STOPPING=1\nSTATUS=stop"} {
			buf := make([]byte, 1000)
			k, err := c.Read(buf)
			got := string(buf[:k])
			if head, usec, ok := strings.Cut(got, "MONOTONIC_USEC="); ok {
				if v, err := strconv.ParseInt(usec, 10, 64); err != nil || v <= 0 {
					t.Errorf("MONOTONIC_USEC=%s", usec)
				}
				got = head + "MONOTONIC_USEC="
			}
			if err != nil || got != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		}
		if os.Getenv("NOTIFY_SOCKET")+os.Getenv("WATCHDOG_USEC")+os.Getenv("WATCHDOG_PID") != "" {
			t.Error("the variables are still set")
		}
	}
}

func TestNotifierWithout(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	n, err := NewNotifier()
	if err != nil || n.Ready("x") != nil {
		t.Errorf("without systemd: %v", err)
	}
	n.Watch(t.Context(), nil, nil) // returns at once
	for _, env := range [][3]string{{"relative", "", ""}, {"/run/x", "soon", ""}, {"/run/x", "0", ""}} {
		t.Setenv("NOTIFY_SOCKET", env[0])
		t.Setenv("WATCHDOG_USEC", env[1])
		if _, err := NewNotifier(); err == nil {
			t.Errorf("%q: no error", env)
		}
	}
	t.Setenv("NOTIFY_SOCKET", "/run/x")
	t.Setenv("WATCHDOG_USEC", "30000000")
	t.Setenv("WATCHDOG_PID", "1")
	if n, err := NewNotifier(); err != nil || n.watchdog != 0 {
		t.Errorf("the watchdog of another process: %v, %v", n, err)
	}
}

// Watch sends a signal at half of the interval, but only after a call of probe that has succeeded.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var signs []time.Duration
		begin := time.Now()
		n := &Notifier{watchdog: 30 * time.Second, send: func(state string) error {
			if state != "WATCHDOG=1" {
				t.Errorf("sent %q", state)
			}
			signs = append(signs, time.Since(begin))
			return nil
		}}
		asked := 0
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		n.Watch(ctx, slog.New(slog.DiscardHandler), func(ctx context.Context) error {
			switch asked++; asked {
			case 2:
				return errors.New("refused")
			case 4:
				<-ctx.Done() // no answer
				return ctx.Err()
			}
			return nil
		})
		if want := []time.Duration{0, 30 * time.Second, 60 * time.Second, 75 * time.Second, 90 * time.Second}; !slices.Equal(signs, want) {
			t.Errorf("signs of life at %v, want %v", signs, want)
		}
	})
}
