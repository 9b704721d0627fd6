package store

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/uri"
)

// A Compiled holds the compiled rules and the parsed delegation of an authority. It is immutable
// and safe for concurrent use.
type Compiled struct {
	Rules *rule.Compiled // nil if the authority has no rules
	Link  *rule.Link     // URI template of the delegation; nil if it has none
	Host  string         // host:port of the resolver, if the delegation has the address of an authority
	Form  string         // form of names in requests to Host: FormFull or FormElement; "" if Host accepts both
	Via   string         // address of a DSpace repository, if the delegation has one
}

// dspaceLabel is the prefix of the address of a DSpace repository in a delegation. Requests cannot
// be redirected to such a repository, because only nomen can query it.
const dspaceLabel = "dspace:"

// authorityPort is the default port of the host of an authority (Y95-29).
const authorityPort = 4500

// A DelegationError reports an invalid delegation.
type DelegationError struct {
	To  string
	Err error
}

func (e *DelegationError) Error() string {
	return fmt.Sprintf("store: delegation to %q: %s", e.To, e.Err)
}

func (e *DelegationError) Unwrap() error { return e.Err }

// Compile compiles the rules of the authority, runs the tests of the rules, and parses the
// delegation. The error is a [*rule.IndexError], a [*rule.TestError] or a [*DelegationError].
func (a *Authority) Compile() (*Compiled, error) {
	c := &Compiled{}
	var err error
	if len(a.Rules) > 0 {
		if c.Rules, err = a.Rules.Compile(a.Prefix); err != nil {
			return nil, err
		}
	}
	if d := a.Delegation; d != nil && d.To != "" {
		if err := c.delegate(d.To); err != nil {
			return nil, &DelegationError{d.To, err}
		}
		if c.Via != "" && d.Mode != ModeAsk {
			return nil, &DelegationError{d.To, errOnlyAsked}
		}
	}
	return c, nil
}

func (c *Compiled) delegate(to string) (err error) {
	if base, ok := strings.CutPrefix(to, dspaceLabel); ok {
		c.Via = to
		return checkDSpace(base)
	}
	if strings.Contains(to, "://") {
		link, err := rule.ParseLink(to)
		c.Link = &link
		return err
	}
	to, form, hasForm := strings.Cut(to, "/")
	c.Form = form
	if c.Host, err = hostPort(to); hasForm && form != FormFull && form != FormElement {
		err = errNoHost
	}
	return err
}

var (
	errOnlyAsked = errors.New("a DSpace repository needs the mode ask")
	errNoDSpace  = errors.New(`expected "dspace:" and the URL of a DSpace server, such as dspace:https://repository.example/server`)
)

func checkDSpace(base string) error {
	u, err := uri.Parse(base)
	if err != nil {
		return errNoDSpace
	}
	host, _ := u.Host()
	_, userinfo := u.Userinfo()
	_, query := u.Query()
	_, fragment := u.Fragment()
	if scheme, _ := u.Scheme(); !ascii.IsOneOf(scheme, "http", "https") || host == "" || userinfo || query || fragment || strings.ContainsAny(base, "{}") {
		return errNoDSpace
	}
	return nil
}

// Forms of the names in requests to another resolver. In a delegation, the form follows the address
// of the resolver as /full or /element.
const (
	FormFull    = "full"    // the whole name
	FormElement = "element" // only the ElementID of a URN (draft of 1995, 3.3)
)

var errNoHost = errors.New(`expected a template that begins with "https://", or HOST or HOST:PORT, optionally followed by /full or /element, or "dspace:" and the URL of a DSpace server`)

// hostPort parses HOST or HOST:PORT, and returns HOST:PORT with the host in lower case. The default
// port is authorityPort.
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
		port = strconv.Itoa(authorityPort)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errNoHost
	}
	return strings.ToLower(host) + ":" + port, nil
}
