package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/client/cache"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

const resolveLong = `Resolve asks a resolver about names and prints its answer: where the resource is, and
what is known about it. To get the resource itself, use 'nomen fetch'.

--via names the resolver:

  HOST:PORT           the protocol of 1995 (draft-ietf-uri-yaurn-00), with the full name;
                      if the resolver rejects the full name, with only the ElementID
  HOST:PORT/full      the protocol of 1995, always with the full name
  HOST:PORT/element   the protocol of 1995, always with only the ElementID
  URL                 HTTP: the name is a path below the URL, or replaces {name} in it
  URL/uri-res/        HTTP as in RFC 2169

The ElementID is the part of a name after the naming authority, such as alb002 in
urn:dns:example.org:alb002.

Without --via, the resolver of each name is found as 'nomen discover' shows. The resolver
of urn:dns:HOST:ELEMENT is HOST at port 4500.

If a resolver sends text, a page or an unknown type, the response is printed unchanged
with its media type. With --json the media type is in content_type, and the response in
body or body_base64.

Names may contain white space and be enclosed in <angle brackets>, as the protocol of
1995 allows. A fragment is not sent to the resolver; it is added to the locations in the
answer. With --dialect 2012, a URN can end with directives, which are part of the request.
In urn:example:book?s=I2Ls&c=ToC, s is the service and c the component. The options
--service and --component override s and c. Other directives are sent unchanged.

Requests are unencrypted, except to an https URL. A request contains only the name and
what the options set. -v shows each step.

With --cache DIR, answers are kept in DIR. Before an answer is used again, the resolver is
asked whether the answer is still valid. With --offline no resolver is asked, and the
answer says when it was last confirmed.

--audit asks every address of a resolver and reports differences. If it finds any, the
exit status is 1. --explain shows how your own server finds the answer: resolve asks the
server of the data directory, or reads the store if no server is running.

` + streamHelp

type resolveFlags struct {
	client  client.Options
	find    finderFlags
	service string
	at      string
	with    string
	dialect *urnDialect
	cache   string
	noCache bool
	offline bool
	audit   bool
	explain bool
	jobs    int
}

const defaultJobs = 16

func (o *resolveFlags) register(f *pflag.FlagSet, q *nomen.Question) {
	f.StringVarP(&o.service, "service", "s", "", "service to request: I2L, I2Ls, I2R, I2Rs, I2C, I2Cs, I2N, I2Ns or I=I; 'nomen services' explains them (default I2C: the complete record)")
	f.StringVarP(&q.Component, "component", "c", "", "component of the resource to ask for")
	preferenceOptions(f, &o.client.Accept, &q.Languages)
	f.StringVar(&o.at, "at", "", "ask for the record as of this time, or as of the end of this day (default now)")
	f.StringVar(&o.with, "with", "", "name to compare with, for the service I=I")
	f.StringVar(&o.client.Via, "via", "", "HOST:PORT, HOST:PORT/full, HOST:PORT/element or URL of the resolver (default as found by discover)")
	portOption(f, &o.client.Port)
	f.BoolVar(&o.client.Simple, "simple", false, "send Simple-Requests (HTTP/0.9)")
	timeoutOption(f, &o.client.Timeout)
	f.IntVar(&o.client.Retries, "retries", client.DefaultRetries, "number of retries when a resolver is busy")
	f.IntVar(&o.jobs, "jobs", defaultJobs, "number of names to resolve concurrently")
	f.Float64Var(&o.client.Rate, "rate", 0, "maximum requests per second to one host (default no limit)")
	notNegative(f, "retries", "rate")
	f.StringVar(&o.cache, "cache", "", "directory in which to cache answers (default none)")
	f.BoolVar(&o.noCache, "no-cache", false, "use no cache, even if the environment or the configuration file sets --cache")
	f.BoolVar(&o.offline, "offline", false, "answer only from the cache")
	f.BoolVar(&o.audit, "audit", false, "ask all addresses of the resolver and report differences")
	f.BoolVar(&o.explain, "explain", false, "show how your own server finds the answer")
	o.find.register(f)
}

func (c *cli) resolveCommand() *cobra.Command {
	var o resolveFlags
	q := nomen.Question{}
	cmd := &cobra.Command{
		Use:   "resolve NAME...",
		Short: "look up names at their resolvers",
		Long:  resolveLong,
		Example: `  nomen resolve urn:dns:example.org:alb002
  nomen resolve --via localhost:4500 urn:ietf:rfc:2648
  nomen resolve --via https://urn.example.org/ --service I2Ls --json urn:nbn:fi-fe2019
  nomen resolve --via http://localhost:4500/ --service I2L --json - < names.txt
  nomen resolve --cache ~/.cache/nomen urn:ietf:rfc:2648
  nomen resolve --audit urn:dns:example.org:alb002`,
		Args: arguments(1, -1),
	}
	o.register(cmd.Flags(), &q)
	o.dialect = addURNDialect(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.complete(&q); err != nil {
			return err
		}
		names := &resolving{question: q, via: o.client.Via, jobs: o.jobs, dialect: o.dialect.d, service: nomen.Service(o.service)}
		if o.explain {
			return c.withEngine(cmd.Context(), func(r nomen.Resolver) error {
				names.resolver, names.jobs = r, 1
				return c.resolveNames(cmd.Context(), args, names)
			})
		}
		return c.resolveBy(cmd.Context(), args, &o, names)
	}
	return cmd
}

