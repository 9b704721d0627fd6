package mint

import (
	"bytes"
	"iter"

	"github.com/nomen-project/nomen/name"
)

// A List returns an iterator over the existing names whose keys begin with a prefix, in the order
// of their keys.
type List func(prefix string) iter.Seq2[name.Name, error]

// Seek makes a run continue after the existing names. The function list returns existing names.
//
//   - A sequence continues after the highest number. If the numbers have a fixed width, Seek finds
//     the highest number digit by digit, and tries the highest value of each digit first. For each
//     digit, Seek reads about ten short lists, however many names exist. Without a fixed width, Seek
//     reads all names that begin with the fixed start of the template.
//   - A run in the order of NOID continues after the last existing name in that order. The number of short lists that Seek
//     reads is proportional to the logarithm of the number of names.
//
// For other templates Seek does nothing.
func (r *Run) Seek(list List) error {
	if r.noid != nil {
		return r.seekNoid(list)
	}
	last := bytes.LastIndexByte(r.shape.role, '#')
	if last < 0 {
		return nil
	}
	under := r.under()
	if r.shape.grows || bytes.IndexByte(r.shape.role[:last], '?') >= 0 {
		_, err := r.meet(list(under), false)
		return err
	}
	_, err := r.descend(list, []byte(under), last)
	return err
}

// descend continues the sequence after the highest number among the names whose keys begin with
// prefix, and reports whether such names exist. It calls itself for each digit of the number. The
// parameter last is the offset of the last digit in a key.
func (r *Run) descend(list List, prefix []byte, last int) (bool, error) {
	for len(prefix) <= last && r.shape.role[len(prefix)] == '=' {
		prefix = append(prefix, r.shape.base[len(prefix)])
	}
	if len(prefix) > last {
		return r.meet(list(string(prefix)), true)
	}
	for d := byte('9'); d >= '0'; d-- {
		next := append(bytes.Clone(prefix), d)
		some, err := exist(list(string(next)))
		if err == nil && some {
			some, err = r.descend(list, next, last)
		}
		if some || err != nil {
			return some, err
		}
	}
	return false, nil
}

// meet calls [Run.after] for each name, and reports whether at least one of the names belongs to
// the template. If first is true, it stops after this name.
func (r *Run) meet(names iter.Seq2[name.Name, error], first bool) (met bool, err error) {
	for n, err := range names {
		if err != nil {
			return met, err
		}
		if met = r.after(n) || met; met && first {
			break
		}
	}
	return met, nil
}

func exist(names iter.Seq2[name.Name, error]) (bool, error) {
	for _, err := range names {
		return err == nil, err
	}
	return false, nil
}
