package ezid

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen/internal/anvl"
	"github.com/nomen-project/nomen/store"
)

func (h *Handler) status(c *call) reply {
	q, err := url.ParseQuery(c.query)
	if err != nil {
		return badRequest("unrecognized URL query parameter '" + oneLine(c.query) + "'")
	}
	subsystems := q.Get("subsystems")
	_, listed := q["subsystems"]
	q.Del("subsystems")
	c.query = q.Encode()
	on, failure := c.options("detailed")
	if !failure.ok() {
		return failure
	}
	r := succeeded("EZID is up")
	if on["detailed"] {
		r = succeeded(fmt.Sprintf("running activeOperations=%d waitingRequests=0 binderQueueLength=0 dataciteQueueLength=0", h.active.Load()))
	}
	if listed {
		return h.subsystems(r, subsystems)
	}
	return r
}

// subsystems adds a line for each EZID subsystem that the client has listed. Because nomen does not
// have these subsystems, each line shows the state of the store.
func (h *Handler) subsystems(r reply, list string) reply {
	state := "up"
	if store.ConditionOf(h.Store) != (store.Condition{}) {
		state = "down"
	}
	if list == "*" {
		list = "datacite,search"
	}
	for s := range strings.SplitSeq(list, ",") {
		switch s = strings.TrimSpace(s); s {
		case "":
		case "binder", "datacite", "search":
			r.body = anvl.AppendElement(r.body, s, state)
		default:
			return badRequest("no such subsystem")
		}
	}
	return r
}

func (h *Handler) version(*call) reply { return reply{text: h.Version, raw: true} }
