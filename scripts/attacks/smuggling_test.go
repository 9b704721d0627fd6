//go:build attack

package attacks

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// statusLine matches the status lines of the responses on a connection.
var statusLine = regexp.MustCompile(`(?m)^HTTP/1\.[01] (\d{3}) `)

// TestAttackSmuggling sends requests to both listeners. Each request hides a second one, because
// two parsers can disagree about where the first request ends. There must be at most one response,
// and nothing after it (RFC 9112, 6.1 and 11.2). The admin listener uses only net/http. If a
// request has a length and chunks, net/http silently ignores the length: it answers the request as
// one in chunks, and closes the connection.
func TestAttackSmuggling(t *testing.T) {
	const hidden = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
	head := func(version, fields string) string {
		return "POST /-/resolve HTTP/" + version + "\r\nHost: localhost\r\n" + fields + "\r\n"
	}
	s := start(t)
	for _, tt := range []struct {
		name, send, want string
		admin            string // status at the admin listener, if it differs
	}{
		{"length and chunks", head("1.1", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n" + hidden, "400", "404"},
		{"chunks and length", head("1.1", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n") + "0\r\n\r\n" + hidden, "400", "404"},
		{"chunks in HTTP/1.0", head("1.0", "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n" + hidden, "400", "404"},
		{"two lengths", head("1.1", "Content-Length: 0\r\nContent-Length: 44\r\n") + hidden, "400", ""},
		{"list of lengths", head("1.1", "Content-Length: 0, 44\r\n") + hidden, "400", ""},
		{"signed length", head("1.1", "Content-Length: +0\r\n") + hidden, "400", ""},
		{"negative length", head("1.1", "Content-Length: -1\r\n") + hidden, "400", ""},
		{"hexadecimal length", head("1.1", "Content-Length: 0x0\r\n") + hidden, "400", ""},
		{"unknown coding", head("1.1", "Transfer-Encoding: xchunked\r\n") + "0\r\n\r\n" + hidden, "501", ""},
		{"identity", head("1.1", "Transfer-Encoding: identity\r\n") + hidden, "501", ""},
		{"chunked twice", head("1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n" + hidden, "501", ""},
		{"coding hidden by a control", head("1.1", "Transfer-Encoding: \x0bchunked\r\n") + "0\r\n\r\n" + hidden, "400", ""},
		{"space before the colon", head("1.1", "Transfer-Encoding : chunked\r\nContent-Length: 5\r\n") + "0\r\n\r\n" + hidden, "400", ""},
		{"space before the colon of the length", head("1.1", "Content-Length : 5\r\n") + "0\r\n\r\n" + hidden, "400", ""},
		{"folded coding", head("1.1", "Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n") + "0\r\n\r\n" + hidden, "400", "404"},
		{"bare CR in a field", head("1.1", "X: a\rTransfer-Encoding: chunked\r\n") + "0\r\n\r\n" + hidden, "400", ""},
		{"NUL in a name", head("1.1", "Content-Length\x00: 5\r\n") + "0\r\n\r\n" + hidden, "400", ""},
		{"two hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: other.example\r\n\r\n", "400", ""},
		{"no host", "GET / HTTP/1.1\r\n\r\n", "400", ""},
		{"chunk size too large", head("1.1", "Transfer-Encoding: chunked\r\n") + "fffffffffffffffff\r\n" + hidden, "4..", ""},
		{"chunk size of a sign", head("1.1", "Transfer-Encoding: chunked\r\n") + "-1\r\n" + hidden, "4..", ""},
		{"body of a GET", fmt.Sprintf("GET /-/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(hidden), hidden), "200", ""},
	} {
		for listener, address := range map[string]string{"public": s.public, "admin": s.admin} {
			want := tt.want
			if listener == "admin" {
				want = cmp.Or(tt.admin, want)
			}
			t.Run(listener+"/"+tt.name, func(t *testing.T) {
				c := dial(t, "", address)
				_ = c.SetDeadline(time.Now().Add(2 * time.Second))
				if _, err := io.WriteString(c, tt.send); err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(c)
				found := statusLine.FindAllStringSubmatch(string(text), -1)
				if errors.Is(err, os.ErrDeadlineExceeded) || len(found) != 1 || !regexp.MustCompile(want).MatchString(found[0][1]) {
					t.Errorf("got %d answers, want one of %s, then the end of the connection (%v):\n%s", len(found), want, err, strings.ReplaceAll(string(text), "\r", ""))
				}
			})
		}
	}
}
