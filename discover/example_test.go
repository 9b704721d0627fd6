package discover_test

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/discover/dnstest"
	"github.com/nomen-project/nomen/name"
)

func ExampleFinder_Find() {
	table, err := discover.ParseTable("urn:nbn:fi  names.example.org:80\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := discover.New(discover.Options{Table: table, Public: discover.Public(), Default: "https://names.example.org/"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for way, err := range f.Find(context.Background(), name.MustParse("urn:nbn:fi-fe2019")) {
		fmt.Println(way, err)
	}
	// Output:
	// authority names.example.org:80 <nil>
	// path https://urn.fi/{name} <nil>
	// path https://names.example.org/ <nil>
}

func ExampleParseEntry() {
	e, err := discover.ParseEntry("urn:nir https://www.normattiva.it/uri-res/ services=N2Ls")
	fmt.Println(e, err)
	_, err = discover.ParseEntry("urn:nir www.normattiva.it/uri-res/")
	fmt.Println(err)
	// Output:
	// urn:nir https://www.normattiva.it/uri-res/ services=I2Ls <nil>
	// discover: "urn:nir www.normattiva.it/uri-res/": offset 8: target: must be an http or https URL, HOST or HOST:PORT, optionally followed by /full or /element
}

func ExampleParseServices() {
	s, err := discover.ParseServices("THTTP+N2L+teleport")
	fmt.Println(s.Protocol, s.Names, s.Known(), s, err)
	// Output: thttp [I2L teleport] [I2L] thttp+I2L+teleport <nil>
}

func ExampleSubstitution_Apply() {
	s, err := discover.ParseSubstitution(`!^urn:cid:.+@([^\.]+\.)(.*)$!\2!i`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Apply("urn:cid:199606121851.1@bar.example.com"))
	// Output: example.com true
}

func ExampleZone_Records() {
	z := discover.Zone{
		Prefix: name.MustParsePrefix("urn:dns:example.org"), Host: "names.example.org", Port: discover.Port,
		TTL: time.Hour, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")},
	}
	records, err := z.Records()
	for _, r := range records {
		fmt.Println(r.Owner, r.TTL, r.Type, r.Data)
	}
	fmt.Println(err)
	// Output:
	// example.org. 3600 A 192.0.2.1
	// <nil>
}

func ExampleNewResolver() {
	server, err := dnstest.Start("names.example.org. IN A 192.0.2.1\n_thttp._tcp.example.org. IN SRV 1 2 4500 names.example.org.\nx.urn.arpa. IN NAPTR 1 2 \"u\" \"\" \"!.*!https://example.org/!\" .", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	r, err := discover.NewResolver(discover.ResolverOptions{Servers: []string{server.Addr}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	fmt.Println(discover.Addresses(ctx, r, "names.example.org"))
	fmt.Println(discover.HostAddresses(ctx, r, "192.0.2.7"))
	srv, _ := r.LookupSRV(ctx, "_thttp._tcp.example.org")
	fmt.Println(srv[0].Target, srv[0].Port)
	rules, _ := r.LookupNAPTR(ctx, "x.urn.arpa")
	fmt.Println(rules[0])
	differences, err := discover.Zone{Prefix: name.MustParsePrefix("urn:dns:example.org"), Host: "names.example.org"}.Check(ctx, r)
	fmt.Println(differences, err)
	// Output:
	// [192.0.2.1] <nil>
	// [192.0.2.7] <nil>
	// names.example.org 4500
	// 1 2 "u" "" "!.*!https://example.org/!" .
	// [example.org. A: missing: want 192.0.2.1] <nil>
}
