package links

import (
	"strings"
	"time"
)

// A host is the state of a host. It is stored as JSON.
type host struct {
	Links  int       `json:"links"`            // number of locations of the host
	Queued uint32    `json:"queued,omitempty"` // time of the next visit, in seconds since 1970; 0 if the host is not in the queue
	Taken  time.Time `json:"taken,omitzero"`   // a server is visiting the host until this time
	Delay  int64     `json:"delay,omitempty"`  // delay in robots.txt, in milliseconds
	Slow   int       `json:"slow,omitempty"`   // see pace
	Row    int       `json:"row,omitempty"`
	Ring   string    `json:"ring,omitempty"`  // outcomes of the last checks, one letter for each
	Fails  int       `json:"fails,omitempty"` // number of checks in a row that failed with another status than 404 and 410
	Since  time.Time `json:"since,omitzero"`  // time of the first of these checks

	Failing  Outcome   `json:"failing,omitempty"`  // outcome for the host, if it fails as a whole; otherwise None
	Failed   time.Time `json:"failed,omitzero"`    // time since which the host fails
	Reported bool      `json:"reported,omitempty"` // an event has reported the failure
	Report   time.Time `json:"report,omitzero"`    // time of the last such event
	Exempt   time.Time `json:"exempt,omitzero"`    // until this time, failures of the locations always count

	HeadOdd bool      `json:"head_odd,omitempty"` // the host answers HEAD differently from GET
	Honest  time.Time `json:"honest,omitzero"`    // until this time, the host is not asked for locations that do not exist
	Honests int       `json:"honests,omitempty"`  // number of times in a row that the host answered that such a location does not exist
	End     uint64    `json:"end,omitempty"`      // hash of the URL at which the last redirects ended
	Ends    int       `json:"ends,omitempty"`     // number of different locations in a row that ended there
	From    uint64    `json:"from,omitempty"`     // hash of the last of these locations
}

// Conditions for the failure of a host as a whole, and for reporting it.
const (
	ringSize   = 50
	ringFails  = 20                  // number of locations in the ring that fail in the same way, if these are at least half of the ring
	rowFails   = 4                   // number of checks in a row that fail with another status than 404 and 410
	rowTime    = 24 * time.Hour      // minimum time from the first of these checks to the last
	reportTime = 24 * time.Hour      // a host that fails for a shorter time is not reported
	quietTime  = 14 * 24 * time.Hour // after a report, the host is not reported again for this time
	goneTime   = 3 * 24 * time.Hour  // after this time, failures with status 404 and 410 count
	frozenTime = 30 * 24 * time.Hour // after this time, other failures count
	exemptTime = 60 * 24 * time.Hour
	probeEvery = 6 * time.Hour // between two checks of a failing host
	manyEnds   = 5             // number of locations whose redirects end at the same URL
)

// kindOf returns the letter for an outcome in a ring. Outcomes with the same letter count as the
// same kind of failure.
func kindOf(o Outcome) byte {
	switch o {
	case Gone, Removed:
		return 'g'
	case NoHost:
		return 'n'
	case BadTLS:
		return 's'
	case Trouble:
		return 't'
	}
	return '.'
}

// observe records the outcome of a check. If the parameter again is true, the location had already
// failed at its last check, so this failure does not concern a further location.
func (h *host) observe(o Outcome, again bool, now time.Time) Event {
	kind := kindOf(o)
	switch {
	case o == None || o == Private:
		return NoEvent
	case kind == '.' && o == Refused: // neither a failure nor a success
		return NoEvent
	case kind == '.':
		h.push(kind)
		h.Fails, h.Since = 0, time.Time{}
		return h.answers(now)
	}
	if !again {
		h.push(kind)
	}
	if kind != 'g' { // a missing page is not evidence for a failure of the host
		if h.Fails == 0 {
			h.Since = now
		}
		h.Fails = min(h.Fails+1, maxCount)
	}
	if h.Failing != None {
		return h.stillFails(now)
	}
	if h.failsNow(kind, now) {
		h.Failing, h.Failed = o, now
	}
	return NoEvent
}

func (h *host) push(kind byte) {
	h.Ring += string(kind)
	h.Ring = h.Ring[max(len(h.Ring)-ringSize, 0):]
}

