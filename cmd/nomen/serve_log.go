package main

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/internal/shown"
)

const (
	logAuto = "auto" // text on a terminal, otherwise JSON
	logText = "text"
	logJSON = "json"
)

const (
	addressesNone      = "none"
	addressesTruncated = "truncated" // to the network: IPv4 /24, IPv6 /48
	addressesFull      = "full"
)

type logFlags struct {
	format, addresses string
}

func (o *logFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.format, "log-format", logAuto, "format of the log: text, json, or auto (text on a terminal, otherwise json)")
	f.StringVar(&o.addresses, "access-log-addresses", addressesTruncated, "how the log shows the addresses of clients: none, truncated (to the /24 or /48) or full")
}

func (o *logFlags) check() error {
	if all := []string{logAuto, logText, logJSON}; !slices.Contains(all, o.format) {
		return usagef("serve: --log-format %q: must be auto, text or json", o.format)
	}
	if all := []string{addressesNone, addressesTruncated, addressesFull}; !slices.Contains(all, o.addresses) {
		return usagef("serve: --access-log-addresses %q: must be none, truncated or full", o.addresses)
	}
	return nil
}

// openLog returns the logger of a server, which writes to standard error. If the format is JSON,
// openLog also redirects c.err to the logger, so that all messages of the command become log lines.
func (c *cli) openLog(o *logFlags) *slog.Logger {
	w := &lossyWriter{to: c.err, lost: &c.lostLines}
	replace := o.replace(c.secretValues())
	switch {
	case o.format == logJSON || o.format == logAuto && !isScreen(c.err):
		l := slog.New(slog.NewJSONHandler(jsonWriter{w}, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			a = replace(groups, a)
			if a.Value.Kind() == slog.KindDuration {
				a.Value = slog.StringValue(a.Value.Duration().String())
			}
			return a
		}}))
		c.err = &lineLog{log: l}
		return l
	case isTerminal(c.err):
		return slog.New(terminalLog(w, slog.LevelInfo, replace))
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: replace}))
}

// replace returns a function that converts the attributes of log lines. The function hides the
// secrets of the configuration. Depending on the options, it also truncates or removes client
// addresses. Client addresses occur as values of type [netip.Addr], and in the texts of network
// errors.
func (o *logFlags) replace(secret []string) func([]string, slog.Attr) slog.Attr {
	return func(groups []string, a slog.Attr) slog.Attr {
		if a.Value.Kind() != slog.KindAny {
			return a
		}
		switch v := a.Value.Any().(type) {
		case netip.Addr:
			return o.address(a.Key, v)
		case error:
			text := hideValues(shown.Error(v), secret)
			if o.addresses != addressesFull {
				text = withoutPeers(text)
			}
			a.Value = slog.StringValue(text)
		}
		return a
	}
}

func (o *logFlags) address(key string, from netip.Addr) slog.Attr {
	bits := 48
	if from = from.Unmap().WithZone(""); from.Is4() {
		bits = 24
	}
	switch o.addresses {
	case addressesNone:
		return slog.Attr{}
	case addressesTruncated:
		from = netip.PrefixFrom(from, bits).Masked().Addr()
	}
	return slog.String(key, from.String())
}

// withoutPeers removes client addresses from the text of an error. It removes the addresses that
// [shown.Error] writes for errors of established connections. It keeps the addresses of failed
// connection attempts, because these are not addresses of clients.
func withoutPeers(text string) string {
	const before, after = "connection to ", " failed"
	var b strings.Builder
	for {
		start, rest, found := strings.Cut(text, before)
		peer, end, ends := strings.Cut(rest, after)
		switch {
		case !found || !ends:
			b.WriteString(text)
			return b.String()
		case strings.Contains(peer, " "):
			b.WriteString(start + before)
			text = rest
		default:
			b.WriteString(start + "connection" + after)
			text = end
		}
	}
}

// A lossyWriter counts the lines that could not be written.
type lossyWriter struct {
	to   io.Writer
	lost *atomic.Uint64
}

func (w *lossyWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if err != nil {
		w.lost.Add(1)
	}
	return n, err
}

// A lineLog replaces standard error if the log format is JSON. Each write becomes a log line. A
// lineLog is safe for concurrent use.
type lineLog struct {
	log   *slog.Logger
	fails atomic.Bool // the messages from now on say why the command fails
}

// Write logs p as one message.
func (w *lineLog) Write(p []byte) (int, error) {
	text := strings.TrimPrefix(strings.TrimSpace(string(p)), "nomen: ")
	level := slog.LevelInfo
	if w.fails.Load() {
		level = slog.LevelError
	} else if rest, ok := strings.CutPrefix(text, "warning: "); ok {
		text, level = rest, slog.LevelWarn
	}
	if text != "" {
		w.log.Log(context.Background(), level, text)
	}
	return len(p), nil
}

// failures returns the writer for the final error messages of a command. If the log format is JSON,
// this is the log. Otherwise it is the parameter usual.
func (c *cli) failures(usual io.Writer) io.Writer {
	if l, ok := c.err.(*lineLog); ok {
		l.fails.Store(true)
		return l
	}
	return usual
}
