package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/internal/systemd"
	"github.com/nomen-project/nomen/server/certificates"
	"github.com/nomen-project/nomen/server/metrics"
	"github.com/nomen-project/nomen/store"
)

type certificateFlags struct {
	tls             string // TLS mode of the listener of --listen
	tlsCert, tlsKey string // files
	acme            acmeFlags
}

func (o *certificateFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.tls, "tls", "", "TLS of the public listener: off, files, or acme for certificates that the server orders (default files if --tls-cert is set)")
	f.StringVar(&o.tlsCert, "tls-cert", "", "PEM file with the certificate of the public listener (default none: no TLS)")
	f.StringVar(&o.tlsKey, "tls-key", "", "PEM file with the private key of the certificate")
	o.acme.register(f)
}

func (o *certificateFlags) tlsMode() string {
	switch {
	case o.tls != "":
		return o.tls
	case o.tlsCert != "" || o.tlsKey != "":
		return tlsFiles
	}
	return tlsOff
}

// checkTLS checks the TLS mode of a listener. If the mode is tlsFiles, it also determines the
// certificate and key files and checks their content.
func (s *listenSpec) checkTLS(o *certificateFlags, publicURL string) error {
	switch s.tls {
	case tlsOff:
		return nil
	case tlsFiles:
		return s.checkFiles(o)
	case tlsACME:
		return o.acme.check(publicURL)
	}
	if s.place != "" {
		return nil // already reported
	}
	return fmt.Errorf("--tls %q: must be off, files or acme", s.tls)
}

func (s *listenSpec) checkFiles(o *certificateFlags) error {
	options := "cert, key"
	if s.cert == "" {
		s.cert, s.key, options = o.tlsCert, o.tlsKey, "--tls-cert, --tls-key"
	}
	if s.cert == "" || s.key == "" {
		return errors.New("--tls-cert and --tls-key must be set together")
	}
	for _, file := range []*string{&s.cert, &s.key} {
		path, err := systemd.Path(*file)
		if err != nil {
			return fmt.Errorf("%s: %w", options, err)
		}
		*file = path
	}
	if _, err := tls.LoadX509KeyPair(s.cert, s.key); err != nil {
		return fmt.Errorf("%s: %w", options, err)
	}
	return nil
}

type acmeFlags struct {
	email, directory, root  string
	externalID, externalKey string
	terms, unchecked        bool
}

func (o *acmeFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.email, "acme-email", "", "mail address to which the certificate authority sends messages")
	f.StringVar(&o.directory, "acme-directory", certificates.LetsEncrypt, "URL of the directory of the certificate authority")
	f.StringVar(&o.root, "acme-root", "", "PEM file of certificates to trust at the URL of --acme-directory (default the system's)")
	f.StringVar(&o.externalID, "acme-eab-id", "", "ID of the external account that the certificate authority assigned (default none)")
	f.StringVar(&o.externalKey, "acme-eab-key-file", "", "file with the key of the external account, or credential:NAME")
	f.BoolVar(&o.terms, "acme-accept-terms", false, "accept the terms of service of the certificate authority; required for --tls acme")
	f.BoolVar(&o.unchecked, "acme-unchecked", false, "order a certificate without first checking that the host leads to this server")
}

func (o *acmeFlags) check(publicURL string) error {
	if !o.terms {
		return errors.New("tls by acme needs --acme-accept-terms: the authority issues certificates only to those who accept its terms of service. Read them (for Let's Encrypt: https://letsencrypt.org/repository/), then set this option")
	}
	if (o.externalID == "") != (o.externalKey == "") {
		return errors.New("--acme-eab-id and --acme-eab-key-file must be set together")
	}
	if u, err := url.Parse(o.directory); err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("--acme-directory: invalid URL %q: want for example %s", o.directory, certificates.LetsEncrypt)
	}
	if name, domain, ok := strings.Cut(o.email, "@"); o.email != "" && (!ok || name == "" || domain == "" || strings.ContainsAny(o.email, " \t\r\n,<>?&")) {
		return fmt.Errorf("--acme-email: invalid address %q: want for example names@example.org", o.email)
	}
	if _, err := o.options(); err != nil {
		return err
	}
	if host := hostOf(publicURL); publicURL != "" && !certificates.CanOrder(host) {
		return fmt.Errorf("--public-url %q: no authority issues a certificate for the host %q: want a DNS name such as https://names.example.org, or use certificate files", publicURL, host)
	}
	return nil
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return store.CanonicalHost(u.Host)
}