func (h *host) failsNow(kind byte, now time.Time) bool {
	if now.Before(h.Exempt) {
		return false
	}
	n := strings.Count(h.Ring, string(kind))
	return n >= ringFails && 2*n >= len(h.Ring) || kind != 'g' && h.Fails >= rowFails && now.Sub(h.Since) >= rowTime
}

func (h *host) answers(now time.Time) Event {
	was := h.Failing
	if was == None {
		return NoEvent
	}
	reported := h.Reported
	h.Failing, h.Failed, h.Reported, h.Ring = None, time.Time{}, false, ""
	if kindOf(was) == 'g' { // some locations of the host exist, so the others are really gone
		h.Exempt = now.Add(exemptTime)
	}
	if reported {
		return HostBack
	}
	return NoEvent
}

// stillFails records a further failure of a failing host.
func (h *host) stillFails(now time.Time) Event {
	limit := frozenTime
	if kindOf(h.Failing) == 'g' {
		limit = goneTime
	}
	long := now.Sub(h.Failed)
	if long >= limit {
		h.Failing, h.Failed, h.Reported, h.Ring, h.Exempt = None, time.Time{}, false, "", now.Add(exemptTime)
		return NoEvent
	}
	if long >= reportTime && !h.Reported && now.Sub(h.Report) >= quietTime {
		h.Reported, h.Report = true, now
		return HostFails
	}
	return NoEvent
}

// mend resets the failures of a host if their times are in the future, which means that they were
// recorded with a wrong clock. It reports whether it has changed anything.
func (h *host) mend(now time.Time) bool {
	limit := now.Add(maxSkew)
	if !h.Since.After(limit) && !h.Failed.After(limit) && !h.Report.After(limit) && !h.Exempt.After(limit.Add(exemptTime)) &&
		!h.Honest.After(limit.Add(honestTime)) && !h.Taken.After(limit) {
		return false
	}
	h.Since, h.Failed, h.Report, h.Exempt, h.Honest, h.Taken = time.Time{}, time.Time{}, time.Time{}, time.Time{}, time.Time{}, time.Time{}
	h.Fails, h.Failing, h.Reported, h.Ring = 0, None, false, ""
	return true
}

// redirected records the URL at which the redirects of a location end. It reports whether the
// redirects of many locations end there.
func (h *host) redirected(location, end uint64) bool {
	switch {
	case end == 0:
		return false
	case end != h.End:
		h.End, h.Ends, h.From = end, 1, location
	case location != h.From:
		h.Ends, h.From = min(h.Ends+1, maxCount), location
	}
	return h.Ends >= manyEnds
}

// probed records whether the host answered correctly for a location that does not exist. A single
// answer is not enough, because it could be caused by a temporary problem.
func (h *host) probed(honest bool, now time.Time) {
	if !honest {
		h.Honests = 0
		return
	}
	if h.Honests = min(h.Honests+1, maxCount); h.Honests > 1 {
		h.Honest = now.Add(honestTime)
	}
}

// A network detects a failure of the network of this machine. The evidence is that many hosts stop
// responding that responded before.
type network struct {
	ring  []surprise
	next  int
	least float64 // fraction of the checks
}

// A surprise is a check that a network has recorded.
type surprise struct {
	host string
	is   bool // the host did not respond, although it responded before
}

const (
	networkRing  = 200
	networkHosts = 20
	networkLeast = 40 // checks
)

// observe records a check, and reports whether the network probably fails.
func (n *network) observe(host string, is bool) bool {
	if len(n.ring) < networkRing {
		n.ring = append(n.ring, surprise{host, is})
	} else {
		n.ring[n.next] = surprise{host, is}
		n.next = (n.next + 1) % networkRing
	}
	if !is || len(n.ring) < networkLeast {
		return false
	}
	hosts, count := map[string]bool{}, 0
	for _, s := range n.ring {
		if s.is {
			hosts[s.host] = true
			count++
		}
	}
	return len(hosts) >= networkHosts && float64(count) >= n.least*float64(len(n.ring))
}

func (n *network) reset() { n.ring, n.next = nil, 0 }
