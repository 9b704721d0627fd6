package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/server"
)

type listenFlags struct {
	public string
	admin  []string
	set    *pflag.FlagSet // to find out which of them are set
}

func (o *listenFlags) register(f *pflag.FlagSet) {
	o.set = f
	f.Var(newAddress(&o.public, ":4500", ""), "listen", "address of the public listener; off for none")
	f.StringSliceVar(&o.admin, "admin", []string{"127.0.0.1:4501", socketScheme + adminSocket}, "address of an admin listener: HOST:PORT, unix:PATH, fd:NAME, or off for none")
}

type listenTable struct {
	Address   any      `json:"address"`             // HOST:PORT, a port number, unix:PATH or fd:NAME
	TLS       string   `json:"tls,omitempty"`       // off, files or acme
	Cert      string   `json:"cert,omitempty"`      // PEM file of tls = "files"; --tls-cert if empty
	Key       string   `json:"key,omitempty"`       // PEM file with its key; --tls-key if empty
	Protocols []string `json:"protocols,omitempty"` // web and 1995, or admin alone
	Dialects  []string `json:"dialects,omitempty"`
}

const (
	tlsOff   = "off"
	tlsFiles = "files"
	tlsACME  = "acme"
)

const (
	socketScheme    = "unix:"
	inheritedScheme = "fd:" // and the name of a socket that systemd has opened
	noAddress       = "off"
)

const adminSocket = "admin.sock"

type listenSpec struct {
	title     string // for errors, such as "listen 2" or "--admin"
	place     string // in the configuration file, such as "listen.2"; "" if it is not from a table
	address   string
	admin     bool
	optional  bool   // the server also starts if this listener cannot be opened
	tls       string // tlsOff, tlsFiles or tlsACME
	cert, key string // for tlsFiles; by default the files of --tls-cert and --tls-key
	protocols server.Protocols
	dialects  []string
	secure    *tls.Config                     // nil without TLS; set by openCertificates
	wellKnown func(http.Handler) http.Handler // answers challenges; nil for none
}

func (c *cli) listeners(f *serveFlags) ([]listenSpec, error) {
	specs, errs := c.listenTables()
	if len(specs)+len(errs) == 0 || f.listen.set.Changed("listen") {
		specs, errs = nil, nil
		if f.listen.public != "" && f.listen.public != noAddress {
			specs = append(specs, listenSpec{title: "--listen", address: f.listen.public, tls: f.tlsMode()})
		}
	} else if f.tls != "" {
		errs = append(errs, usagef("serve: --tls applies to --listen alone: set tls in the [[listen]] tables"))
	}
	for _, address := range f.listen.admin {
		if address != "" && address != noAddress {
			optional := !f.listen.set.Changed("admin") && strings.HasPrefix(address, socketScheme)
			specs = append(specs, listenSpec{title: "--admin", address: address, admin: true, tls: tlsOff, optional: optional})
		}
	}
	for i := range specs {
		s := &specs[i]
		if s.address == "" {
			continue // the missing address was reported before
		}
		if err := s.normalize(c.data); err != nil {
			errs = append(errs, c.listenError(s, ".address", err))
		}
		if err := s.checkTLS(&f.certificateFlags, f.publicURL); err != nil {
			errs = append(errs, c.tlsError(s, err))
		}
	}
	return specs, c.file.sorted(append(errs, c.duplicates(specs)...))
}

func (c *cli) listenError(s *listenSpec, key string, err error) error {
	if s.place != "" {
		return c.file.errorf(s.place+key, "%s: %w", s.title, err)
	}
	return usagef("serve: %s: %w", s.title, err)
}

// tlsError returns a usage error about the TLS settings of a listener. If the message mentions an
// option from the environment or the configuration file, the error contains the source of the
// option. Otherwise it contains the position of the [[listen]] table.
func (c *cli) tlsError(s *listenSpec, err error) error {
	if option := c.located(usagef("serve: %w", err)); option.Error() != "serve: "+err.Error() {
		return option
	}
	return c.listenError(s, ".tls", err)
}