// options converts the flags to options of a certificate manager. The caller must set the other
// options.
func (o *acmeFlags) options() (m certificates.Options, err error) {
	m = certificates.Options{Directory: o.directory, Email: o.email, AcceptTerms: o.terms, AccountID: o.externalID, Unchecked: o.unchecked}
	if o.root != "" {
		text, err := readCredential(o.root)
		if err != nil {
			return m, fmt.Errorf("--acme-root: %w", err)
		}
		if m.Roots = x509.NewCertPool(); !m.Roots.AppendCertsFromPEM(text) {
			return m, fmt.Errorf("--acme-root: %s: no certificate found; want a PEM file", o.root)
		}
	}
	if o.externalKey != "" {
		text, err := readCredential(o.externalKey)
		if err == nil {
			m.AccountKey, err = certificates.ParseAccountKey(string(text))
		}
		if err != nil {
			return m, fmt.Errorf("--acme-eab-key-file: %w", err)
		}
	}
	return m, nil
}

// readCredential reads the file for the value of an option. The value is a path, or refers to a
// credential of the systemd service (LoadCredential in the unit).
func readCredential(name string) ([]byte, error) {
	path, err := systemd.Path(name)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

type serverCertificates struct {
	manager *certificates.Manager // nil if no listener has certificates by ACME
	files   []*certificates.Files
	public  atomic.Pointer[string] // --public-url
}

// openCertificates prepares the certificates of all listeners, and sets the TLS configurations of
// the listeners. It also registers the certificates for the metrics in seen.
func (c *cli) openCertificates(f *serveFlags, s servingStore, table *store.Table, seen *seen, log *slog.Logger) (*serverCertificates, error) {
	v := &serverCertificates{}
	v.public.Store(&f.publicURL)
	byName := map[[2]string]*certificates.Files{}
	for i := range f.specs {
		spec := &f.specs[i]
		switch spec.tls {
		case tlsFiles:
			pair := [2]string{spec.cert, spec.key}
			files := byName[pair]
			if files == nil {
				var err error
				if files, err = certificates.NewFiles(spec.cert, spec.key, clock, log); err != nil {
					return nil, c.listenError(spec, ".tls", err)
				}
				byName[pair], v.files = files, append(v.files, files)
			}
			spec.secure = files.TLS()
		case tlsACME:
			if v.manager == nil {
				if err := v.openManager(f, s, table, &seen.tasks, log); err != nil {
					return nil, c.listenError(spec, ".tls", err)
				}
			}
			spec.secure = v.manager.TLS()
		}
	}
	for i := range f.specs {
		if v.manager != nil && !f.specs[i].admin {
			f.specs[i].wellKnown = v.manager.WellKnown
		}
	}
	if err := f.requestCertificates(); err != nil {
		return nil, err
	}
	seen.certificates.Store(v)
	return v, nil
}

func (v *serverCertificates) openManager(f *serveFlags, s servingStore, table *store.Table, tasks *metrics.Tasks, log *slog.Logger) error {
	o, err := f.acme.options()
	if err != nil {
		return err
	}
	if o.Vault, err = store.VaultOf(s); err != nil {
		return err
	}
	o.Hosts = func(ctx context.Context) ([]string, error) { return v.hosts(ctx, table) }
	o.Now, o.Log, o.UserAgent = clock, log, "nomen/"+versionText()
	o.Ordered = func(err error) { tasks.Ran(metrics.TaskCertificate, clock(), err) }
	if f.publicURL == "" {
		log.Warn("certificates are ordered only for the hosts of authorities: --public-url is not set")
	}
	v.manager, err = certificates.New(o)
	return err
}

func (v *serverCertificates) hosts(ctx context.Context, table *store.Table) ([]string, error) {
	set, err := table.Set(store.WithStaleness(ctx), time.Time{})
	if err != nil {
		return nil, err
	}
	all := []string{hostOf(*v.public.Load())}
	for _, a := range set.All() {
		all = append(all, a.Hosts...)
	}
	return all, nil
}

func (v *serverCertificates) sources() (all []certificates.Source) {
	for _, f := range v.files {
		all = append(all, f)
	}
	if v.manager != nil {
		all = append(all, v.manager)
	}
	return all
}

// start reloads and renews certificates in the background until stop is called.
func (v *serverCertificates) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, s := range v.sources() {
		running.Go(func() { s.Run(ctx) })
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// reload reads the certificate files again and retries failed ACME orders. It also sets the public
// URL, for whose host certificates are ordered.
func (v *serverCertificates) reload(publicURL string) error {
	v.public.Store(&publicURL)
	var errs []error
	for _, s := range v.sources() {
		errs = append(errs, s.Reload())
	}
	return errors.Join(errs...)
}

// expiry returns the earliest expiry time of all certificates, or the zero time if there are no
// certificates.
func (v *serverCertificates) expiry() (first time.Time) {
	for _, s := range v.sources() {
		for _, c := range s.Status() {
			if !c.Expires.IsZero() && (first.IsZero() || c.Expires.Before(first)) {
				first = c.Expires
			}
		}
	}
	return first
}
