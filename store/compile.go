package store

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/uri"
)

// A Compiled is an authority's rules and delegation, ready to be asked. It is
// immutable and safe for concurrent use.
type Compiled struct {
	Rules *rule.Compiled // nil if there are none
	Link  *rule.Link     // of a delegation to a template, else nil
	Host  string         // of a delegation to an authority's address: host:port
	Form  string         // in which names are asked for at Host: FormFull, FormElement or "" for either
}

// AuthorityPort is where an authority is asked if nobody says otherwise (1995,
// 3.2; Y95-29).
const AuthorityPort = 4500

// A DelegationError is the refusal of a delegation.
type DelegationError struct {
	To  string
	Err error
}

func (e *DelegationError) Error() string {
	return fmt.Sprintf("store: delegation to %q: %s", e.To, e.Err)
}

func (e *DelegationError) Unwrap() error { return e.Err }

// Compile makes the rules and the delegation of a ready, and runs the tests of the
// rules. The error is an [*rule.IndexError], an [*rule.TestError] or a
// [*DelegationError].
func (a *Authority) Compile() (*Compiled, error) {
	c := &Compiled{}
	if len(a.Rules) > 0 {
		rules, err := a.Rules.Compile(a.Prefix)
		if err != nil {
			return nil, err
		}
		c.Rules = rules
	}
	if a.Delegation == nil || a.Delegation.To == "" {
		return c, nil
	}
	var err error
	if to := a.Delegation.To; strings.Contains(to, "://") {
		var link rule.Link
		link, err = rule.ParseLink(to)
		c.Link = &link
	} else {
		var told bool
		to, c.Form, told = strings.Cut(to, "/")
		if c.Host, err = hostPort(to); told && c.Form != FormFull && c.Form != FormElement {
			err = errNoHost
		}
	}
	if err != nil {
		return nil, &DelegationError{a.Delegation.To, err}
	}
	return c, nil
}

// The forms in which the resolver at an address is asked for a name: /full or /element
// after HOST:PORT.
const (
	FormFull    = "full"    // the whole name
	FormElement = "element" // the ElementID of a URN (1995, 3.3)
)

var errNoHost = errors.New(`want a template that begins with "https://", HOST or HOST:PORT, and after that perhaps /full or /element`)

// hostPort returns HOST or HOST:PORT with its port, in lower case.
func hostPort(s string) (string, error) {
	u, err := uri.Parse("http://" + s)
	if err != nil {
		return "", errNoHost
	}
	host, _ := u.Host()
	_, userinfo := u.Userinfo()
	port, given := u.Port()
	if host == "" || userinfo || u.Path() != "" || strings.ContainsAny(s, "?#%") {
		return "", errNoHost
	}
	if !given {
		port = strconv.Itoa(AuthorityPort)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errNoHost
	}
	return strings.ToLower(host) + ":" + port, nil
}
