package resolve

import (
	"errors"
	"fmt"

	"github.com/nomen-project/nomen"
)

const maxExplained = 20

// explain adds a step to the explanation. Callers check d.q.Explain first, so that the arguments
// are evaluated only if an explanation is requested.
func (d *decision) explain(format string, args ...any) {
	d.why = append(d.why, fmt.Sprintf(format, args...))
}

func (d *decision) explained(err error) error {
	var e *nomen.Error
	if errors.As(err, &e) && d.q.Explain {
		e.Why = append(d.why, e.Why...)
	}
	return err
}

func (d *decision) explainRanks(c *choice, locations []nomen.Location) {
	for i := range locations {
		if i == maxExplained {
			d.explain("and %d more locations", len(locations)-i)
			return
		}
		l := &locations[i]
		d.explain("location %d: %s: %s, weight %d", i+1, l.URL, c.rank(l), orOne(l.Weight))
	}
}
