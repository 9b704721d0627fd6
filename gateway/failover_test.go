package gateway_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
)

// dying is a location that is dead if the value is set.
type dying struct{ atomic.Bool }

const dyingPage = "https://there.example/page"

func (d *dying) Key(location string) string { return "link " + location }

func (d *dying) Dead(location string) (since, changed time.Time, dead bool) {
	return time.Unix(1e9, 0), time.Unix(1e9, 0), d.Load() && location == dyingPage
}

// TestFailover checks that a gateway passes on which location is dead at the server of the name: each
// question gets the archived copy while the location is dead, and the location before and afterwards.
func TestFailover(t *testing.T) {
	const copied = "https://archive.example/page"
	n := name.MustParse("urn:dns:there.example:x")
	var dead dying
	far := serve(t, fill(t,
		[]*store.Record{{Name: n, Spelling: n.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: dyingPage}, {URL: copied, Rel: "archive"}}}},
		[]*store.Authority{{Prefix: name.MustParsePrefix("urn:dns:there.example"), Owners: []string{"a", "b"}, Policy: store.Policy{Failover: store.FailoverArchive, MaxAge: 3600}}},
	), func(o *server.Options) { o.Resolver = resolve.New(o.Store, resolve.Options{Dead: &dead}) })
	s := fill(t, nil, nil)
	near := serve(t, s, world(t, s, own("127.0.0.0/8"), client.Options{Port: far.Port()}))
	for _, is := range []bool{false, true, false, true} {
		dead.Store(is)
		want, other := dyingPage, copied
		if is {
			want, other = copied, dyingPage
		}
		for _, request := range []string{
			"GET /urn:dns:there.example:x HTTP/1.1\r\nHost: near.example\r\nConnection: close\r\n\r\n",
			"GET urn:dns:there.example:x HTTP/1.0\r\n\r\n",
			"GET /uri-res/N2L?urn:dns:there.example:x HTTP/1.0\r\n\r\n",
			"GET /urn:dns:there.example:x?s=I2Ls HTTP/1.1\r\nHost: near.example\r\nAccept: text/uri-list\r\nConnection: close\r\n\r\n",
			"GET /urn:dns:there.example:x?s=I2C HTTP/1.1\r\nHost: near.example\r\nAccept: application/json\r\nConnection: close\r\n\r\n",
		} {
			got := exchange(t, near, request)
			at, second := strings.Index(got, want), strings.Index(got, other)
			if at < 0 || second >= 0 && second < at {
				t.Errorf("dead %v: %q: got\n%s\nwant %s first", is, request, got, want)
			}
		}
	}
}
