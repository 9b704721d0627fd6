package nomentest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// A view contains the parts of an answer that the suite compares. Other parts may vary between
// resolvers.
type view struct {
	Service    nomen.Service    `json:",omitempty"`
	Name       name.Name        `json:",omitzero"`
	Spelling   string           `json:",omitempty"`
	Status     nomen.Status     `json:",omitempty"`
	Locations  []nomen.Location `json:",omitempty"`
	Metadata   nomen.Metadata   `json:",omitempty"`
	Names      []string         `json:",omitempty"`
	Reason     string           `json:",omitempty"`
	Successors []name.Name      `json:",omitempty"`
	Redirect   string           `json:",omitempty"`
	Same       bool             `json:",omitempty"`
	Dated      bool             `json:",omitempty"` // the answer has a revision and a time
}

func (v view) String() string {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// compare returns an error if an answer differs from the expected answer in parts that the protocol
// sends.
func (c Capabilities) compare(got *nomen.Answer, tc testCase) error {
	if g, w := c.show(got, tc), c.show(tc.answer, tc); g != w {
		return fmt.Errorf("got %s\nwant %s", g, w)
	}
	return nil
}

// show returns the parts of an answer that are compared, as text.
func (c Capabilities) show(a *nomen.Answer, tc testCase) string {
	own := clone(a)
	if tc.unordered {
		slices.SortFunc(own.Locations, func(a, b nomen.Location) int { return cmp.Compare(a.URL, b.URL) })
	}
	if own.Redirect != "" {
		return redirection(own)
	}
	if c.Lossy != nil {
		c.Lossy(own)
	}
	v := view{
		Service: own.Service, Name: own.Name, Status: own.Status, Reason: own.Reason, Redirect: own.Redirect,
		Locations: own.Locations, Metadata: own.Metadata, Names: own.Names, Same: own.Same,
	}
	if describes(own) {
		v.Spelling, v.Successors = own.Spelling, own.Successors
		v.Dated = own.Revision > 0
	} else if v.Status == "" { // a redirect over HTTP has no status
		v.Status = nomen.Active
	}
	return v.String()
}

func describes(a *nomen.Answer) bool {
	return a.Service == nomen.I2C || a.Service == nomen.I2Cs || a.Status == nomen.Retired
}

// redirection returns the text for a redirect. If the target is a name, it is in canonical form.
func redirection(a *nomen.Answer) string {
	v := view{Service: a.Service, Name: a.Name, Redirect: a.Redirect}
	if n, err := name.Parse(a.Redirect); err == nil {
		v.Redirect = n.Key()
	}
	return v.String()
}

func clone(a *nomen.Answer) *nomen.Answer {
	c := *a
	c.Locations = slices.Clone(a.Locations)
	c.Metadata = maps.Clone(a.Metadata)
	c.Names = slices.Clone(a.Names)
	c.Successors = slices.Clone(a.Successors)
	return &c
}

// spoil modifies everything in an answer that a caller can modify.
func spoil(a *nomen.Answer) {
	for i := range a.Locations {
		a.Locations[i] = nomen.Location{URL: "https://spoiled.example/"}
	}
	for element, values := range a.Metadata {
		for i := range values {
			values[i] = "spoiled"
		}
		delete(a.Metadata, element)
	}
	for i := range a.Names {
		a.Names[i] = "urn:example:spoiled"
	}
	clear(a.Successors)
	a.Modified = time.Time{}
}
