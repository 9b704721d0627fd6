package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/internal/health"
)

const healthLong = `Health asks a server whether it is ready: it can answer requests for names and accept
changes. With --live, health only asks whether the server answers. It prints one line. The
exit status is 0 if the server is ready. It is 1 if the server is not ready, cannot be
reached, or does not answer within 5 seconds.

With --wait, health repeats the question until the server is ready, for at most that long.

Without URL, health asks the server of the data directory (--data) on its admin listener. If
no server has this data directory, health asks at http://127.0.0.1:4500. URL can be the
address of any listener of the server, or unix: and the path of a socket.

A container can use this command as its health check.`

const healthTimeout = 5 * time.Second

const defaultPublicURL = "http://127.0.0.1:4500"

func (c *cli) healthCommand() *cobra.Command {
	var live bool
	var wait time.Duration
	cmd := &cobra.Command{
		Use:     "health [URL]",
		Short:   "ask a server whether it is ready",
		Long:    healthLong,
		Example: "  nomen health\n  nomen health --wait 30s\n  nomen health --live https://urn.example.org\n  nomen health unix:/run/nomen/admin.sock",
		Args:    arguments(0, 1),
	}
	cmd.Flags().BoolVar(&live, "live", false, "only ask whether the server answers")
	cmd.Flags().DurationVar(&wait, "wait", 0, "repeat the question until the server is ready, for at most this time")
	notNegative(cmd.Flags(), "wait")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		target := ""
		if len(args) > 0 {
			target = args[0]
		}
		path := health.ReadyPath
		if live {
			path = health.LivePath
		}
		return c.health(cmd.Context(), target, path, wait)
	}
	return cmd
}

type healthLine struct {
	Server  string `json:"server"`
	Healthy bool   `json:"healthy"`
	Status  string `json:"status"` // as the server reported it, or why it could not be asked
}

const healthPause = 200 * time.Millisecond

// health asks a server for its health, and prints the last answer. It repeats the request until the
// server is healthy, for at most the duration patience.
func (c *cli) health(ctx context.Context, target, path string, patience time.Duration) error {
	end := time.Now().Add(patience)
	for {
		line, err := c.askServer(ctx, target, path)
		if err != nil {
			return err
		}
		if line.Healthy || !time.Now().Add(healthPause).Before(end) || ctx.Err() != nil {
			return c.sayHealth(line)
		}
		select {
		case <-ctx.Done():
		case <-time.After(healthPause):
		}
	}
}

// sayHealth prints the health of a server. It returns errNo if the server is not healthy.
func (c *cli) sayHealth(line healthLine) (err error) {
	if c.json || line.Healthy {
		err = c.say(line, "%s: %s", printable(line.Server), printable(line.Status))
	} else {
		fmt.Fprintf(c.err, "nomen: %s: %s\n", printable(line.Server), printable(line.Status))
	}
	if err == nil && !line.Healthy {
		err = errNo
	}
	return err
}

// askServer sends a single request for the health of a server, with a timeout of healthTimeout. If
// target is "", it asks the server of the data directory.
func (c *cli) askServer(ctx context.Context, target, path string) (healthLine, error) {
	guessed := ""
	if target == "" {
		var err error
		if target, err = c.ownServer(); errors.Is(err, fs.ErrNotExist) {
			target = defaultPublicURL
			guessed = "no server runs on " + c.data + ", which has no " + urlFile + c.defaultHint() + "; health also asked at " + target + ", the default address of the public listener"
		} else if err != nil {
			return healthLine{}, err
		}
	}
	client, base, err := reach(target)
	if err != nil {
		return healthLine{}, usagef("health: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, healthTimeout, fmt.Errorf("no response within %v", healthTimeout))
	defer cancel()
	line := healthLine{Server: target}
	line.Status, line.Healthy = askHealth(ctx, client, base+path)
	if guessed != "" && !line.Healthy {
		line.Status += " (" + guessed + ")"
	}
	return line, nil
}

// ownServer returns the URL of the admin listener of the server that uses the data directory. If no
// server is running, the error wraps fs.ErrNotExist.
func (c *cli) ownServer() (string, error) {
	text, err := os.ReadFile(filepath.Join(c.data, urlFile))
	return strings.TrimSpace(string(text)), err
}

// reach returns an HTTP client for a server, and the base URL for requests. The target is a URL,
// HOST:PORT, or "unix:" followed by the path of a socket.
func reach(target string) (*http.Client, string, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if socket, ok := strings.CutPrefix(target, "unix:"); ok {
		if rest, ok := strings.CutPrefix(socket, "//"); ok {
			socket = rest
		}
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}
		return client, "http://localhost", nil
	}
	if !strings.Contains(target, "://") {
		target = "http://" + target
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, "", fmt.Errorf("invalid URL %q: want for example %s or unix:/run/nomen/admin.sock", target, defaultPublicURL)
	}
	return client, u.Scheme + "://" + u.Host + strings.TrimRight(u.EscapedPath(), "/"), nil
}

func askHealth(ctx context.Context, client *http.Client, target string) (status string, healthy bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err.Error(), false
	}
	req.Header.Set("Accept", "text/plain")
	resp, err := client.Do(req)
	if err != nil {
		return words(cmp.Or(context.Cause(ctx), err)), false
	}
	defer resp.Body.Close()
	const maxStatusText = 4 << 10
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxStatusText))
	return healthText(resp.StatusCode, body)
}

// healthText returns the status in a response to a health request, and whether the server is
// healthy. The admin listener sends the status as JSON. Other listeners send it as text.
func healthText(code int, body []byte) (status string, healthy bool) {
	text := strings.TrimSpace(string(body))
	var object struct{ Status string }
	if json.Unmarshal(body, &object) == nil {
		text = object.Status
	}
	first, _, _ := strings.Cut(text, "\n")
	switch {
	case code == http.StatusOK && (first == "ready" || first == "ok"):
		return first, true
	case code == http.StatusServiceUnavailable && first != "":
		return strings.ReplaceAll(text, "\n", "; "), false
	}
	return fmt.Sprintf("unexpected response (status %d): this is not the address of a nomen server", code), false
}
