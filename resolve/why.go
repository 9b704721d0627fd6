package resolve

import (
	"errors"
	"fmt"

	"github.com/nomen-project/nomen"
)

// maxExplained bounds the locations whose ranks are told.
const maxExplained = 20

// explain notes how the answer comes about. Callers look at d.q.Explain first:
// nobody else pays for it.
func (d *decision) explain(format string, args ...any) {
	d.why = append(d.why, fmt.Sprintf(format, args...))
}

// explained adds to an error about a name how it came about.
func (d *decision) explained(err error) error {
	var e *nomen.Error
	if errors.As(err, &e) && d.q.Explain {
		e.Why = append(d.why, e.Why...)
	}
	return err
}

// explainRanks tells by what the locations were ordered, the chosen one first.
func (d *decision) explainRanks(c *choice, locations []nomen.Location) {
	for i := range locations {
		if i == maxExplained {
			d.explain("and %d locations more", len(locations)-i)
			return
		}
		l := &locations[i]
		d.explain("location %d: %s: %s, weight %d", i+1, l.URL, c.rank(l), orOne(l.Weight))
	}
}