func (o *resolveFlags) complete(q *nomen.Question) error {
	q.Service, q.Accept, q.Explain = nomen.Service(o.service), o.client.Accept, o.explain
	var err error
	switch {
	case o.service == "" && (o.client.Via == "" || strings.Contains(o.client.Via, "://") || o.explain):
		q.Service = nomen.I2C // the default of the protocol of 1995
	case o.service != "" && !q.Service.Known():
		return usagef("--service %q: must be one of I2L, I2Ls, I2R, I2Rs, I2C, I2Cs, I2N, I2Ns, I=I", o.service)
	}
	switch {
	case o.offline && (o.cache == "" || o.noCache):
		return usagef("--offline needs --cache DIR")
	case o.explain && (o.offline || o.audit || o.client.Via != ""), o.audit && o.offline:
		return usagef("--explain, --audit and --offline cannot be combined, and --explain cannot be combined with --via")
	case o.jobs < 1:
		return usagef("--jobs %d: must be positive", o.jobs)
	case (q.Service == nomen.IisI) != (o.with != ""):
		return usagef("--service I=I needs --with NAME, and --with needs --service I=I")
	}
	if o.client.Retries == 0 {
		o.client.Retries = -1
	}
	if o.at != "" {
		if q.At, err = adminapi.ParseTime(o.at); err != nil {
			return usagef("--at %q: %w", o.at, err)
		}
	}
	if o.with != "" {
		if q.Other, err = uri.Parse(o.with); err != nil {
			return usagef("--with %q: %w", o.with, err)
		}
	}
	return nil
}

func (c *cli) resolveBy(ctx context.Context, args []string, o *resolveFlags, r *resolving) error {
	o.client.Trace = c.trace()
	o.client.PerHost = max(o.jobs, client.DefaultPerHost)
	if err := o.find.complete(&o.client); err != nil {
		return err
	}
	remote, err := client.New(o.client)
	if err != nil {
		return usageError{err}
	}
	defer remote.Close()
	if o.audit {
		return c.answerNames(ctx, args, func(a *answers, arg string) error {
			return auditOne(ctx, remote, r, a, arg)
		})
	}
	r.resolver = remote
	if o.cache != "" && !o.noCache {
		disk, err := cache.OpenDisk(o.cache, cache.Limits{})
		if err != nil {
			return err
		}
		var lost uncached
		defer func() { lost.report(c.err) }()
		kept := cache.New(remote, disk, cache.Options{Now: clock, Failed: lost.note})
		r.resolver = kept
		if o.offline {
			r.offline = kept
		}
	}
	return c.resolveNames(ctx, args, r)
}

// An uncached counts answers that could not be written to the cache, for example because the disk
// is full. A single message at the end reports all of them.
type uncached struct {
	mu    sync.Mutex
	count int
	first error
}

func (u *uncached) note(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count++
	u.first = cmp.Or(u.first, err)
}

func (u *uncached) report(w io.Writer) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.count > 0 {
		fmt.Fprintf(w, "nomen: warning: %s could not be cached: %s\n", count(int64(u.count), "answer"), printable(u.first.Error()))
	}
}

type resolving struct {
	resolver nomen.Resolver
	offline  *cache.Cache // used instead of resolver; nil unless --offline
	question nomen.Question
	dialect  urn.Dialect
	service  nomen.Service // from the option; "" if not given
	via      string
	jobs     int
}

// ask resolves a name. It can return both an error and an answer, such as a tombstone.
func (r *resolving) ask(ctx context.Context, arg string) (*nomen.Answer, time.Time, error) {
	q, err := r.ofName(arg)
	if err != nil {
		return nil, time.Time{}, err
	}
	if r.offline != nil {
		return r.offline.Past(q)
	}
	a, err := r.resolver.Resolve(ctx, q)
	var no *nomen.Error
	if errors.As(err, &no) {
		if a = no.Answer; a == nil && len(no.Why) > 0 { // without an answer, keep at least the explanation
			a = &nomen.Answer{Name: q.Name}
		}
		if a != nil {
			a.Why = no.Why
		}
	}
	closeAll(a)
	return a, time.Time{}, err
}

// ofName returns the question about a name. Command line options take precedence over directives in
// the name.
func (r *resolving) ofName(arg string) (nomen.Question, error) {
	typed, err := client.ParseDialect(r.dialect, arg)
	if err != nil {
		return typed, err
	}
	q := r.question
	q.Name, q.Subject, q.R, q.Q, q.Query = typed.Name, typed.Subject, typed.R, typed.Q, typed.Query
	q.Component = cmp.Or(q.Component, typed.Component)
	if r.service == "" && typed.Service != "" && typed.Service != nomen.IisI {
		q.Service = typed.Service
	}
	return q, nil
}

func (r *resolving) serviceOf(arg string) nomen.Service {
	if r.dialect != urn.Draft2012 {
		return r.question.Service
	}
	q, err := r.ofName(arg)
	if err != nil {
		return r.question.Service
	}
	return q.Service
}

// closeAll closes the resources in an answer. The command resolve does not print them.
func closeAll(a *nomen.Answer) {
	if a == nil {
		return
	}
	if a.Resource != nil {
		_ = a.Resource.Body.Close()
	}
	for _, res := range a.Resources {
		_ = res.Body.Close()
	}
}
