package adminapi

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// A Count is the progress of a count. The server counts in the background and keeps the result, so
// the cost of a request for statistics does not depend on the number of names.
type Count struct {
	Counted  time.Time `json:"counted,omitzero"` // start of the last complete count; absent if no count is complete
	Counting bool      `json:"counting"`         // a count is running
	Done     uint64    `json:"done,omitempty"`   // number of items that the running count has read
}

// Final reports whether the server has counted and is not counting again.
func (c Count) Final() bool { return !c.Counting && !c.Counted.IsZero() }

// Statistics are the response to GET statistics: the names that the token may read, and their
// locations.
type Statistics struct {
	Count
	Names      []NameCount      `json:"names"`                 // by authority, in the order of the prefixes
	Hosts      []HostCount      `json:"hosts"`                 // hosts of locations, the most frequent first
	OtherHosts uint64           `json:"other_hosts,omitempty"` // locations of hosts that are not in Hosts
	Faults     []LocationFault  `json:"faults"`                // the first faulty locations, in the order of the names
	FaultCount map[string]int64 `json:"fault_count,omitempty"` // by kind
}

// A NameCount is the number of names of an authority, by status.
type NameCount struct {
	Prefix   string `json:"prefix"` // "" for names without an authority
	Active   uint64 `json:"active"`
	Reserved uint64 `json:"reserved"`
	Retired  uint64 `json:"retired"`
}

// A HostCount is the number of locations of a host.
type HostCount struct {
	Host      string `json:"host"` // as in the URL, in lower case
	Locations uint64 `json:"locations"`
	HTTP      uint64 `json:"http,omitempty"`
	HTTPS     uint64 `json:"https,omitempty"`
}

// The kinds of faults of locations.
const (
	FaultPast = "past" // valid_until has passed
	FaultDown = "down" // an editor has marked the location as unavailable
)

// A LocationFault is a location to which readers are not redirected.
type LocationFault struct {
	Name  string `json:"name"`
	URL   string `json:"url"`
	Kind  string `json:"kind"`
	Until string `json:"until,omitempty"` // end of validity
}

// MonthLayout is the layout of a month for [time.Parse] and [time.Time.Format].
const MonthLayout = "2006-01"

// Activity is the response to GET statistics/changes: the changes of a month that the token may
// read.
type Activity struct {
	Count
	Month       string        `json:"month"`                  // such as 2026-11
	Days        []DayCount    `json:"days"`                   // all days of the month up to now
	People      []PersonCount `json:"people"`                 // most active first
	OtherPeople int           `json:"other_people,omitempty"` // users and tokens that are not in People
}

// Changes are the numbers of changes of each kind.
type Changes struct {
	Created uint64 `json:"created"` // names created
	Changed uint64 `json:"changed"` // names changed
	Retired uint64 `json:"retired"` // names retired, or their tombstones changed
	Other   uint64 `json:"other"`   // names deleted, and changes of authorities and users
}

// Total returns the number of all changes.
func (c Changes) Total() uint64 { return c.Created + c.Changed + c.Retired + c.Other }

// A DayCount is the number of changes on a day (UTC).
type DayCount struct {
	Day string `json:"day"` // such as 2026-11-20
	Changes
}

// A PersonCount is the number of changes that a user or token made.
type PersonCount struct {
	Who      string `json:"who,omitempty"` // "" for the operator of the machine
	WhoName  string `json:"who_name,omitempty"`
	Redacted bool   `json:"redacted,omitempty"` // who made the changes was removed; Who is ""
	Changes
}

// Statistics returns the statistics of the last complete count of names. If fresh is set and this
// count began more than a minute ago, the server starts another count, but responds without waiting
// for it.
func (c *Client) Statistics(ctx context.Context, fresh bool) (Statistics, error) {
	q := url.Values{}
	if fresh {
		q.Set("fresh", "1")
	}
	return request[Statistics](ctx, c, http.MethodGet, "statistics", q, nil)
}

// Activity returns the changes of a month, such as 2026-11.
func (c *Client) Activity(ctx context.Context, month string) (Activity, error) {
	return request[Activity](ctx, c, http.MethodGet, "statistics/changes", url.Values{"month": {month}}, nil)
}
