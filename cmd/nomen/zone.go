package main

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/name"
)

const zoneLong = `Zone prints or checks the DNS records by which clients find the resolver of an authority
(DDDS, RFC 3404).`

const zonePrintLong = `Print writes the records for the resolver of a prefix, in the syntax of master files.
The records belong to several zones. The first record leads from the namespace to the host,
and belongs to a zone of IANA (urn.arpa, uri.arpa; RFC 3405). The others belong to the zones
of the host. Comments mark what you have to fill in.

An authority of urn:dns names needs no such records: clients look up the addresses of the
host in the name.`

const zoneCheckLong = `Check looks up the records for the resolver of a prefix and prints each difference from
what 'nomen zone print' would write, one per line. It ignores times to live, orders and
preferences. At the end it looks up a sample name by the rules in DNS, as a client does.

The exit status is 1 if there is a difference, and 3 if DNS failed.`

func (c *cli) zoneCommand() *cobra.Command {
	return groupOf("zone", "print and check DNS records for the resolver of an authority", zoneLong,
		c.zonePrintCommand(), c.zoneCheckCommand())
}

// maxTTL is the longest time to live, in seconds (RFC 2181, 8).
const maxTTL = 1<<31 - 1

type zoneFlags struct {
	host      string
	services  []string
	addresses []string
	ttl       uint32
}

func (o *zoneFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.host, "host", "", "HOST or HOST:PORT of the resolver (required); without a port, 4500")
	f.StringSliceVar(&o.addresses, "address", nil, "IP address of the host (default none)")
	f.StringSliceVar(&o.services, "service", nil, "service that the resolver offers (default all except fetching)")
}

func (o *zoneFlags) zone(prefix string) (discover.Zone, error) {
	z := discover.Zone{Host: o.host, Port: discover.Port, TTL: time.Duration(o.ttl) * time.Second}
	var err error
	if z.Prefix, err = name.ParsePrefix(prefix); err != nil {
		return z, err
	}
	if o.ttl > maxTTL {
		return z, usagef("--ttl %d: must be at most %d", o.ttl, maxTTL)
	}
	if o.host == "" {
		return z, usagef("--host is required: the host of the resolver")
	}
	if host, port, err := net.SplitHostPort(o.host); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return z, usagef("--host %q: invalid port %q: must be from 1 to 65535", o.host, port)
		}
		z.Host, z.Port = host, uint16(n)
	}
	for _, s := range o.addresses {
		a, err := netip.ParseAddr(s)
		if err != nil || a.Zone() != "" {
			return z, usagef("--address %q: must be an IP address", s)
		}
		z.Addresses = append(z.Addresses, a)
	}
	for _, s := range o.services {
		read, err := discover.ParseServices("thttp+" + s)
		if err != nil || len(read.Known()) != 1 {
			return z, usagef("--service %q: must be a service of RFC 2483, such as I2L", s)
		}
		z.Services = append(z.Services, read.Known()...)
	}
	if _, err := z.Records(); err != nil {
		return z, usageError{err}
	}
	return z, nil
}

func (c *cli) zonePrintCommand() *cobra.Command {
	var flags zoneFlags
	cmd := &cobra.Command{
		Use:   "print PREFIX",
		Short: "print the DNS records that a resolver needs",
		Long:  zonePrintLong,
		Example: `  nomen zone print urn:nbn:fi --host names.example.org
  nomen zone print urn:dns:example.org --host names.example.org --address 192.0.2.1 --address 2001:db8::1`,
		Args: arguments(1, 1),
	}
	flags.register(cmd)
	cmd.Flags().Uint32Var(&flags.ttl, "ttl", 86400, "time to live of the records, in seconds")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		z, err := flags.zone(args[0])
		if err != nil {
			return err
		}
		records, err := z.Records()
		if err != nil {
			return usageError{err}
		}
		a := newAnswers(c)
		for _, r := range records {
			a.say(r, r.String())
		}
		return a.end()
	}
	return cmd
}

func (c *cli) zoneCheckCommand() *cobra.Command {
	var flags zoneFlags
	var servers []string
	cmd := &cobra.Command{
		Use:     "check PREFIX",
		Short:   "check that DNS has the records that a resolver needs",
		Long:    zoneCheckLong,
		Example: `  nomen zone check urn:nbn:fi --host names.example.org`,
		Args:    arguments(1, 1),
	}
	flags.register(cmd)
	dnsOption(cmd.Flags(), &servers)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		z, err := flags.zone(args[0])
		if err != nil {
			return err
		}
		dns, err := newDNS(servers)
		if err != nil {
			return err
		}
		found, err := z.Check(cmd.Context(), dns)
		a := newAnswers(c)
		for _, d := range found {
			a.no = true
			a.say(d, d.String())
		}
		if end := a.end(); err == nil || end != nil && !errors.Is(end, errNo) {
			return end
		}
		return err
	}
	return cmd
}
