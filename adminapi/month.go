package adminapi

import (
	"context"
	"net/http"
	"net/url"

	"github.com/nomen-project/nomen/misses"
)

// A MonthReport is the response to GET statistics/month. It describes what happened in a month to
// the names of an authority, or to all names that the token may read.
type MonthReport struct {
	Month  string `json:"month"`            // such as 2026-11
	Prefix string `json:"prefix,omitempty"` // beginning of the names; "" for all

	Resolutions Resolutions `json:"resolutions"`           // resolutions in the month
	Before      ByClass     `json:"before"`                // resolutions in the previous month
	FailedShare float64     `json:"failed_share"`          // percentage of lookups that failed, not counting lookups by robots
	Misses      []MonthMiss `json:"misses"`                // names whose lookups failed in the month, most frequent first
	MissesMore  int         `json:"misses_more,omitempty"` // number of names that are not in Misses
	MissesRare  int         `json:"misses_rare,omitempty"` // number of names that were requested once and are similar to no existing name; also not in Misses
	Changes     Changes     `json:"changes"`               // changes of names
	Links       *MonthLinks `json:"links,omitempty"`       // absent if the server does not check links
	Count                   // progress of the count of changes
}

// A MonthMiss is a name whose lookups failed in a month.
type MonthMiss struct {
	misses.Miss
	Seen int `json:"seen"` // number of the last 12 months in which a lookup failed
}

// MonthLinks are the links that a [MonthReport] lists: links that are dead when the report is made,
// and links that a user should look at.
type MonthLinks struct {
	Dead    []Link           `json:"dead"`              // links that failed for at least two weeks
	Look    []Link           `json:"look"`              // blocked or suspect: the host rejects programs, or answers with a different page
	Failing int              `json:"failing"`           // links whose failures are being counted
	Hosts   []LinkHostChange `json:"hosts"`             // changes since the beginning of the month
	More    bool             `json:"more,omitempty"`    // the lists are not complete
	Reading bool             `json:"reading,omitempty"` // the server is still reading the names
	Other   bool             `json:"other,omitempty"`   // another server that uses the same database checks the links
}

// MonthReport returns the report about a month such as 2026-11, for all names or for the names with
// a prefix.
func (c *Client) MonthReport(ctx context.Context, prefix, month string) (MonthReport, error) {
	q := url.Values{"month": {month}}
	setText(q, "prefix", prefix)
	return request[MonthReport](ctx, c, http.MethodGet, "statistics/month", q, nil)
}
