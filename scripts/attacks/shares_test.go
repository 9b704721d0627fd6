//go:build attack

package attacks

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// within is the maximum time until another client gets a response during an attack.
const within = 2 * time.Second

// served adds a name to a server, and returns the target of a request for the name.
func (s *server) served(t *testing.T) (target string) {
	t.Helper()
	s.nomen(t, "authority", "put", "urn:x-own", "--owner", "a", "--owner", "b")
	s.nomen(t, "put", "urn:x-own:1", "https://example.org/1")
	return "/urn:x-own:1"
}

// A silence is a server that accepts connections and never sends anything.
type silence struct {
	net.Listener
	open atomic.Int64
}

func newSilence(t *testing.T) *silence {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &silence{Listener: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.open.Add(1)
			go func() {
				io.Copy(io.Discard, c)
				c.Close()
				s.open.Add(-1)
			}()
		}
	}()
	return s
}

// abandoned is how many requests an attacker makes.
const abandoned = 600

// TestAttackSlowDelegate requests 600 names that are delegated to a resolver that never answers,
// over every interface, and closes the connections. In the meantime, another client must get
// responses at once. After 25 seconds, the server must have at most 64 descriptors open, and must
// have stopped querying the resolver.
func TestAttackSlowDelegate(t *testing.T) {
	doors := map[string]string{
		"web":             "GET /urn:x-far:%d HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"pipelined":       "GET /urn:x-far:%d HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"1995":            "GET urn:x-far:%d HTTP/1.0\r\n\r\n",
		"Simple-Request":  "GET urn:x-far:%d\r\n",
		"text/urc-0":      "GET urn:x-far:%d HTTP/1.0\r\nAccept: text/urc-0\r\n\r\n",
		"THTTP":           "GET /uri-res/N2L?urn:x-far:%d HTTP/1.0\r\n\r\n",
		"resource":        "GET /urn:x-far:%d?s=I2R HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"batch":           "POST /-/resolve HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/uri-list\r\nContent-Length: 14\r\n\r\nurn:x-far:%04d",
		"reserved":        "GET urn:x-far:urn+c HTTP/1.0\r\nX: %d\r\n\r\n",
		"absolute target": "GET http://localhost/urn:x-far:%d HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"proxy":           "GET http://names.invalid:4500/urn:x-far:%d HTTP/1.1\r\nHost: names.invalid:4500\r\n\r\n",
		"Gopher":          "urn:x-far:%d\r\n",
		"Gopher, search":  "/-/name\turn:x-far:%d\r\n",
		"Gopher, text":    "/-/text/urn:x-far:%d\r\n",
	}
	for _, from := range []string{"", "127.0.0.2"} {
		for door, request := range doors {
			t.Run(strings.TrimSpace(door+" "+from), func(t *testing.T) {
				t.Parallel()
				delegate := newSilence(t)
				dns, err := net.ListenPacket("udp", "127.0.0.1:0") // a DNS server that never answers, for which the proxy waits
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { dns.Close() })
				s := start(t, "--allow-private", "--gopher", "127.0.0.1:0", "--proxy", "all", "--dns", dns.LocalAddr().String())
				to := s.public
				if strings.HasPrefix(door, "Gopher") {
					to = s.gopher
				}
				own := s.served(t)
				s.nomen(t, "authority", "put", "urn:x-far", "--owner", "a", "--owner", "b", "--delegate", "ask", "--delegate-to", delegate.Addr().String())
				stop := s.answers(t, "127.0.0.3", own, http.StatusSeeOther, within)
				before := s.descriptors(t)
				var all sync.WaitGroup
				for i := range abandoned {
					all.Go(func() {
						c, err := dialerFrom(from).Dial("tcp", to)
						if err != nil {
							return // the server has rejected the connection, so the attack has no effect
						}
						defer c.Close()
						_, _ = fmt.Fprintf(c, request, i)
						time.Sleep(time.Second)
					})
				}
				all.Wait()
				left := time.Now()
				t.Logf("%d descriptors before, %d when all clients had left, %d connections to the delegate", before, s.descriptors(t), delegate.open.Load())
				for s.descriptors(t) > 64 || delegate.open.Load() > 0 {
					if time.Since(left) > 25*time.Second {
						t.Errorf("after 25 s: %d descriptors, %d connections to the delegate; want 64 and none", s.descriptors(t), delegate.open.Load())
						break
					}
					time.Sleep(100 * time.Millisecond)
				}
				t.Logf("%d descriptors %v after they had left", s.descriptors(t), time.Since(left).Round(time.Second/10))
				stop()
			})
		}
	}
}

