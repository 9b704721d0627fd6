package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/net/netutil"

	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/witness"
)

const witnessLong = `A witness remembers the last checkpoint of each log that it knows, and cosigns only
checkpoints that continue it. With the cosignatures of several witnesses, a log cannot show
different histories to different people. Libraries can be witnesses of each other:
docs/howto/witness-logs.md.`

func (c *cli) witnessCommand() *cobra.Command {
	return groupOf("witness", "cosign the logs of others", witnessLong, c.witnessServeCommand())
}

const witnessServeLong = `Serve answers requests for cosignatures (https://c2sp.org/tlog-witness) at
/add-checkpoint, and shows the public key of the witness and its logs at /. It knows the
logs whose public keys --log gives, and no others. It never connects to them: the logs send
their checkpoints.

The directory of --state has a file for each log, with the checkpoint that was cosigned
last. Do not restore it from a backup: a witness that forgets what it cosigned can cosign
another history. If a log has signed two checkpoints of the same size, the witness keeps
both in a file that ends with .fork, as evidence.

A witness that is reachable from the Internet should be behind a web server with HTTPS. It
does not need a data directory with names.`

// A witnessing holds the options of 'nomen witness serve'.
type witnessing struct {
	*cli
	key    string
	logs   []string
	listen string
	state  string
}

func (c *cli) witnessServeCommand() *cobra.Command {
	w := &witnessing{cli: c}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "cosign the checkpoints of logs",
		Long:  witnessServeLong,
		Example: `  nomen witness serve --key /etc/nomen/witness.key --log names.example.org/-/log+1b2c3d4e+AZq...
  nomen witness serve --key credential:witness.key --listen :4502 --state /var/lib/nomen/witness --log ...`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return w.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringVar(&w.key, "key", "", "file with the private key of the witness, or credential:NAME; 'nomen log key new --witness' makes one")
	f.StringArrayVar(&w.logs, "log", nil, "public key of a log to cosign")
	f.Var(newAddress(&w.listen, "127.0.0.1:4502", ""), "listen", "address on which the witness listens")
	f.StringVar(&w.state, "state", "", "directory for what was cosigned (default witness in the data directory)")
	return cmd
}

// Limits of the HTTP server of a witness.
const (
	witnessConnections = 500
	witnessHeaders     = 16 << 10 // length of the header fields of a request, in bytes
	witnessTimeout     = 20 * time.Second
	witnessDrain       = 5 * time.Second
)

func (w *witnessing) run(ctx context.Context) error {
	o := witness.Options{Dir: w.state, Log: w.logger(), Now: clock}
	if w.state == "" {
		o.Dir = filepath.Join(w.data, "witness")
	}
	switch {
	case w.key == "":
		return usagef("witness serve: --key is missing: 'nomen log key new --witness --name NAME FILE' makes a key")
	case len(w.logs) == 0:
		return usagef("witness serve: --log is missing: pass the public key of each log to cosign")
	}
	if err := w.readKey(&o); err != nil {
		return err
	}
	var err error
	if o.Logs, err = verifiersOf("log", w.logs); err != nil {
		return err
	}
	s, err := witness.New(o)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", w.listen)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	fmt.Fprintf(w.err, "nomen: witness at http://%s, public key %s\n", l.Addr(), o.Public)
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: witnessTimeout, ReadTimeout: witnessTimeout, WriteTimeout: witnessTimeout,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: witnessHeaders,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(netutil.LimitListener(l, witnessConnections)) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), witnessDrain)
		defer cancel()
		err = server.Shutdown(drain)
	}
	return errors.Join(err, s.Close())
}

func (w *witnessing) readKey(o *witness.Options) error {
	text, err := readCredential(w.key)
	if err != nil {
		return fmt.Errorf("--key: %w", err)
	}
	skey := strings.TrimSpace(string(text))
	if o.Public, err = tlog.PublicKey(skey); err != nil {
		return usagef("witness serve: --key: %w", err)
	}
	if o.Signer, err = tlog.NewSigner(skey, clock); err != nil {
		return usagef("witness serve: --key: %w", err)
	}
	if v, err := tlog.NewVerifier(o.Public); err != nil || !tlog.IsWitnessKey(v) {
		return usagef("witness serve: --key %q: this is the key of a log; a witness needs a key of its own ('nomen log key new --witness')", w.key)
	}
	return nil
}

func verifiersOf(option string, keys []string) ([]note.Verifier, error) {
	all := make([]note.Verifier, len(keys))
	for i, key := range keys {
		var err error
		if all[i], err = tlog.NewVerifier(strings.TrimSpace(key)); err != nil {
			return nil, usagef("--%s %.80q: %w", option, key, err)
		}
	}
	return all, nil
}
