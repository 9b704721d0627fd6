package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
)

// An internet is a network of servers in memory: their names, addresses and what
// they answer.
type internet struct {
	t     *testing.T
	mu    sync.Mutex
	hosts map[string][]string             // addresses of a name
	serve map[string]func(request) string // by "address:port"
	asked []request
}

// A request is what a server received.
type request struct {
	address string // "address:port"
	line    string
	header  []string // field lines
}

func (r request) field(name string) string {
	for _, line := range r.header {
		if n, value, _ := strings.Cut(line, ":"); strings.EqualFold(n, name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func newInternet(t *testing.T) *internet {
	return &internet{t: t, hosts: map[string][]string{}, serve: map[string]func(request) string{}}
}

// host adds a server with one address at port 4500, which answers with f.
func (n *internet) host(name, address string, f func(request) string) {
	n.hosts[name] = append(n.hosts[name], address)
	n.serve[net.JoinHostPort(address, "4500")] = f
}

// says returns a server that always sends the same response.
func says(answer string) func(request) string { return func(request) string { return answer } }

var errNoSuchHost = errors.New("no such host")

func (n *internet) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	if network != "ip" {
		n.t.Errorf("a look-up in the network %q", network)
	}
	found, ok := n.hosts[strings.ToLower(strings.TrimSuffix(host, "."))]
	if !ok {
		return nil, errNoSuchHost
	}
	addrs := make([]netip.Addr, len(found))
	for i, a := range found {
		addrs[i] = netip.MustParseAddr(a)
	}
	return addrs, nil
}

// dial connects to a server that reads one request, answers and closes the connection.
func (n *internet) dial(_ context.Context, _, address string) (net.Conn, error) {
	f, ok := n.serve[address]
	if !ok {
		return nil, fmt.Errorf("%s: connection refused", address)
	}
	ours, theirs := net.Pipe()
	go func() {
		defer theirs.Close()
		if r, err := readRequest(theirs, address); err == nil {
			n.mu.Lock()
			n.asked = append(n.asked, r)
			n.mu.Unlock()
			io.WriteString(theirs, f(r))
		}
	}()
	return ours, nil
}

// readRequest reads a Full-Request up to the empty line, or a Simple-Request.
func readRequest(conn io.Reader, address string) (request, error) {
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	r := request{address: address, line: strings.TrimRight(line, "\r\n")}
	if err != nil || !strings.Contains(r.line, " HTTP/") {
		return r, err
	}
	for {
		line, err := in.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); err != nil || line == "" {
			return r, err
		}
		r.header = append(r.header, line)
	}
}

// client returns a client on this network.
func (n *internet) client(o Options) *Client {
	n.t.Helper()
	o.DNS, o.DialContext = n, n.dial
	return newClient(n.t, o)
}

// newClient returns a client that tries addresses in the order in which they were looked up.
func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.shuffle = func(int, func(i, j int)) {}
	t.Cleanup(func() { c.Close() })
	return c
}

// lines returns the request lines received, with the addresses.
func (n *internet) lines() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var lines []string
	for _, r := range n.asked {
		lines = append(lines, r.address+" "+r.line)
	}
	return slices.Clip(lines)
}

// urc returns a response with one location.
func urc(url string) string {
	return "HTTP/1.0 200 OK\r\nContent-Type: text/urc-0\r\n\r\n=====\r\n" + url + "\r\n"
}

// dialEither dials the real network for one address and n for all others.
func dialEither(n *internet, real string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == real {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		return n.dial(ctx, network, address)
	}
}
