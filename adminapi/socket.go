package adminapi

import (
	"context"
	"encoding/hex"
	"net"
	"net/http"
	"strings"
)

// unixScheme is the beginning of the URL of a server that listens on a Unix socket. The path of the
// socket follows.
const unixScheme = "unix:"

// socketHost is the end of the host name that represents a Unix socket in requests. Such host names
// never exist (RFC 6761, section 6.4), so an HTTP client cannot send the token to a different
// server.
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
