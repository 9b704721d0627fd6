package store

import (
	"slices"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// An Authority is a prefix of names and the policy for them. TOML has the same keys as JSON,
// without the keys of the fields that the store sets.
type Authority struct {
	Prefix      name.Prefix   `json:"prefix"`
	Owners      []string      `json:"owners,omitempty"`                                 // responsible people or departments; fewer than two cause a warning
	Hosts       []string      `json:"hosts,omitempty"`                                  // values of Host that select it
	Addresses   []string      `json:"addresses,omitempty"`                              // local IP addresses that select it
	Default     bool          `json:"default,omitempty"`                                // selected when neither host nor address selects one
	Parents     []string      `json:"parents,omitempty"`                                // authorities that authorised it (1995, 3.5.4)
	Children    []string      `json:"children,omitempty"`                               // authorities that it authorised (1995, 3.5.3)
	Contact     string        `json:"contact,omitempty"`                                // a URL, usually mailto:
	Description string        `json:"description,omitempty"`                            // for people
	List        bool          `json:"list,omitempty"`                                   // urn+a lists its ElementIDs (1995, 3.5.2)
	Service     nomen.Service `json:"default_service,omitempty" toml:"default_service"` // for web paths; I2L if empty
	FoldCase    bool          `json:"fold_case,omitempty" toml:"fold_case"`             // its elements are stored and looked up in lower case
	Redirect    int           `json:"redirect_status,omitempty" toml:"redirect_status"` // for I2L to HTTP/1.1 clients; 303 if 0

	Policy // for its names

	Modified time.Time `json:"modified,omitzero" toml:"-"`  // time of the last change; set by the store
	Revision uint64    `json:"revision,omitempty" toml:"-"` // from 1; set by the store
	Redacted bool      `json:"redacted,omitempty" toml:"-"` // its content was redacted; set by the store
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

// SameContent reports whether a and o, both in normal form, are equal except for
// Modified and Revision.
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
