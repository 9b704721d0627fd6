package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/nomen-project/nomen/internal/systemd"
	"github.com/nomen-project/nomen/internal/wire"
	"github.com/nomen-project/nomen/server"
)

type inheritedSocket struct {
	name string
	net.Listener
	used bool
}

func inheritSockets() (all []*inheritedSocket, err error) {
	sockets, err := systemd.Sockets()
	if err != nil {
		return nil, err
	}
	for _, s := range sockets {
		l, err := net.FileListener(s.File)
		if err := errors.Join(err, s.File.Close()); err != nil {
			return all, fmt.Errorf("inherited socket %q is not a listening stream socket: %w", s.Name, err)
		}
		all = append(all, &inheritedSocket{name: s.Name, Listener: l})
	}
	return all, nil
}

// openListeners opens the listeners of a server. After the server has stopped, the caller must call
// remove, which removes the Unix sockets from the file system.
func (c *cli) openListeners(specs []listenSpec, log *slog.Logger) (all []server.Listener, remove func(), err error) {
	inherited, err := inheritSockets()
	if err != nil {
		return nil, nil, err
	}
	var sockets []*adminSocketFile
	remove = func() {
		for _, s := range sockets {
			s.remove()
		}
	}
	for i := range specs {
		s := &specs[i]
		opened, err := s.open(inherited, &sockets, log)
		if err != nil {
			closeListeners(all, inherited)
			remove()
			if s.place != "" {
				err = c.file.about(s.place+".address", err)
			}
			return nil, nil, err
		}
		for _, l := range opened {
			l.Admin, l.Protocols, l.Dialects, l.TLS, l.WellKnown = s.admin, s.protocols, s.dialects, c.withClientCertificates(s), s.wellKnown
			if s.isExposed(l.Open.Addr()) {
				log.Warn(exposedText, "listener", l.Open.Addr().String())
			}
			all = append(all, l)
		}
	}
	for _, s := range inherited {
		if !s.used {
			log.Warn("an inherited socket is not used: no listener has its name or address", "name", s.name, "address", s.Addr().String())
			s.Close()
		}
	}
	return all, remove, nil
}

func closeListeners(opened []server.Listener, inherited []*inheritedSocket) {
	for _, l := range opened {
		l.Open.Close()
	}
	for _, s := range inherited {
		s.Close()
	}
}

func (s *listenSpec) open(inherited []*inheritedSocket, sockets *[]*adminSocketFile, log *slog.Logger) ([]server.Listener, error) {
	if name, ok := strings.CutPrefix(s.address, inheritedScheme); ok {
		return s.takeNamed(name, inherited)
	}
	for _, l := range inherited {
		if !l.used && isAt(l.Addr(), s.address) {
			l.used = true
			return []server.Listener{{Open: l.Listener}}, nil
		}
	}
	if path, ok := strings.CutPrefix(s.address, socketScheme); ok {
		l, err := openSocket(path)
		switch {
		case err == nil:
			l.quiet = s.optional
			*sockets = append(*sockets, l)
			return []server.Listener{{Open: l}}, nil
		case s.optional:
			log.Warn("cannot open the Unix socket of the admin API; the API is available at its other addresses", "err", err)
			return nil, nil
		}
		return nil, fmt.Errorf("serve: %s: %w", s.title, err)
	}
	config := wire.ListenConfig()
	l, err := config.Listen(context.Background(), "tcp", s.address)
	if err != nil {
		return nil, fmt.Errorf("serve: %s %s: %w%s", s.title, s.address, listenFault(err), listenRemedy(err))
	}
	return []server.Listener{{Open: l}}, nil
}

func (s *listenSpec) takeNamed(name string, inherited []*inheritedSocket) (all []server.Listener, err error) {
	var names []string
	for _, l := range inherited {
		if l.name == name && !l.used {
			if l.Addr().Network() == "unix" && !s.admin {
				return nil, fmt.Errorf("serve: %s: socket %q is a Unix socket: only the admin API listens on Unix sockets", s.title, name)
			}
			l.used = true
			all = append(all, server.Listener{Name: name, Open: l.Listener})
		}
		names = append(names, l.name)
	}
	switch {
	case len(all) > 1: // the name does not say which of the sockets is meant
		for i := range all {
			all[i].Name = ""
		}
	case len(all) == 0 && len(names) == 0:
		return nil, fmt.Errorf("serve: %s: no socket %q: the server was started without inherited sockets; start it by a socket unit with FileDescriptorName=%s", s.title, name, name)
	case len(all) == 0:
		return nil, fmt.Errorf("serve: %s: no socket %q: the inherited sockets are %s", s.title, name, strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", "))
	}
	return all, nil
}

func isAt(at net.Addr, address string) bool {
	switch at := at.(type) {
	case *net.TCPAddr:
		return sameAddress(at.String(), address)
	case *net.UnixAddr:
		return address == socketScheme+at.Name
	}
	return false
}

func listenFault(err error) error {
	var op *net.OpError
	if !errors.As(err, &op) {
		return err
	}
	var number syscall.Errno
	if errors.As(op.Err, &number) {
		return number
	}
	return op.Err
}

func listenRemedy(err error) string {
	switch {
	case errors.Is(err, syscall.EACCES):
		return " (ports below 1024 need root or a socket unit)"
	case errors.Is(err, syscall.EADDRINUSE):
		return " by another program"
	}
	return ""
}
