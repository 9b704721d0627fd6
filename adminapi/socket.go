package adminapi

import (
	"context"
	"encoding/hex"
	"net"
	"net/http"
	"strings"
)

// unixScheme begins the URL of a server that listens on a Unix socket. The path follows.
const unixScheme = "unix:"

// socketHost ends the host name that stands for a Unix socket in requests. Because such names do
// not exist (RFC 6761, 6.4), no HTTP client sends the token to another server.
const socketHost = ".socket.invalid"

func originOf(url string) string {
	if path, ok := strings.CutPrefix(url, unixScheme); ok {
		return "http://" + hex.EncodeToString([]byte(path)) + socketHost
	}
	return strings.TrimSuffix(url, "/")
}

func dialServer(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	host, _, _ := net.SplitHostPort(address)
	if text, ok := strings.CutSuffix(host, socketHost); ok {
		path, err := hex.DecodeString(text)
		if err != nil {
			return nil, err
		}
		network, address = "unix", string(path)
	}
	return d.DialContext(ctx, network, address)
}

func setHost(r *http.Request) {
	if strings.HasSuffix(r.URL.Host, socketHost) {
		r.Host = "localhost"
	}
}
