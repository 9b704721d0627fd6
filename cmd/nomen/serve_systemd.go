package main

import (
	"strings"

	"github.com/nomen-project/nomen/server"
)

// report sets the status that systemd shows. Without systemd it does nothing.
func (c *cli) report(status string) {
	c.logReport(c.systemd.Status(status))
}

func (c *cli) reportStopping(status string) {
	c.logReport(c.systemd.Stopping(status))
}

func (c *cli) logReport(err error) {
	if err != nil {
		c.logger().Warn("cannot report to systemd", "err", err)
	}
}

// reportReady waits until the server answers requests, reports this to systemd, and permits
// reloads. Until the server shuts down, it then tells systemd regularly that the server still
// answers (WatchdogSec in the unit).
func (c *cli) reportReady(v *liveServer) {
	l, log := v.listening, v.parts.log // no reload changes them
	err := l.Ask(v.ending)
	if err == nil {
		c.logReport(c.systemd.Ready("serving at " + addresses(l)))
	} else {
		log.Error("the server does not answer its own health check", "err", err)
	}
	v.begin(c.hangups, err == nil)
	if err == nil {
		c.systemd.Watch(v.ending, log, l.Ask)
	}
}

func addresses(l *server.Listening) string {
	all := make([]string, len(l.Addrs))
	for i, at := range l.Addrs {
		all[i] = at.String()
	}
	return strings.Join(all, ", ")
}

func describeListener(o server.Listener) string {
	kind, at := "public", o.Open.Addr().String()
	var notes []string
	if o.Admin {
		kind = "admin"
	}
	if o.Open.Addr().Network() == "unix" {
		at = socketScheme + at
	}
	if o.TLS != nil {
		notes = append(notes, "TLS")
	}
	switch o.Protocols {
	case server.ProtocolWeb:
		notes = append(notes, "only web")
	case server.Protocol1995:
		notes = append(notes, "only 1995")
	}
	text := kind + " listener at " + at
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return text
}
