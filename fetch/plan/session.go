package plan

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

// A Session describes an interactive session for a person. All strings are decoded.
type Session struct {
	Scheme string // in lower case
	Host   string // without brackets
	Port   string // "" means the default
	User   string // to show to the user; may be empty
	// Password may be shown to the user. It is never an argument of a command, because all users of
	// a machine can read the arguments of processes.
	Password string
}

// SessionOf returns the session that a locator opens.
func SessionOf(u uri.URI) Session {
	name, _ := u.Scheme()
	s := Session{Scheme: strings.ToLower(name)}
	parts := partsOf("telnet", u)
	host, _ := u.Data(uri.ComponentHost)
	s.Host = string(host)
	if u.HostKind() == uri.HostIPv6 {
		s.Host = strings.Trim(s.Host, "[]")
	}
	s.User, s.Password = partData(parts, "user"), partData(parts, "password")
	if port, ok := scheme.Get(parts, "port"); ok && port != "" {
		if port != standardPort(s.Scheme) {
			s.Port = port
		}
	}
	return s
}

func standardPort(name string) string {
	switch name {
	case "telnet", "rlogin", "tn3270":
		s, _ := scheme.Standard().Lookup(name)
		return s.DefaultPort
	}
	return ""
}

// An InteractiveError means that a locator opens an interactive session instead of locating an
// object. It wraps [ErrInteractive].
type InteractiveError struct{ Session Session }

// Error describes the session without its password.
func (e *InteractiveError) Error() string {
	return fmt.Sprintf("scheme: %s session on %q: %v", e.Session.Scheme, e.Session.Host, ErrInteractive)
}

// Unwrap returns [ErrInteractive].
func (e *InteractiveError) Unwrap() error { return ErrInteractive }

// ErrUnsafeSession means that a program could misinterpret the host, the port or the user of a
// session.
var ErrUnsafeSession = errors.New("not safe to pass to a program")

// ErrNoLauncher means that no program is configured for a session.
var ErrNoLauncher = errors.New("no program configured for this kind of session")

// A Launcher is a program that opens sessions, with groups of arguments. The variables {host},
// {port} and {user} in the arguments are replaced. If the session does not have the value of a
// variable, the whole group is omitted. The program is executed without a shell.
type Launcher struct {
	Program string
	Args    [][]string
}

// UsualLaunchers maps schemes to the usual programs on Unix.
func UsualLaunchers() map[string]Launcher {
	return map[string]Launcher{
		"telnet": {"telnet", [][]string{{"-l", "{user}"}, {"{host}"}, {"{port}"}}},
		"rlogin": {"rlogin", [][]string{{"-l", "{user}"}, {"-p", "{port}"}, {"{host}"}}},
		"tn3270": {"tn3270", [][]string{{"{host}"}, {"{port}"}}},
	}
}

// Command returns the program and the arguments that open a session. The error wraps
// [ErrNoLauncher] or [ErrUnsafeSession].
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

// unsafe returns the reason for which a program could misinterpret the session, or "".
func (s Session) unsafe() string {
	if !isHost(s.Host) && !isIPv6Text(s.Host) {
		return fmt.Sprintf("invalid host name %q", s.Host)
	}
	if n, err := strconv.ParseUint(s.Port, 10, 16); s.Port != "" && (err != nil || n == 0) {
		return fmt.Sprintf("invalid port %q", s.Port)
	}
	if strings.HasPrefix(s.User, "-") {
		return fmt.Sprintf("the user name %q could be read as an option", s.User)
	}
	if strings.ContainsFunc(s.User, func(r rune) bool { return r < ' ' || r == 0x7F }) {
		return fmt.Sprintf("the user name %q contains control characters", s.User)
	}
	return ""
}

func isIPv6Text(s string) bool {
	return strings.Count(s, ":") >= 2 && ascii.All(s, func(c byte) bool { return ascii.IsHex(c) || c == ':' || c == '.' })
}

// fill replaces the variables in a group of arguments. It returns false if a value is missing.
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