func (c *cli) listenTables() (specs []listenSpec, errs []error) {
	for i, t := range c.file.listen() {
		s := listenSpec{title: fmt.Sprintf("listen %d", i+1), place: fmt.Sprintf("listen.%d", i+1), tls: tlsOff, cert: t.Cert, key: t.Key}
		fail := func(key, format string, args ...any) {
			errs = append(errs, c.listenError(&s, key, fmt.Errorf(format, args...)))
		}
		switch address := t.Address.(type) {
		case nil:
			fail("", "address is missing")
		case string:
			if s.address = address; address == "" {
				fail(".address", "invalid address %q: want for example :443, [::1]:443 or fd:NAME", "")
			}
		case int64:
			s.address = strconv.FormatInt(address, 10)
		default:
			fail(".address", "invalid address: want for example %q or %d", ":443", 443)
		}
		if t.TLS != "" {
			s.tls = t.TLS
		}
		switch s.tls {
		case tlsOff, tlsFiles, tlsACME:
		default:
			fail(".tls", "invalid tls %q: must be off, files or acme", t.TLS)
		}
		if s.tls != tlsFiles && t.Cert+t.Key != "" || (t.Cert == "") != (t.Key == "") {
			fail("", `cert and key must be set together, with tls = "files"`)
		}
		if err := s.setProtocols(t.Protocols); err != nil {
			fail(".protocols", "%w", err)
		}
		if err := s.setDialects(t.Dialects, c.file.dialects()); err != nil {
			fail(".dialects", "%w", err)
		}
		specs = append(specs, s)
	}
	return specs, errs
}

func (s *listenSpec) setProtocols(names []string) error {
	for _, name := range names {
		switch {
		case name == "admin" && len(names) == 1:
			s.admin = true
		case name == "web":
			s.protocols |= server.ProtocolWeb
		case name == "1995":
			s.protocols |= server.Protocol1995
		case name == "admin":
			return errors.New("the admin API needs a listener of its own")
		default:
			return fmt.Errorf("invalid protocol %q: must be web, 1995 or admin", name)
		}
	}
	if s.admin && s.tls == tlsACME {
		return errors.New(`an admin listener cannot have tls = "acme"; use "files"`)
	}
	return nil
}

// normalize checks and completes the address of the listener. A number is a port. If an address has
// no port, the default port is added. The relative path of a Unix socket is resolved against the
// data directory.
func (s *listenSpec) normalize(data string) error {
	if path, ok := strings.CutPrefix(s.address, socketScheme); ok {
		switch {
		case path == "":
			return fmt.Errorf("invalid address %q: the path is missing", s.address)
		case !s.admin:
			return fmt.Errorf("invalid address %q: only the admin API listens on Unix sockets", s.address)
		case s.tls != tlsOff:
			return errors.New("TLS is not supported on Unix sockets")
		case !filepath.IsAbs(path):
			path = filepath.Join(data, path)
		}
		path, err := filepath.Abs(path)
		s.address = socketScheme + path
		return err
	}
	if name, ok := strings.CutPrefix(s.address, inheritedScheme); ok {
		if name == "" {
			return fmt.Errorf("invalid address %q: the name of the socket is missing", s.address)
		}
		return nil
	}
	host, port := "", "4500"
	if s.admin {
		host, port = "127.0.0.1", "4501"
	}
	address, err := completeAddress(s.address, host, port)
	if err == nil {
		s.address = address
	}
	return err
}

// completeAddress checks and completes the address of a TCP listener. If the address is only a
// port, usualHost becomes its host. If the address has no port, usualPort becomes its port.
func completeAddress(address, usualHost, usualPort string) (string, error) {
	host, port := usualHost, address
	if _, err := strconv.ParseUint(address, 10, 64); err != nil {
		if host, port, err = net.SplitHostPort(address); err != nil {
			host, port = strings.Trim(address, "[]"), usualPort
		}
	}
	n, err := net.LookupPort("tcp", port)
	odd := strings.TrimLeftFunc(host, ofHost)
	switch {
	case err != nil:
		return "", fmt.Errorf("invalid address %q: unknown port %q; want a number up to 65535, as in :%s", address, port, usualPort)
	case odd != "":
		return "", fmt.Errorf("invalid address %q: unexpected character %q in the host; want for example :%s, 127.0.0.1:%s or [::1]:%s", address, []rune(odd)[0], usualPort, usualPort, usualPort)
	}
	return net.JoinHostPort(host, strconv.Itoa(n)), nil
}

