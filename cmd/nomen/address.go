package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/server"
)

// adminURL returns the URL at which other commands on this machine can reach the admin API, or ""
// if the server has no admin listener. It prefers a Unix socket, because no other user can listen
// on the socket after the server has stopped. If the listener uses TLS, the certificate may be for
// another host than the URL.
func adminURL(listeners []server.Listener) (url string) {
	best := 0
	for _, o := range listeners {
		rank, text := 2, "http://"+o.Open.Addr().String()
		switch {
		case !o.Admin:
			continue
		case o.TLS != nil:
			rank, text = 1, "https://"+o.Open.Addr().String()
		case o.Open.Addr().Network() == "unix":
			rank, text = 3, socketScheme+o.Open.Addr().String()
		}
		if rank > best {
			best, url = rank, text
		}
	}
	return url
}

// removeURL removes the file that contains the URL of the admin listener, so that other commands do
// not try to reach a stopped server. It does not remove the file if another server has overwritten
// it.
func (c *cli) removeURL(url string) {
	file := filepath.Join(c.data, urlFile)
	if text, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(text)) == url {
		_ = os.Remove(file) // if this fails, commands find that no server answers
	}
}

// writeURL writes the URL of the admin listener to a file in the data directory, where other
// commands look for it. If writing fails, writeURL retries in the background until ctx is done.
func (c *cli) writeURL(ctx context.Context, url string, log *slog.Logger) {
	write := func() error { return durable.WriteFile(filepath.Join(c.data, urlFile), url+"\n") }
	err := write()
	if err == nil {
		return
	}
	log.Warn("cannot write the server's address; other commands will not find this server until that succeeds", "err", err)
	go func() {
		for err != nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
				err = write()
			}
		}
	}()
}
