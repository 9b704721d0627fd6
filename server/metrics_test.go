package server

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen/gateway"
)

// Without the option, the public listener does not show the metrics, through any door.
func TestMetricsAreNotPublic(t *testing.T) {
	door, err := gateway.NewAccessControl(gateway.Access{Policy: gateway.All})
	if err != nil {
		t.Fatal(err)
	}
	forward := gateway.NewForward(gateway.ForwardOptions{Access: door})
	defer forward.Close()
	s, _ := newTestServer(t, func(o *Options) { o.PublicURL, o.Forward = "http://localhost/names", forward })
	l := listen(t, s)
	own := "http://" + l.Public.String()
	for _, request := range []string{
		"GET /-/metrics HTTP/1.0\r\n\r\n",
		"HEAD /-/metrics?x=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		"GET /names/-/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		"GET /-/metrics\r\n", "GET -/metrics HTTP/1.0\r\n\r\n", "GET -/metrics\r\n",
		"GET " + own + "/-/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		"GET http://localhost/-/metrics HTTP/1.0\r\nHost: localhost\r\n\r\n",
		"GET /-/%6Detrics HTTP/1.0\r\n\r\n", "GET //-/metrics HTTP/1.0\r\n\r\n", "GET /-//metrics HTTP/1.0\r\n\r\n",
		"OPTIONS /-/metrics HTTP/1.0\r\n\r\n", "GET /uri-res/N2R?/-/metrics HTTP/1.0\r\n\r\n",
	} {
		got := exchange(t, l.Public, request)
		if strings.Contains(got, "go_goroutines") || strings.Contains(got, " 200 ") {
			t.Errorf("%q: got %q", request, got)
		}
	}
}

// The metrics are shown on the admin listener.
func TestMetricsOfAdminListener(t *testing.T) {
	s, _ := newTestServer(t, nil)
	l := listen(t, s)
	if got := exchange(t, l.Admin, "GET /-/metrics HTTP/1.0\r\nHost: localhost\r\n\r\n"); !strings.Contains(got, "\ngo_goroutines ") {
		t.Errorf("got %q", got)
	}
}
