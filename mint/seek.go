package mint

import (
	"bytes"
	"iter"

	"github.com/nomen-project/nomen/name"
)

// A List yields the existing names whose keys begin with a prefix, in the byte
// order of their keys.
type List func(prefix string) iter.Seq2[name.Name, error]

// Seek continues a sequence after the highest number among the listed names. If the sequence has a
// fixed width, Seek determines the number digit by digit. For each digit it tries the highest value
// first. This takes about ten short lists for each digit, however many names exist. If the sequence
// has no fixed width, Seek reads all names that begin like the names of the template. In the order of
// NOID, Seek continues after the last existing name, with a few short lists each time the number of
// names doubles. In other templates, Seek does nothing.
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

// descend looks for the highest number among the existing names whose keys begin with prefix. It
// searches digit by digit, and continues the sequence after this number. It reports whether there is
// such a name. The parameter last is the offset of the last digit in the keys. The recursion depth is
// the number of digits.
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

// meet calls [Run.after] for each of the names. If first is set, it stops at the first name of
// the template. It reports whether any of the names is a name of the template.
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

// exist reports whether any name exists.
func exist(names iter.Seq2[name.Name, error]) (bool, error) {
	for _, err := range names {
		return err == nil, err
	}
	return false, nil
}
