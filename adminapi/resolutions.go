package adminapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// Resolutions are the response to GET statistics/resolutions. They are the numbers of resolutions
// of a name, or of the names of authorities. The numbers differ from the Requests metrics of
// COUNTER.
type Resolutions struct {
	Name   string `json:"name,omitempty"`   // the name, if the counts are about one name
	Prefix string `json:"prefix,omitempty"` // otherwise the beginning of the prefixes of the authorities; "" for all
	From   string `json:"from"`             // first month, such as 2026-10
	To     string `json:"to"`               // last month

	Total    ByClass             `json:"total"`              // resolutions of names that are active
	Gone     ByClass             `json:"gone"`               // requests for retired names
	Failed   ByClass             `json:"failed"`             // failed lookups; zero for a name
	Periods  []PeriodResolutions `json:"periods"`            // periods with resolutions, in chronological order
	Services []ServiceCount      `json:"services"`           // resolutions in Total by service
	Names    []NameResolutions   `json:"names,omitempty"`    // the most resolved names; an alias has its own counts here
	Aliases  []NameResolutions   `json:"aliases,omitempty"`  // resolutions of the aliases of the name, which are also in Total
	Few      bool                `json:"few,omitempty"`      // counts of a name below 3 a day are left out, because the client does not have the role owner
	Disabled bool                `json:"disabled,omitempty"` // the server does not count resolutions
}

// ByClass has counts by the kind of client.
type ByClass struct {
	Regular uint64 `json:"regular"` // browsers and other programs that people use
	Machine uint64 `json:"machine"` // libraries and programs such as curl
	Bot     uint64 `json:"bot"`     // robots in the list of COUNTER
	Unknown uint64 `json:"unknown"` // no User-Agent field
}

// Sum returns the sum of all counts.
func (b ByClass) Sum() uint64 { return b.Regular + b.Machine + b.Bot + b.Unknown }

// A PeriodResolutions has the counts of a day or of a month.
type PeriodResolutions struct {
	Period string `json:"period"` // such as 2026-11-24, or 2026-08 if only the sum of the month is kept
	ByClass
}

// A ServiceCount has the counts of a service.
type ServiceCount struct {
	Service string `json:"service"` // such as I2L
	ByClass
}

// A NameResolutions has the counts of a name.
type NameResolutions struct {
	Name string `json:"name"`
	ByClass
}

// A ResolutionQuery selects the resolutions to count.
type ResolutionQuery struct {
	Name     string // a name; if "", Prefix applies
	Prefix   string // selects the authorities whose prefixes begin with this text
	From, To string // months such as 2026-11; by default, from two months ago to the current month
	Top      int    // number of names in the response
}

// Resolutions returns how often names were resolved.
func (c *Client) Resolutions(ctx context.Context, r ResolutionQuery) (Resolutions, error) {
	q := url.Values{}
	setText(q, "name", r.Name)
	setText(q, "prefix", r.Prefix)
	setText(q, "from", r.From)
	setText(q, "to", r.To)
	if r.Top > 0 {
		q.Set("top", strconv.Itoa(r.Top))
	}
	return request[Resolutions](ctx, c, http.MethodGet, "statistics/resolutions", q, nil)
}
