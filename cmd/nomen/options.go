package main

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/client"
)

// The following functions declare options that several commands share.

func whyOption(f *pflag.FlagSet, why *string) {
	f.StringVar(why, "why", "", "reason, recorded in the history")
}

func dryRunOption(f *pflag.FlagSet, dry *bool) {
	f.BoolVar(dry, "dry-run", false, "say what would change, and change nothing")
}

func retiredOption(f *pflag.FlagSet, retired *bool) {
	f.BoolVar(retired, "retired", false, "also change retired names")
}

func strictOption(f *pflag.FlagSet, strict *bool) {
	f.BoolVar(strict, "strict", false, "reject a new name if 'nomen check' finds an error in it, or if it is a resolver's URL for another name, such as https://doi.org/10.5072/a for doi:10.5072/a")
}

func yesOption(f *pflag.FlagSet, yes *bool) {
	f.BoolVar(yes, "yes", false, "do not ask for confirmation")
}

func prefixOption(f *pflag.FlagSet, prefix *string) {
	f.StringVar(prefix, "prefix", "", "only names that begin with this (default all)")
}

func portOption(f *pflag.FlagSet, port *uint16) {
	f.Uint16Var(port, "port", 0, "port of resolvers of urn:dns names (default 4500)")
}

func timeoutOption(f *pflag.FlagSet, timeout *time.Duration) {
	f.DurationVar(timeout, "timeout", client.DefaultTimeout, "timeout of one attempt at one address")
	notNegative(f, "timeout")
}

func dnsOption(f *pflag.FlagSet, servers *[]string) {
	f.StringSliceVar(servers, "dns", nil, "IP or IP:PORT of the DNS server (default the system's)")
}

func preferenceOptions(f *pflag.FlagSet, accept, languages *string) {
	f.StringVar(accept, "accept", "", "preferred media types, as in an Accept field (default any)")
	f.StringVar(languages, "language", "", "preferred languages, as in an Accept-Language field (default any)")
}

// limitOption declares an option for the maximum number of results. The value 0 means no limit.
func limitOption(f *pflag.FlagSet, limit *int, preset int, usage string) {
	f.IntVar(limit, "limit", preset, usage)
	notNegative(f, "limit")
}

var errNegative = errors.New("must not be negative")

func notNegative(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		option := f.Lookup(name)
		option.Value = notNegativeValue{option.Value}
	}
}

type notNegativeValue struct{ pflag.Value }

func (v notNegativeValue) Set(s string) error {
	before := v.String()
	if err := v.Value.Set(s); err != nil || !strings.HasPrefix(v.String(), "-") {
		return err
	}
	_ = v.Value.Set(before) // it was valid
	return errNegative
}
