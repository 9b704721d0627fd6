package systemd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Notifier reports the state of this service to systemd. The zero Notifier does nothing. A
// Notifier is safe for concurrent use.
type Notifier struct {
	send     func(state string) error // nil without systemd
	watchdog time.Duration            // longest time between two watchdog signals; 0 if systemd expects none
}

// NewNotifier returns the Notifier of this process. It reads NOTIFY_SOCKET and WATCHDOG_USEC.
func NewNotifier() (*Notifier, error) {
	address, usec, pid := take("NOTIFY_SOCKET"), take("WATCHDOG_USEC"), take("WATCHDOG_PID")
	if address == "" {
		return &Notifier{}, nil
	}
	if address[0] != '/' && address[0] != '@' { // @ begins an abstract socket
		return nil, fmt.Errorf("NOTIFY_SOCKET %q: want a path or an abstract socket", address)
	}
	n := &Notifier{send: func(state string) error { return send(address, state) }}
	if usec == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return n, nil
	}
	d, err := strconv.ParseInt(usec, 10, 64)
	if err != nil || d <= 0 {
		return nil, fmt.Errorf("WATCHDOG_USEC %q: must be a positive number", usec)
	}
	n.watchdog = time.Duration(d) * time.Microsecond
	return n, nil
}

func send(address, state string) error {
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		return err
	}
	_, err = c.Write([]byte(state))
	return errors.Join(err, c.Close())
}

// tell sends assignments to systemd, each on its own line.
func (n *Notifier) tell(assignments ...string) error {
	if n.send == nil {
		return nil
	}
	return n.send(strings.Join(assignments, "\n"))
}

func status(text string) string {
	return "STATUS=" + strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
}

// Status sets the status text, which systemctl status shows.
func (n *Notifier) Status(text string) error { return n.tell(status(text)) }

// Ready reports, after a start or a reload, that the service answers requests.
func (n *Notifier) Ready(text string) error { return n.tell("READY=1", status(text)) }

// Reloading reports that the service reloads its configuration. [Notifier.Ready] must be called
// afterwards, even if the service keeps the old configuration.
func (n *Notifier) Reloading(text string) error {
	lines := []string{"RELOADING=1", status(text)}
	if usec := monotonic(); usec > 0 {
		lines = append(lines, "MONOTONIC_USEC="+strconv.FormatInt(usec, 10))
	}
	return n.tell(lines...)
}

// Stopping reports that the service is shutting down.
func (n *Notifier) Stopping(text string) error { return n.tell("STOPPING=1", status(text)) }

// Watch sends watchdog signals to systemd until ctx ends. It does nothing if the unit has no
// WatchdogSec. Before each signal it calls probe, which must send a request to the service and
// return nil if the request was answered. If probe fails, Watch omits the signal, and systemd
// restarts the service after WatchdogSec.
func (n *Notifier) Watch(ctx context.Context, log *slog.Logger, probe func(context.Context) error) {
	if n.watchdog == 0 {
		return
	}
	every := n.watchdog / 2
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := n.alive(ctx, every, probe); err != nil && ctx.Err() == nil {
			log.Error("the service does not answer its own health check; systemd will restart the service", "err", err, "watchdog", n.watchdog)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// alive sends a watchdog signal if ask succeeds within the time limit.
func (n *Notifier) alive(ctx context.Context, limit time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := ask(ctx); err != nil {
		return err
	}
	return n.tell("WATCHDOG=1")
}
