package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/server"
)

// adminURL returns the content of the file with the URL of the admin listener.
func adminURL(l *server.Listening) string { return "http://" + l.Admin.String() + "\n" }

// removeURL removes the file with the URL of the admin listener, so that other commands do
// not find a server that has stopped. If the data directory was moved away, another server
// may have written the file at this path; that file stays.
func (c *cli) removeURL(l *server.Listening) {
	file := filepath.Join(c.data, urlFile)
	if text, err := os.ReadFile(file); err == nil && l.Admin != nil && string(text) == adminURL(l) {
		_ = os.Remove(file) // if this fails, commands find that no server answers
	}
}

// writeURL writes the URL of the admin listener to a file for other commands. If writing
// fails, it retries until ctx ends.
func (c *cli) writeURL(ctx context.Context, url string, log *slog.Logger) {
	write := func() error { return durable.WriteFile(filepath.Join(c.data, urlFile), url) }
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
