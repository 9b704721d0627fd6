package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/conform"
)

const conformLong = `Conform sends requests to a resolver and checks its responses against the standards of name
resolution. It works with any resolver, not only nomen.

TARGET is HOST, HOST:PORT or an http or https URL; the default port of HOST is 4500. If the
resolver is below a path, give the URL with this path.

A profile is the set of cases for one standard. The profiles are 1995
(draft-ietf-uri-yaurn-00), thttp (RFC 2169), rfc2483 (the services of RFC 2483, requested as
in RFC 2169), web (HTTP, RFC 8141), memento (RFC 7089), linkset (RFC 9264), signposting (FAIR
Signposting), ezid (the API of EZID), handle (the API of Handle servers) and ark (descriptions
of ARKs). By default conform tries all profiles. The cases of a profile that the server does
not offer count as not applicable.

--name, --retired, --moved and --absent give the names to try, as URIs or as ElementIDs
(the part of a name after the prefix of --authority). Without --name, the command asks the
resolver for its list of names (urn+a) and takes the first three. No request changes
anything. Some requests have the unknown method RESOLVE, which the resolver should reject.

Each case passes, fails or is not applicable, with the reason. For failures, or with -v
for all cases, the command prints what it sent (>) and received (<), with bytes other
than printable ASCII escaped. --list prints the cases and sends nothing.

The exit status is 1 if a case failed or if no case applied.`

type conforming struct {
	*cli
	options  conform.Options
	profiles string
	list     bool
	junit    string
	roots    string
	insecure bool
}

func (c *cli) conformCommand() *cobra.Command {
	r := &conforming{cli: c}
	cmd := &cobra.Command{
		Use:   "conform TARGET",
		Short: "check a resolver against the specifications",
		Long:  conformLong,
		Example: `  nomen conform localhost:4500
  nomen conform --profile 1995 --name alb002 urn.example.org
  nomen conform --name urn:dns:example.org:alb002 --moved urn:dns:example.org:alb001 https://names.example.org/
  nomen conform --junit report.xml --retired old7 --authority urn:dns:example.org 192.0.2.1:4500
  nomen conform --list --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if r.list {
				return noArguments(cmd, args)
			}
			return arguments(1, 1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	o := &r.options
	f.StringVar(&r.profiles, "profile", "", "comma-separated profiles to try (default all that the server offers)")
	f.StringArrayVar(&o.Names, "name", nil, "name that the server knows (default from urn+a)")
	f.StringVar(&o.Authority, "authority", "", "prefix of the names, such as urn:dns:example.org (default detected)")
	f.StringVar(&o.Retired, "retired", "", "name that was retired without a successor")
	f.StringVar(&o.Moved, "moved", "", "name that was retired and has a successor")
	f.StringVar(&o.Absent, "absent", conform.DefaultAbsent, "name that the server does not know")
	f.StringVar(&o.Landing, "landing", "", "URL or path of the landing page of the first name (default what the name redirects to)")
	f.StringVar(&o.TimeGate, "timegate", "", "URL of a Memento TimeGate; the URL of a name is appended to it")
	f.DurationVar(&o.Timeout, "timeout", conform.DefaultTimeout, "timeout of one request")
	f.StringVar(&r.roots, "ca", "", "PEM file of certificates to trust (default the system's)")
	f.BoolVar(&r.insecure, "insecure", false, "do not verify the server's certificate")
	f.BoolVar(&r.list, "list", false, "list the cases and send nothing")
	f.StringVar(&r.junit, "junit", "", "write a JUnit report to this file")
	return cmd
}

func (r *conforming) run(ctx context.Context, args []string) error {
	if r.profiles != "" {
		var err error
		if r.options.Profiles, err = conform.ParseProfiles(r.profiles); err != nil {
			return usagef("--profile: %w", err)
		}
	}
	if r.list {
		return r.listCases()
	}
	r.options.Target = args[0]
	if err := r.trust(); err != nil {
		return err
	}
	var count conform.Count
	var results []conform.Result
	var failed error // from writing results
	subject, err := conform.Run(ctx, r.options, func(one conform.Result) {
		count.Add(one)
		one.Detail += optionFor(one.Missing)
		results = append(results, one)
		if failed == nil {
			failed = r.show(one)
		}
	})
	switch {
	case errors.As(err, new(*conform.OptionError)):
		return usageError{err}
	case errors.Is(err, conform.ErrNoNames):
		return usagef("%w; give a name with --name", err)
	case err == nil:
		err = failed
	}
	if err != nil {
		return err
	}
	return r.end(subject, count, results)
}

func (r *conforming) trust() error {
	config := &tls.Config{InsecureSkipVerify: r.insecure} //nolint:gosec // on request
	if r.roots != "" {
		pem, err := os.ReadFile(r.roots)
		if err != nil {
			return err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return usagef("--ca: %s: no PEM certificate found", r.roots)
		}
	}
	r.options.TLS = config
	return nil
}

func (r *conforming) listCases() error {
	for _, one := range conform.Cases() {
		if chosen := r.options.Profiles; len(chosen) > 0 && !slices.Contains(chosen, one.Profile) {
			continue
		}
		if err := r.say(one, "%s\t%s\t%s\t%s\t%s", one.Profile, one.ID, one.Force, one.Source, one.Words); err != nil {
			return err
		}
	}
	return nil
}

func (r *conforming) show(one conform.Result) error {
	if r.json {
		return r.printJSON(one)
	}
	return conform.WriteText(r.out, one, r.verbose)
}

func (r *conforming) end(s conform.Subject, count conform.Count, results []conform.Result) error {
	err := r.say(struct {
		conform.Subject
		conform.Count
	}{s, count}, "%s", count)
	if err == nil && r.junit != "" {
		err = writeJUnit(r.junit, s, results)
	}
	switch {
	case err != nil:
		return err
	case count.Failed > 0:
		return errNo
	case count.Passed == 0:
		fmt.Fprintf(r.err, "nomen: %s: nothing was checked: the server offers none of the profiles for these names; -v shows its responses, --name chooses other names\n", r.options.Target)
		return errNo
	}
	return nil
}

func writeJUnit(file string, s conform.Subject, results []conform.Result) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(conform.WriteJUnit(f, s, results), f.Close())
}
