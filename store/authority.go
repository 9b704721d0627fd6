package store

import (
	"slices"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// An Authority is a prefix of keys and the policy under which its names live.
type Authority struct {
	Prefix      name.Prefix   `json:"prefix"`
	Owners      []string      `json:"owners,omitempty"`          // who answers for it; fewer than two is warned about
	Hosts       []string      `json:"hosts,omitempty"`           // Host fields under which it is asked
	Addresses   []string      `json:"addresses,omitempty"`       // local addresses at which it is asked
	Default     bool          `json:"default,omitempty"`         // asked when nothing else says who is meant
	Parents     []string      `json:"parents,omitempty"`         // who authorised it (1995, 3.5.4)
	Children    []string      `json:"children,omitempty"`        // whom it authorised (1995, 3.5.3)
	Contact     string        `json:"contact,omitempty"`         // a URL, mostly mailto:
	Description string        `json:"description,omitempty"`     // for people
	List        bool          `json:"list,omitempty"`            // urn+a lists its ElementIDs (1995, 3.5.2)
	Service     nomen.Service `json:"default_service,omitempty"` // of web paths; I2L if empty
	FoldCase    bool          `json:"fold_case,omitempty"`       // its elements are kept and asked in lower case
	Redirect    int           `json:"redirect_status,omitempty"` // of I2L to HTTP/1.1 clients; 303 if 0

	Policy // of its answers

	Modified time.Time `json:"modified,omitzero"`  // of the last change; set by the store
	Revision uint64    `json:"revision,omitempty"` // from 1; set by the store
	Redacted bool      `json:"redacted,omitempty"` // its content was removed for ever; set by the store
}

// Clone returns a copy in normal form that shares nothing with a.
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

// SameContent reports whether a and o, both in normal form, differ in nothing
// but the time and number of their revisions.
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
