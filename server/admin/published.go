package admin

import (
	"time"

	"github.com/nomen-project/nomen/adminapi"
)

func (s *API) published() *adminapi.PublishedLog {
	if s.publish == nil {
		return nil
	}
	is := s.publish.Status()
	out := &adminapi.PublishedLog{
		Origin: is.Origin, Key: is.VKey, Size: is.Size, Time: pointerTo(is.Time), Waiting: is.Waiting, Problem: is.Problem, Cosigned: is.Cosigned, Needed: is.Need,
	}
	for _, o := range is.Outcomes {
		w := adminapi.AskedWitness{Name: o.Witness, URL: o.URL, Time: pointerTo(o.Time)}
		if o.Err != nil {
			w.Problem = o.Err.Error()
		}
		out.Asked = append(out.Asked, w)
	}
	return out
}

func pointerTo(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
