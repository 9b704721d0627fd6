package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/client/cache"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A server has no names of its own and resolves those of others for one network. A
// server that everyone may use needs client.Options.Guard too, so that it connects only
// to public addresses.
func ExampleNewForeignResolver() {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/uri-list")
		fmt.Fprint(w, "https://example.org/albums/2\r\n")
	}))
	defer other.Close()
	outside, err := client.New(client.Options{Via: other.URL, Retries: -1}) // a chain of failing servers is asked once
	if err != nil {
		log.Fatal(err)
	}
	defer outside.Close()

	own := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	access, err := gateway.NewAccessControl(gateway.Access{Policy: gateway.Own, Own: own})
	if err != nil {
		log.Fatal(err)
	}
	s := memstore.New()
	defer s.Close()
	world, err := gateway.NewForeignResolver(gateway.ForeignOptions{
		Inner:       resolve.New(s, resolve.Options{}),
		Authorities: store.NewTable(s, time.Now, time.Second),
		Other:       cache.New(outside, cache.NewMemory(cache.Limits{}), cache.Options{Shared: true}),
		Access:      access,
	})
	if err != nil {
		log.Fatal(err)
	}
	q := nomen.Question{Name: name.MustParse("urn:example:alb002"), Service: nomen.I2Ls}
	for _, addr := range []string{"192.0.2.1", "198.51.100.1"} {
		ctx := gateway.WithClient(context.Background(), &gateway.Client{Addr: netip.MustParseAddr(addr)})
		a, err := world.Resolve(ctx, q)
		var no *nomen.Error
		if errors.As(err, &no) {
			fmt.Println(addr, no.Kind)
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(addr, a.Locations[0].URL)
	}
	// Output:
	// 192.0.2.1 https://example.org/albums/2
	// 198.51.100.1 denied
}
