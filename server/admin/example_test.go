package admin_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A program serves the admin API on a listener of its own, and creates the first token.
func ExampleNew() {
	ctx := context.Background()
	st := memstore.New()
	reg, resolver := registrar.New(st, registrar.Options{}), resolve.New(st, resolve.Options{})
	api, err := admin.New(admin.Options{Store: st, Registrar: reg, Resolver: resolver, Version: "1.0"})
	if err != nil {
		log.Fatal(err)
	}
	srv, err := server.New(server.Options{Store: st, Resolver: resolver, Admin: api, Clock: reg.ClockProblem})
	if err != nil {
		log.Fatal(err)
	}
	l, err := srv.Listen(server.Listener{Address: "127.0.0.1:0", Admin: true})
	if err != nil {
		log.Fatal(err)
	}
	spelling, token := adminapi.NewToken(adminapi.AdministratorGrant(), time.Now())
	if _, err := st.Apply(ctx, []store.Change{{Token: token, Time: time.Now()}}); err != nil {
		log.Fatal(err)
	}
	c := &adminapi.Client{URL: "http://" + l.Admin.String(), Token: spelling}
	version, err := c.Version(ctx)
	fmt.Println(version.Version, err)
	fmt.Println(l.Shutdown(ctx))
	// Output:
	// 1.0 <nil>
	// <nil>
}
