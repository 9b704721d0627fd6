package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/publish"
	"github.com/nomen-project/nomen/tlog/witness"
)

// publishedFile contains a copy of the state of the published log. It is in the data directory, but
// outside the store, so that it is preserved if the store is replaced by a backup.
const publishedFile = "log.json"

const publishLeaseKey = "log"

// publishLease is the duration of the lease for publishing the log. A node of a database must renew
// the lease before it expires.
const publishLease = 15 * time.Second

type publishFlags struct {
	key              string // file or credential
	entries, content bool
	witnesses        []string
	quorum           int
	timeout          time.Duration
}

func (o *publishFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.key, "log.key", "", "file with the key that signs the published log, or credential:NAME; 'nomen log key new' makes one (default none: the log is not published)")
	f.BoolVar(&o.entries, "log.entries", false, "publish the entries too: the names of all changes, with times and digests. Bundles with names that are reserved, or that their authority does not list, are not served")
	f.BoolVar(&o.content, "log.content", false, "receipts have the content of changes also if it says who made the change, and why")
	f.StringArrayVar(&o.witnesses, "log.witness", nil, "witness to ask for cosignatures: its public key, a space, and its URL (default none)")
	f.IntVar(&o.quorum, "log.quorum", 0, "number of cosignatures that a checkpoint should have; with fewer, the server warns (default 0)")
	f.Lookup("log.quorum").DefValue = "0"
	f.DurationVar(&o.timeout, "log.timeout", witness.DefaultTimeout, "how long to wait for witnesses before a checkpoint is published")
}

func (o *publishFlags) policy() (p witness.Policy, err error) {
	p.Need, p.Timeout = o.quorum, o.timeout
	for _, text := range o.witnesses {
		w, err := witness.Parse(text)
		if err != nil {
			return p, usagef("serve: --log.witness: %w", err)
		}
		p.Witnesses = append(p.Witnesses, w)
	}
	if err := p.Check(); err != nil {
		return p, usagef("serve: --log.quorum %d: %w", o.quorum, err)
	}
	return p, nil
}

func (f *serveFlags) checkPublish() error {
	_, err := f.publish.policy()
	if f.publish.timeout <= 0 {
		err = errors.Join(err, usagef("serve: --log.timeout %v: must be positive", f.publish.timeout))
	}
	if f.publish.key == "" {
		return err
	}
	skey, keyErr := readLogKey(f.publish.key)
	if keyErr != nil {
		return errors.Join(err, usagef("serve: --log.key: %w", keyErr))
	}
	want := originOf(f.publicURL)
	if name := keyName(skey); want == "" {
		err = errors.Join(err, usagef("serve: --log.key needs --public-url, from which the origin of the log follows"))
	} else if name != want {
		err = errors.Join(err, usagef("serve: --log.key: the key is for the log %q, but with this --public-url the log is %q; make a key for it with 'nomen log key new'", name, want))
	}
	return err
}

// originOf returns the origin of the log of a server. The origin is the public URL without its
// scheme, followed by the path of the log. The result is "" if publicURL is not a URL.
func originOf(publicURL string) string {
	_, rest, ok := strings.Cut(publicURL, "://")
	if !ok {
		return ""
	}
	return strings.TrimRight(rest, "/") + "/-/log"
}

func readLogKey(name string) (skey string, err error) {
	b, err := readCredential(name)
	if err != nil {
		return "", err
	}
	skey = strings.TrimSpace(string(b))
	if _, err := tlog.PublicKey(skey); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return skey, nil
}

func keyName(skey string) string {
	vkey, _ := tlog.PublicKey(skey)
	name, _, _ := strings.Cut(vkey, "+")
	return name
}

func (c *cli) publishOptions(s store.Reader, key string) (o publish.Options, err error) {
	if o.Store, err = publish.SourceOf(s); err != nil {
		return o, err
	}
	if key != "" {
		if o.Key, err = readLogKey(key); err != nil {
			return o, err
		}
	}
	o.File, o.Now = filepath.Join(c.data, publishedFile), clock
	o.Authorities = store.NewTable(s, clock, authorityLife)
	return o, nil
}

// startPublishing publishes the log in the background until end is called. Without --log.key, the
// result is nil.
func (c *cli) startPublishing(ctx context.Context, f *serveFlags, s store.Store, table *store.Table, log *slog.Logger) (_ *publish.Log, end func(), err error) {
	if f.publish.key == "" {
		return nil, func() {}, nil
	}
	o, err := c.publishOptions(s, f.publish.key)
	if err != nil {
		return nil, nil, fmt.Errorf("--log.key: %w", err)
	}
	if o.Policy, err = f.publish.policy(); err != nil {
		return nil, nil, err
	}
	o.Authorities, o.Entries, o.Content, o.ReadOnly, o.Log = table, f.publish.entries, f.publish.content, f.readOnly, log
	if c.inDatabase() && !f.readOnly {
		o.Lease = c.leasePublishing(o.Store)
	}
	l, err := publish.New(o)
	if err != nil {
		return nil, nil, fmt.Errorf("--log.key: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { l.Run(ctx) })
	return l, func() {
		cancel()
		running.Wait()
		if o.Lease != nil { // so that another node continues at once
			free, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_, _ = o.Store.Lease(free, publishLeaseKey, c.instance, 0) // otherwise the lease expires
		}
	}, nil
}

// leasePublishing returns a function that reports whether this node of a database may publish the
// log (see leaseOf).
func (c *cli) leasePublishing(vault store.Vault) func(context.Context) bool {
	return c.leaseOf(vault, publishLeaseKey, publishLease)
}