// answersList sends a list of one name as another client. It returns an error if there is no
// response in time.
func (s *server) answersList(client *http.Client) (took time.Duration, err error) {
	took, waited, err := s.timed(func() error {
		resp, err := client.Post("http://"+s.public+"/-/resolve", "text/uri-list", strings.NewReader("urn:x-own:1\n"))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(b), "https://example.org/1") {
			return fmt.Errorf("%s, %v: %s", resp.Status, err, b)
		}
		return nil
	})
	if err == nil && took > within {
		err = fmt.Errorf("answered after %v, and %v for which the server waited for a processor", took, waited)
	}
	if err != nil {
		return took, fmt.Errorf("another client's list: %w", err)
	}
	return took, nil
}

// TestAttackSlowBatch begins to send lists of names, and then sends nothing more or reads no
// response. It does so with so many lists that all eight turns are taken. Lists of other clients
// must be answered nevertheless.
func TestAttackSlowBatch(t *testing.T) {
	for name, send := range map[string]string{
		"slow senders": "POST /-/resolve HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/uri-list\r\nContent-Length: 1000\r\n\r\nurn:x-own:1\n",
		"slow chunks":  "POST /-/resolve HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/uri-list\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nurn:x",
		"slow readers": fmt.Sprintf("POST /-/resolve HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/uri-list\r\nContent-Length: %d\r\n\r\n%s", 12*9000, strings.Repeat("urn:x-own:1\n", 9000)),
	} {
		for _, from := range []string{"", "127.0.0.2"} {
			t.Run(strings.TrimSpace(name+" "+from), func(t *testing.T) {
				t.Parallel()
				s := start(t)
				s.served(t)
				for range 40 {
					c := dial(t, from, s.public)
					_ = c.(*net.TCPConn).SetReadBuffer(1 << 10)
					go io.WriteString(c, send)
				}
				client := clientFrom("127.0.0.3")
				slowest := time.Duration(0)
				for begun := time.Now(); time.Since(begun) < 5*time.Second; time.Sleep(100 * time.Millisecond) {
					took, err := s.answersList(client)
					if err != nil {
						t.Fatal(err)
					}
					slowest = max(slowest, took)
				}
				t.Logf("the slowest answer to another client took %v", slowest.Round(time.Millisecond))
			})
		}
	}
}

// TestAttackSlowReaders takes all turns from many addresses, with lists of which the clients read
// little or nothing. A list of another client must be answered nevertheless.
func TestAttackSlowReaders(t *testing.T) {
	const addresses, each, names = 9, 8, 4000
	for name, read := range map[string]time.Duration{"nothing": time.Hour, "a little": 200 * time.Millisecond} { // a KiB at a time
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.served(t)
			s.nomen(t, "put", "urn:x-own:long", "https://example.org/"+strings.Repeat("x", 2000))
			list := strings.Repeat("urn:x-own:long\n", names)
			done := make(chan struct{})
			defer close(done)
			for i := range addresses * each {
				go func() { // connects again whenever the server aborts the stream
					for {
						c, err := dialerFrom(fmt.Sprintf("127.0.2.%d", 1+i/each)).Dial("tcp", s.public)
						if err != nil {
							return
						}
						_ = c.(*net.TCPConn).SetReadBuffer(1 << 10)
						go fmt.Fprintf(c, "POST /-/resolve HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/uri-list\r\nContent-Length: %d\r\n\r\n%s", len(list), list)
						b := make([]byte, 1<<10)
						for err == nil {
							_, err = c.Read(b)
							select {
							case <-time.After(read):
							case <-done:
								c.Close()
								return
							}
						}
						c.Close()
					}
				}()
			}
			client := clientFrom("127.0.0.3")
			answered := func() error {
				_, err := s.answersList(client)
				return err
			}
			slow := regexp.MustCompile(`nomen_refused_total\{reason="slow"\} [1-9]\S*`)
			cutOff := func() string {
				resp, err := client.Get("http://" + s.admin + "/-/metrics")
				if err != nil {
					return ""
				}
				defer resp.Body.Close()
				b, _ := io.ReadAll(resp.Body)
				return slow.FindString(string(b))
			}
			// Wait until all turns are taken and the buffers are full, because before that no
			// client counts as slow.
			row := 0
			for until := time.Now().Add(4 * patience); row < 5 || cutOff() == ""; time.Sleep(500 * time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("slow readers cut off: %q; then %d answers in a row", cutOff(), row)
				}
				if row++; answered() != nil {
					row = 0
				}
			}
			asked := 0
			for begun := time.Now(); time.Since(begun) < 10*time.Second; time.Sleep(200 * time.Millisecond) {
				asked++
				if err := answered(); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("another client asked %d times; %s", asked, cutOff())
		})
	}
}

