package adminapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nomen-project/nomen/name"
)

// linksPath is the path of the checks of locations:
//
//	GET   links          [Links]; verdict, after, limit
//	GET   links/status   [LinkStatus]
//	GET   links/changes  [LinkChanges]; since, until
//	GET   links/{name}   [Links] with the locations of a name
//	POST  links/{name}   [LinkRequest]; returns [Links]
const linksPath = "links"

// A Link is a location that the server checks, with the results of the checks. A time is absent if
// the event has not happened.
type Link struct {
	URL       string    `json:"url"`
	Names     []string  `json:"names,omitempty"`      // active names with this location that the token may read, at most [MaxLinkNames]
	Verdict   string    `json:"verdict"`              // unknown, confirmed, good, blocked, suspect, failing, dead or ignored
	Outcome   string    `json:"outcome,omitempty"`    // result of the last check: ok, soft, refused, private, gone, removed, no-host, trouble or tls
	Status    int       `json:"status,omitempty"`     // HTTP status of the last check
	Checked   time.Time `json:"checked,omitzero"`     // last check
	Good      time.Time `json:"good,omitzero"`        // last check with a good result
	Since     time.Time `json:"since,omitzero"`       // first of the failures in a row
	Failures  int       `json:"failures,omitempty"`   // number of failures in a row
	Due       time.Time `json:"due,omitzero"`         // next check
	Until     time.Time `json:"until,omitzero"`       // end of the verdict ignored
	Moved     bool      `json:"moved,omitempty"`      // permanently redirected for some time, so the location could be updated
	Changed   bool      `json:"changed,omitempty"`    // the text of the page has changed
	HostFails string    `json:"host_fails,omitempty"` // outcome for the host, if all of its locations fail
	Detail    string    `json:"detail,omitempty"`     // answer of the host, or reason for which there is no copy; only in responses to a [LinkRequest]
	Archived  []string  `json:"archived,omitempty"`   // those of Names that have a location with the relation archive or memento
	Copy      *LinkCopy `json:"copy,omitempty"`       // only in the response to a request for copies
}

// A LinkCopy is a preserved copy of a location in a web archive.
type LinkCopy struct {
	URL  string    `json:"url"`
	Time time.Time `json:"time"` // when the archive made it
}

// MaxLinkNames is the maximum number of names in a [Link].
const MaxLinkNames = 10

// Links are the states of locations.
type Links struct {
	Links []Link `json:"links"`
	Next  string `json:"next,omitempty"` // value of "after" for the next page; "" on the last page
}

// A LinkStatus is the progress of the checks. The counts and the hosts are absent if the token may
// not read all names.
type LinkStatus struct {
	Counts  map[string]int64 `json:"counts,omitempty"`  // locations by verdict
	Checks  uint64           `json:"checks"`            // number of checks since the start of the server
	Reading bool             `json:"reading,omitempty"` // the server is still reading the names
	Round   time.Time        `json:"round,omitzero"`    // time at which each location had been checked at least once; absent before
	Paused  time.Time        `json:"paused,omitzero"`   // end of the pause in checking after a failure of the server's own network
	Other   bool             `json:"other,omitempty"`   // another server that uses the same database checks the locations
	Failing []LinkHost       `json:"failing,omitempty"` // hosts all of whose locations fail; at most 200
	Sampled []LinkHost       `json:"sampled,omitempty"` // hosts with more locations than can be checked in 30 days; at most 200
	Archive string           `json:"archive,omitempty"` // host of the archive that the server asks for preserved copies
	Error   string           `json:"error,omitempty"`   // reason for which the server does not find new locations
}

// A LinkHost is a host of locations.
type LinkHost struct {
	Host    string    `json:"host"`
	Links   int       `json:"links"`
	Outcome string    `json:"outcome,omitempty"` // for a failing host
	Since   time.Time `json:"since,omitzero"`    // for a failing host
	Checked int64     `json:"checked,omitempty"` // for a sampled host: approximate number of locations checked in 30 days
}

// LinkChanges are the changes of locations and hosts since a time, by host. The server keeps
// changes for 90 days.
type LinkChanges struct {
	Since time.Time        `json:"since"`
	Until time.Time        `json:"until,omitzero"` // changes from this time on are left out; absent for none
	Hosts []LinkHostChange `json:"hosts"`          // in the order of their names
}

// A LinkHostChange is the change of a host and its locations.
type LinkHostChange struct {
	Host      string   `json:"host"`
	Dead      int      `json:"dead,omitempty"`      // locations that have become dead
	Recovered int      `json:"recovered,omitempty"` // locations that were dead and answer again
	Failing   bool     `json:"failing,omitempty"`   // all locations of the host began to fail
	Back      bool     `json:"back,omitempty"`      // the host answers again
	URLs      []string `json:"urls,omitempty"`      // the first dead locations, at most [MaxLinkNames]
}

// LinkChanges returns the changes since a time. If the parameter until is not zero, changes at or
// after that time are left out.
func (c *Client) LinkChanges(ctx context.Context, since, until time.Time) (LinkChanges, error) {
	q := url.Values{"since": {since.UTC().Format(time.RFC3339)}}
	if !until.IsZero() {
		q.Set("until", until.UTC().Format(time.RFC3339))
	}
	return request[LinkChanges](ctx, c, http.MethodGet, linksPath+"/changes", q, nil)
}

// A LinkRequest is the body of POST links/{name}. One of Check, Ignore, Suggest and Accept must be set.
type LinkRequest struct {
	URL    string    `json:"url,omitempty"`    // a single location of the name; "" for all
	Check  bool      `json:"check,omitempty"`  // check the locations immediately
	Ignore *Ignoring `json:"ignore,omitempty"` // turn the checks off or on

	// Suggest asks an archive for copies of the dead locations. It does not change the record.
	Suggest bool `json:"suggest,omitempty"`

	// Accept is the URL of a copy that the server has suggested for the location URL. It becomes a
	// location of the name with the relation archive. Why is the reason in the history.
	Accept string `json:"accept,omitempty"`
	Why    string `json:"why,omitempty"`
}

// An Ignoring turns the checks of a location off until a time, or on again.
type Ignoring struct {
	Until time.Time `json:"until,omitzero"` // absent to turn the checks on
}

// LinkStatus returns the progress of the checks of locations.
func (c *Client) LinkStatus(ctx context.Context) (LinkStatus, error) {
	return request[LinkStatus](ctx, c, http.MethodGet, linksPath+"/status", nil, nil)
}

// Links returns a page of the locations with a verdict, which must be blocked, suspect, failing,
// dead or ignored. The page has only URLs that sort after the parameter after. A limit of 0 stands
// for the default limit.
func (c *Client) Links(ctx context.Context, verdict, after string, limit int) (Links, error) {
	q := url.Values{"verdict": {verdict}}
	setText(q, "after", after)
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return request[Links](ctx, c, http.MethodGet, linksPath, q, nil)
}

// LinksOf returns the locations of a name with their states.
func (c *Client) LinksOf(ctx context.Context, n name.Name) (Links, error) {
	return request[Links](ctx, c, http.MethodGet, linksPath+"/"+EscapeName(n.Key()), nil, nil)
}

// DoLinks carries out a request about the locations of a name: it checks them, turns the checks off
// or on, searches for preserved copies, or adds a copy to the name. It returns the new states of
// the locations.
func (c *Client) DoLinks(ctx context.Context, n name.Name, r LinkRequest) (Links, error) {
	return request[Links](ctx, c, http.MethodPost, linksPath+"/"+EscapeName(n.Key()), nil, r)
}
