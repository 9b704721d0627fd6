package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/server/admin"
)

// limitFlags contains the options in the tables [limits] and [second-person].
type limitFlags struct {
	burst, costly, resources int
	batchNames, batchBytes   int
	measure, ask, resource   time.Duration
	head, idle, timeout      time.Duration

	tokenRate             float64
	tokenBurst, tokenJobs int
	jobs                  int

	second adminapi.SecondPerson
}

func (o *limitFlags) register(f *pflag.FlagSet) {
	f.IntVar(&o.burst, "limits.burst", 0, "maximum number of lists, batches, fetches and searches of one client in a burst (default five times --rate)")
	f.IntVar(&o.costly, "limits.costly", 64, "maximum number of lists, batches, fetches and searches answered at once; at most an eighth for one client")
	f.IntVar(&o.resources, "limits.resources", 64, "maximum number of resources forwarded at once (I2R); at most a quarter to one client")
	f.IntVar(&o.batchNames, "limits.batch-names", 10_000, "maximum number of names in one request to /-/resolve")
	f.IntVar(&o.batchBytes, "limits.batch-bytes", 4<<20, "maximum number of bytes of one request to /-/resolve")
	f.DurationVar(&o.measure, "limits.measure-timeout", 10*time.Second, "maximum time for computing the length of a list before the list is sent")
	f.DurationVar(&o.ask, "limits.ask-timeout", 20*time.Second, "maximum time for asking other resolvers on behalf of one request")
	f.DurationVar(&o.resource, "limits.resource-timeout", 10*time.Minute, "maximum time for forwarding one resource (I2R)")
	f.DurationVar(&o.head, "limits.head-timeout", 10*time.Second, "maximum time for receiving the head of a request")
	f.DurationVar(&o.idle, "limits.idle-timeout", 2*time.Minute, "time for which an idle connection stays open")
	f.DurationVar(&o.timeout, "limits.timeout", 30*time.Second, "maximum time for receiving a request, and for sending each part of a streamed response")
	f.Float64Var(&o.tokenRate, "limits.token-rate", 100, "maximum number of requests of one token to the admin API per second; administrators whose token has no prefixes have no limit")
	f.IntVar(&o.tokenBurst, "limits.token-burst", 0, "maximum number of requests of one token to the admin API in a burst (default five times limits.token-rate)")
	f.IntVar(&o.tokenJobs, "limits.token-jobs", 4, "maximum number of imports, exports and other jobs of one token that run at once")
	f.IntVar(&o.jobs, "limits.jobs", 8, "maximum number of jobs that run at once, of all tokens together")
	f.BoolVar(&o.second.Redact, "second-person.redact", false, "a second person must approve redactions over the admin API")
	f.IntVar(&o.second.RelocateAbove, "second-person.relocate-above", 0, "a second person must approve relocations of more names than this over the admin API; 0 for none")
}

// check calls must for each option with the condition that its value must satisfy. Most values must
// be positive.
func (o *limitFlags) check(must func(ok bool, option string, value any, what string)) {
	const positive, notNegative = "be positive", "not be negative"
	must(o.burst >= 0, "limits.burst", o.burst, notNegative)
	must(o.tokenBurst >= 0, "limits.token-burst", o.tokenBurst, notNegative)
	must(o.tokenRate > 0, "limits.token-rate", o.tokenRate, positive)
	must(o.costly > 0, "limits.costly", o.costly, positive)
	must(o.resources > 0, "limits.resources", o.resources, positive)
	must(o.batchNames > 0, "limits.batch-names", o.batchNames, positive)
	must(o.batchBytes > 0, "limits.batch-bytes", o.batchBytes, positive)
	must(o.tokenJobs > 0, "limits.token-jobs", o.tokenJobs, positive)
	must(o.second.RelocateAbove >= 0, "second-person.relocate-above", o.second.RelocateAbove, notNegative)
	must(o.jobs > 0, "limits.jobs", o.jobs, positive)
	must(o.measure > 0, "limits.measure-timeout", o.measure, positive)
	must(o.ask > 0, "limits.ask-timeout", o.ask, positive)
	must(o.resource > 0, "limits.resource-timeout", o.resource, positive)
	must(o.head > 0, "limits.head-timeout", o.head, positive)
	must(o.idle > 0, "limits.idle-timeout", o.idle, positive)
	must(o.timeout > 0, "limits.timeout", o.timeout, positive)
}

func (f *serveFlags) serverLimits() server.Limits {
	o := &f.limits
	return server.Limits{
		Connections: f.connections, PerAddress: f.perAddress, Rate: f.rate, Burst: o.burst,
		Costly: o.costly, Measure: o.measure, Ask: o.ask, HeadTimeout: o.head, IdleTimeout: o.idle, Timeout: o.timeout,
		Resource: o.resource, Resources: o.resources, BatchNames: o.batchNames, BatchBytes: o.batchBytes,
	}
}

func (o *limitFlags) tokenLimits() admin.Limits {
	return admin.Limits{Rate: o.tokenRate, Burst: o.tokenBurst, TokenJobs: o.tokenJobs, Jobs: o.jobs}
}