func ofHost(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-._:%", r)
}

func (s *listenSpec) host() string {
	if strings.HasPrefix(s.address, socketScheme) || strings.HasPrefix(s.address, inheritedScheme) {
		return ""
	}
	host, _, _ := net.SplitHostPort(s.address)
	return host
}

// isExposed reports whether s is an admin listener without TLS that other machines can reach at the
// given address.
func (s *listenSpec) isExposed(at net.Addr) bool {
	tcp, ok := at.(*net.TCPAddr)
	return ok && s.admin && s.tls == tlsOff && !tcp.IP.IsLoopback()
}

// exposedText is the warning about an admin listener that other machines can reach without TLS.
const exposedText = `the admin listener is reachable from other machines without TLS, so tokens are sent unencrypted; use a loopback address, a Unix socket, or a [[listen]] table with protocols = ["admin"] and tls = "files"`

// exposedListeners returns a warning for each admin listener without TLS whose address is not a
// loopback address.
func (c *cli) exposedListeners(f *serveFlags) (warnings []error) {
	specs, _ := c.listeners(f) // errors are reported elsewhere
	for i := range specs {
		s := &specs[i]
		_, _, err := net.SplitHostPort(s.address) // fails for an address that is special or invalid
		if host := s.host(); err == nil && !isSpecial(s.address) && s.admin && s.tls == tlsOff && !isLocal(host) {
			warnings = append(warnings, c.located(c.listenError(s, ".address", fmt.Errorf("%s: %s", s.address, exposedText))))
		}
	}
	return warnings
}

// duplicates returns an error for each listener that has the same address as an earlier listener.
// If only one of the two listeners comes from a [[listen]] table, the error contains the position
// of this table.
func (c *cli) duplicates(specs []listenSpec) (errs []error) {
	for i := range specs {
		for j := range i {
			s, other := &specs[i], &specs[j]
			if s.address == "" || !sameAddress(s.address, other.address) {
				continue
			}
			if s.place == "" && other.place != "" {
				s, other = other, s
			}
			text := fmt.Sprintf("%s: %s has the same address", s.address, other.title)
			if s.address != other.address {
				text = fmt.Sprintf("%s: %s has the same port, at %s", s.address, other.title, other.address)
			}
			if s.place != "" && other.place == "" {
				text += `; change one of them, or set admin = "off"`
			}
			errs = append(errs, c.listenError(s, ".address", errors.New(text)))
			break
		}
	}
	return errs
}

// sameAddress reports whether two listeners cannot use these addresses at the same time. Two
// listeners with port 0 get different ports. A wildcard address includes all addresses of the
// machine.
func sameAddress(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	if errA != nil || errB != nil || isSpecial(a) || isSpecial(b) {
		return a == b
	}
	const local = "localhost"
	same := hostA == hostB || isWildcard(hostA) || isWildcard(hostB) ||
		hostA == local && hostB == "127.0.0.1" || hostB == local && hostA == "127.0.0.1"
	return portA == portB && portA != "0" && same
}

func isSpecial(address string) bool {
	return strings.HasPrefix(address, socketScheme) || strings.HasPrefix(address, inheritedScheme)
}

func isWildcard(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}

func (f *serveFlags) ownHosts() []string {
	all := slices.Concat(f.hosts, f.hostsOf(false))
	if host, err := os.Hostname(); err == nil {
		all = append(all, host)
	}
	return all
}

func (f *serveFlags) hostsOf(admin bool) (all []string) {
	for i := range f.specs {
		if host := f.specs[i].host(); host != "" && f.specs[i].admin == admin {
			all = append(all, host)
		}
	}
	return all
}
