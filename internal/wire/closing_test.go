package wire

import (
	"bufio"
	"io"
	"net/http"
	"testing"
	"time"
)

// If keep-alive is switched off after the head of a response was sent, the client may send another
// request on the connection. It gets the response, and then the end of the connection at once.
func TestCloseWhileAnswering(t *testing.T) {
	const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, more := range []string{"", get, get[:10]} {
		own := listen(t)
		l := NewListener(own, Config{})
		sent, goOn := make(chan struct{}), make(chan struct{})
		server := &http.Server{ConnContext: ConnContext, ConnState: SetState}
		server.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "2")
			io.WriteString(w, "a")
			http.NewResponseController(w).Flush()
			close(sent)
			<-goOn
			io.WriteString(w, "b")
		})
		go server.Serve(l)
		c := dial(t, own.Addr().String())
		send(t, c, get)
		<-sent
		l.Close()
		server.SetKeepAlivesEnabled(false)
		send(t, c, more)
		close(goOn)
		c.SetReadDeadline(time.Now().Add(lastCall / 2))
		in := bufio.NewReader(c)
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if string(body) != "ab" || err != nil || r.Close {
			t.Errorf("after %q: %q, %v, Connection: close %v", more, body, err, r.Close)
		}
		if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil {
			t.Errorf("after %q, the connection ends with %q, %v", more, rest, err)
		}
		server.Close()
	}
}