// TestAttackSlowBatchEnds checks that the server does not wait for ever for a body that is not
// sent.
func TestAttackSlowBatchEnds(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := dial(t, "127.0.0.2", s.public)
	fmt.Fprint(c, "POST /-/resolve HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/uri-list\r\nContent-Length: 1000\r\n\r\n")
	go func() { // a byte each second must not prolong the wait
		for range 60 {
			if _, err := io.WriteString(c, "u"); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	}()
	_ = c.SetReadDeadline(time.Now().Add(40 * time.Second))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || resp.StatusCode != http.StatusRequestTimeout {
		t.Errorf("got %v, %v; want 408", resp, err)
	}
}

// TestAttackIdle opens idle connections of each kind, more than a server with 100 descriptors can
// have. Another client must get responses all the time.
func TestAttackIdle(t *testing.T) {
	const hoarded = 120
	for kind, begin := range map[string]string{
		"silent":      "",
		"answered":    "GET /-/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"half a head": "GET /-/healthz HTTP/1.1\r\nHost: local",
		"1995":        "GE",
	} {
		for _, from := range []string{"", "127.0.0.2"} {
			for listener := range 2 {
				t.Run(strings.TrimSpace(kind+" "+[]string{"public", "admin"}[listener]+" "+from), func(t *testing.T) {
					t.Parallel()
					s := startWith(t, options{files: 100})
					to := []string{s.public, s.admin}[listener]
					stop := make(chan struct{})
					var hoard sync.WaitGroup
					for range hoarded {
						hoard.Go(func() { // opens another connection whenever the server closes one
							for {
								c, err := dialerFrom(from).Dial("tcp", to)
								if err == nil {
									_, _ = io.WriteString(c, begin)
									done := make(chan struct{})
									go func() {
										_, _ = io.Copy(io.Discard, c)
										close(done)
									}()
									select {
									case <-done:
									case <-stop:
									}
									c.Close()
								}
								select {
								case <-stop:
									return
								case <-time.After(time.Second):
								}
							}
						})
					}
					time.Sleep(500 * time.Millisecond)
					other := *clientFrom("127.0.0.3")
					other.Timeout = within
					for begun := time.Now(); time.Since(begun) < 5*time.Second; time.Sleep(100 * time.Millisecond) {
						other.CloseIdleConnections()
						resp, err := other.Get("http://" + to + "/-/healthz")
						if err != nil {
							t.Errorf("another client: %v", err)
							break
						}
						resp.Body.Close()
						if resp.StatusCode != http.StatusOK {
							t.Errorf("another client: %s", resp.Status)
							break
						}
					}
					close(stop)
					hoard.Wait()
				})
			}
		}
	}
}

// TestAttackLists sends expensive requests as fast as it can. The server must respond with 429, and
// another client must get responses.
func TestAttackLists(t *testing.T) {
	s := start(t)
	own := s.served(t)
	s.nomen(t, "authority", "put", "urn:x-own", "--owner", "a", "--owner", "b", "--list")
	s.nomen(t, "authority", "put", "urn:x-res", "--owner", "a", "--owner", "b", "--fetch")
	s.nomen(t, "put", "urn:x-res:1", "http://127.0.0.1:1/")
	for _, request := range []string{
		"GET /-/list/urn:x-own HTTP/1.1", "HEAD /-/list/urn:x-own HTTP/1.1", "GET /-/timemap/urn:x-own:1 HTTP/1.1",
		"GET /-/timemap/link/urn:x-own:1 HTTP/1.1", "GET /?name=urn:x-own:1 HTTP/1.1", "GET /-/handler?uri=web%2Burn:x-own:1 HTTP/1.1",
		"GET /urn:x-res:1?s=I2R HTTP/1.1", "GET /uri-res/L2Ns?https://example.org/1 HTTP/1.1", "POST /-/resolve HTTP/1.1",
	} {
		t.Run(request, func(t *testing.T) {
			stop := s.answers(t, "127.0.0.3", own, http.StatusSeeOther, within)
			from := fmt.Sprintf("127.0.1.%d", 1+time.Now().UnixNano()%250)
			limited := 0
			c := dial(t, from, s.public)
			r := bufio.NewReader(c)
			method, _, _ := strings.Cut(request, " ")
			for range 200 {
				fields := "Host: localhost\r\n"
				if method == "POST" {
					fields += "Content-Type: text/uri-list\r\nContent-Length: 0\r\n"
				}
				if _, err := fmt.Fprintf(c, "%s\r\n%s\r\n", request, fields); err != nil {
					t.Fatal(err)
				}
				_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
				resp, err := http.ReadResponse(r, &http.Request{Method: method})
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				if resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") != "" {
					limited++
				}
				if resp.Close {
					c = dial(t, from, s.public)
					r = bufio.NewReader(c)
				}
			}
			if limited < 100 {
				t.Errorf("%d of 200 requests got 429, want most", limited)
			}
			stop()
		})
	}
}
