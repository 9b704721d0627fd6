package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/netip"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/client/cache"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
)

type gatewayFlags struct {
	names, proxy string
	own          []string
	connect      []uint
	gopher, host string
}

func (o *gatewayFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.names, "ask-others", "off", "resolve names of other resolvers for clients: off, own (only for --own-users) or all")
	f.StringVar(&o.proxy, "proxy", "off", "forward requests for other hosts: off, own (only for --own-users) or all")
	f.StringSliceVar(&o.own, "own-users", nil, "network of your own users, such as 192.0.2.0/24 (default none)")
	f.UintSliceVar(&o.connect, "connect", nil, "port that the proxy allows for CONNECT, such as 443 (default none)")
	f.Lookup("connect").DefValue = "" // the usage text has the default
	f.StringVar(&o.gopher, "gopher", "", "address of a listener for Gopher clients, such as :70 (default none)")
	f.StringVar(&o.host, "gopher-host", "", "HOST or HOST:PORT of this server in Gopher menus (default the local address of each connection)")
}

type gatewayServer struct {
	resolver  nomen.Resolver
	explainer *gateway.Explainer
	forward   *gateway.Forward
	close     []func() error
}

// openGateway creates the gateway. The gateway first asks the resolver inner, and then the
// resolvers of other authorities if clients may use them.
func (c *cli) openGateway(o *gatewayFlags, w *outside, inner nomen.Resolver, s store.Reader, table *store.Table, log *slog.Logger) (*gatewayServer, error) {
	names, proxy, err := o.access()
	if err != nil {
		return nil, usageError{fmt.Errorf("serve: %w", err)}
	}
	p := &gatewayServer{resolver: inner, explainer: &gateway.Explainer{Authorities: table, Store: s, Access: names, Log: log}}
	if names.Policy() != gateway.Off {
		if err := p.openForeign(w, names, table); err != nil {
			return nil, err
		}
	}
	if proxy.Policy() != gateway.Off {
		f := gateway.ForwardOptions{Access: proxy, Log: log}
		if f.DNS, err = w.flags.find.hosts(); err != nil {
			return nil, errors.Join(err, p.Close())
		}
		for _, port := range o.connect {
			f.Connect = append(f.Connect, uint16(port))
		}
		p.forward = gateway.NewForward(f)
		p.close = append(p.close, p.forward.Close)
	}
	return p, nil
}

// access returns the access controls of the gateway. The result names applies to names of other
// authorities, and proxy applies to forwarded requests.
func (o *gatewayFlags) access() (names, proxy *gateway.AccessControl, err error) {
	var own []netip.Prefix
	for _, text := range o.own {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, nil, fmt.Errorf("--own-users: invalid network %q: want an address and a length, such as 192.0.2.0/24", text)
		}
		own = append(own, p)
	}
	if len(o.connect) > 0 && gateway.Policy(o.proxy) == gateway.Off {
		return nil, nil, errors.New("--connect needs --proxy")
	}
	for _, port := range o.connect {
		if port == 0 || port > 65535 {
			return nil, nil, fmt.Errorf("--connect %d: must be a port between 1 and 65535", port)
		}
	}
	if names, err = gateway.NewAccessControl(gateway.Access{Policy: gateway.Policy(o.names), Own: own, Now: clock}); err != nil {
		return nil, nil, fmt.Errorf("--ask-others: %w (--own-users)", err)
	}
	if proxy, err = gateway.NewAccessControl(gateway.Access{Policy: gateway.Policy(o.proxy), Own: own, Now: clock}); err != nil {
		return nil, nil, fmt.Errorf("--proxy: %w (--own-users)", err)
	}
	return names, proxy, nil
}

// openForeign makes names of other institutions available to clients that the access control
// permits.
func (p *gatewayServer) openForeign(w *outside, door *gateway.AccessControl, table *store.Table) error {
	finder, dns, err := w.flags.find.finder(0, nil)
	if err != nil {
		return err
	}
	guarded := !w.flags.private || door.Policy() == gateway.All // clients from outside never reach private networks
	upstream, err := client.New(client.Options{Finder: finder, DNS: dns, Guard: guarded, Retries: -1, Now: clock})
	if err != nil {
		return err
	}
	p.close = append(p.close, func() error { upstream.Close(); return nil })
	kept := cache.New(upstream, cache.NewMemory(cache.Limits{}), cache.Options{Shared: true, Now: clock})
	p.explainer.Ways = ways(finder)
	p.resolver, err = gateway.NewForeignResolver(gateway.ForeignOptions{Inner: p.resolver, Authorities: table, Other: w.asks.Bound("others", kept), Access: door})
	return err
}

// ways returns a function that finds the resolvers of a name and converts them to facts for
// display.
func ways(f *discover.Finder) gateway.Ways {
	return func(ctx context.Context, n name.Name) iter.Seq2[gateway.Fact, error] {
		return func(yield func(gateway.Fact, error) bool) {
			for w, err := range f.Find(ctx, n) {
				if !yield(gateway.Fact{Name: w.String(), Value: w.How}, err) {
					return
				}
			}
		}
	}
}

// A gopherServer serves Gopher clients. Closing a nil gopherServer does nothing.
type gopherServer struct {
	gopher   *gateway.Gopher
	listener net.Listener
}

func (o *gatewayFlags) gopherAddress() (string, error) {
	if o.gopher == "" {
		return "", nil
	}
	address, err := completeAddress(o.gopher, "", strconv.Itoa(gateway.GopherPort))
	if err != nil {
		return "", usagef("serve: --gopher: %w", err)
	}
	return address, nil
}

func openGopher(o *gatewayFlags, p serverParts) (*gopherServer, error) {
	if o.gopher == "" {
		return nil, nil
	}
	address, err := o.gopherAddress()
	if err != nil {
		return nil, err
	}
	g := &gopherServer{}
	g.gopher, err = gateway.NewGopher(gateway.GopherOptions{
		Resolver: p.resolver, Store: p.store, Authorities: p.table, Host: o.host, Log: p.log, Counted: p.countGopher(o.names != "off"),
	})
	if err != nil {
		return nil, usageError{fmt.Errorf("serve: %w", err)}
	}
	if g.listener, err = net.Listen("tcp", address); err != nil {
		return nil, fmt.Errorf("serve: --gopher: %w", err)
	}
	go func() {
		if err := g.gopher.Serve(g.listener); err != nil && !errors.Is(err, net.ErrClosed) {
			p.log.Error("gopher listener failed", "err", err)
		}
	}()
	return g, nil
}

// Close closes the listener, and waits until the requests in progress are complete or ctx is done.
func (g *gopherServer) Close(ctx context.Context) error {
	if g == nil {
		return nil
	}
	var errs []error
	if err := g.gopher.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		errs = append(errs, err)
	}
	if err := g.listener.Close(); !errors.Is(err, net.ErrClosed) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (p *gatewayServer) into(o *server.Options) {
	o.Resolver, o.Explainer, o.Forward = p.resolver, p.explainer, p.forward
}

func (p *gatewayServer) Close() error {
	var errs []error
	for _, c := range p.close {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}
