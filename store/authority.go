package store

import (
	"slices"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// An Authority is a naming authority: a prefix, and the policy for all names with this prefix. The
// keys in TOML and JSON are the same. TOML omits the fields that the store sets.
type Authority struct {
	Prefix      name.Prefix   `json:"prefix"`
	Owners      []string      `json:"owners,omitempty"`                                 // responsible people or departments; fewer than two cause a warning
	Hosts       []string      `json:"hosts,omitempty"`                                  // a request whose Host field is one of these selects the authority
	Addresses   []string      `json:"addresses,omitempty"`                              // a request to one of these local IP addresses selects the authority
	Default     bool          `json:"default,omitempty"`                                // selected by requests that select no other authority
	Parents     []string      `json:"parents,omitempty"`                                // authorities that have authorized this authority (draft of 1995, 3.5.4)
	Children    []string      `json:"children,omitempty"`                               // authorities that this authority has authorized (draft of 1995, 3.5.3)
	Contact     string        `json:"contact,omitempty"`                                // a URL, usually mailto:
	Description string        `json:"description,omitempty"`                            // for people to read
	List        bool          `json:"list,omitempty"`                                   // service urn+a lists the ElementIDs (draft of 1995, 3.5.2)
	Service     nomen.Service `json:"default_service,omitempty" toml:"default_service"` // service for requests of web paths; I2L if empty
	FoldCase    bool          `json:"fold_case,omitempty" toml:"fold_case"`             // elements are stored and looked up in lower case
	Redirect    int           `json:"redirect_status,omitempty" toml:"redirect_status"` // status of I2L responses to HTTP/1.1 clients; 303 if 0

	Policy // how requests for its names are answered

	Modified time.Time `json:"modified,omitzero" toml:"-"`  // time of the last change; set by the store
	Revision uint64    `json:"revision,omitempty" toml:"-"` // number of the last change, from 1; set by the store
	Redacted bool      `json:"redacted,omitempty" toml:"-"` // the content was removed by a redaction; set by the store
}

// Clone returns a deep copy of the authority in normal form.
func (a *Authority) Clone() *Authority {
	c := *a
	c.Owners = cloneList(a.Owners)
	c.Hosts = cloneList(a.Hosts)
	c.Addresses = cloneList(a.Addresses)
	c.Parents = cloneList(a.Parents)
	c.Children = cloneList(a.Children)
	c.Policy = a.clone()
	c.Modified = wholeMillis(a.Modified)
	return &c
}

// SameContent reports whether a and o differ at most in Modified and Revision. Both must be in
// normal form (see [Authority.Clone]).
func (a *Authority) SameContent(o *Authority) bool {
	return a.Prefix == o.Prefix &&
		slices.Equal(a.Owners, o.Owners) &&
		slices.Equal(a.Hosts, o.Hosts) &&
		slices.Equal(a.Addresses, o.Addresses) &&
		a.Default == o.Default &&
		slices.Equal(a.Parents, o.Parents) &&
		slices.Equal(a.Children, o.Children) &&
		a.Contact == o.Contact &&
		a.Description == o.Description &&
		a.List == o.List &&
		a.Service == o.Service &&
		a.FoldCase == o.FoldCase &&
		a.Redirect == o.Redirect &&
		a.Text() == o.Text() &&
		a.Redacted == o.Redacted
}
