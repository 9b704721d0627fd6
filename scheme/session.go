package scheme

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// A Session is what an interactive locator leads to: something for a person to
// sit down at. Its texts are decoded.
type Session struct {
	Scheme string // in lower case
	Host   string // without brackets
	Port   string // "" if it is the default
	User   string // to be told to the person; "" if none
	// Password is to be told to the person, if at all. It is never an argument,
	// which all users of a machine can read.
	Password string
}

// SessionOf returns the session that an interactive locator leads to.
func SessionOf(u uri.URI) Session {
	name, _ := u.Scheme()
	s := Session{Scheme: strings.ToLower(name)}
	parts := partsSession(nil, u)
	host, _ := u.Data(uri.ComponentHost)
	s.Host = string(host)
	if u.HostKind() == uri.HostIPv6 {
		s.Host = strings.Trim(s.Host, "[]")
	}
	s.User, s.Password = partData(parts, "user"), partData(parts, "password")
	if port, ok := Get(parts, "port"); ok && port != "" {
		if known, _ := standardPort(s.Scheme); port != known {
			s.Port = port
		}
	}
	return s
}

// standardPort returns the default port of a scheme of sessions.
func standardPort(name string) (string, bool) {
	for _, s := range [...]*Scheme{&telnet, &rlogin, &tn3270} {
		if s.Name == name {
			return s.DefaultPort, true
		}
	}
	return "", false
}

// An InteractiveError is the refusal to fetch a session. It wraps
// [ErrInteractive].
type InteractiveError struct{ Session Session }

// Error says which session it is, without a password.
func (e *InteractiveError) Error() string {
	return fmt.Sprintf("scheme: %s session on %q: %v", e.Session.Scheme, e.Session.Host, ErrInteractive)
}

// Unwrap returns ErrInteractive.
func (e *InteractiveError) Unwrap() error { return ErrInteractive }

// ErrUnsafeSession is the error of a session that is not handed to a program, as
// a program could take its host, port or user for something else.
var ErrUnsafeSession = errors.New("not safe to hand to a program")

// ErrNoLauncher is the error of a session for which no program is known.
var ErrNoLauncher = errors.New("no program is known for the session")

// A Launcher says what program opens a session, and with which arguments. Args
// come in groups; in each {host}, {port} and {user} are replaced, and a group in
// which one of them is not known is left out. No shell is involved.
type Launcher struct {
	Program string
	Args    [][]string
}

// UsualLaunchers returns the programs that are common on Unix, by the name of
// the scheme.
func UsualLaunchers() map[string]Launcher {
	return map[string]Launcher{
		"telnet": {"telnet", [][]string{{"-l", "{user}"}, {"{host}"}, {"{port}"}}},
		"rlogin": {"rlogin", [][]string{{"-l", "{user}"}, {"-p", "{port}"}, {"{host}"}}},
		"tn3270": {"tn3270", [][]string{{"{host}"}, {"{port}"}}},
	}
}

// Command returns the program and the arguments that open a session. The error
// wraps [ErrNoLauncher] or [ErrUnsafeSession].
func (s Session) Command(launchers map[string]Launcher) (program string, args []string, err error) {
	l, ok := launchers[s.Scheme]
	if !ok {
		return "", nil, fmt.Errorf("scheme: %s: %w", s.Scheme, ErrNoLauncher)
	}
	if reason := s.unsafe(); reason != "" {
		return "", nil, fmt.Errorf("scheme: %s session: %w: %s", s.Scheme, ErrUnsafeSession, reason)
	}
	for _, group := range l.Args {
		if filled, ok := s.fill(group); ok {
			args = append(args, filled...)
		}
	}
	return l.Program, args, nil
}

// unsafe says what a program could misunderstand.
func (s Session) unsafe() string {
	if !isHost(s.Host) && !isIPv6Text(s.Host) {
		return fmt.Sprintf("%q is not the name of a host", s.Host)
	}
	if n, err := strconv.ParseUint(s.Port, 10, 16); s.Port != "" && (err != nil || n == 0) {
		return fmt.Sprintf("no port has the number %q", s.Port)
	}
	if strings.HasPrefix(s.User, "-") {
		return fmt.Sprintf("the user name %q would be an option", s.User)
	}
	if strings.ContainsFunc(s.User, func(r rune) bool { return r < ' ' || r == 0x7F }) {
		return fmt.Sprintf("the user name %q has controls in it", s.User)
	}
	return ""
}

// isIPv6Text reports whether s has the characters of an address without
// brackets.
func isIPv6Text(s string) bool {
	return strings.Count(s, ":") >= 2 && all(s, func(c byte) bool { return isHex(c) || c == ':' || c == '.' })
}

// fill replaces what is known; false if something is not.
func (s Session) fill(group []string) ([]string, bool) {
	values := [...][2]string{{"{host}", s.Host}, {"{port}", s.Port}, {"{user}", s.User}}
	filled := make([]string, 0, len(group))
	for _, arg := range group {
		var pairs []string
		for _, v := range values {
			if strings.Contains(arg, v[0]) && v[1] == "" {
				return nil, false
			}
			pairs = append(pairs, v[0], v[1])
		}
		filled = append(filled, strings.NewReplacer(pairs...).Replace(arg))
	}
	return filled, true
}
