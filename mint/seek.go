package mint

import (
	"bytes"
	"iter"

	"github.com/nomen-project/nomen/name"
)

// A List yields the names that exist whose keys begin with a prefix, in the byte
// order of their keys.
type List func(prefix string) iter.Seq2[name.Name, error]

// Seek makes a sequence go on after the highest number that a listed name has. In
// a sequence of fixed width, the digits are found one after the other, from the
// highest that there is: about ten short lists for each, however many names there
// are. Else all names are read that begin as those of the template do. Without a
// sequence it does nothing.
func (r *Run) Seek(list List) error {
	last := bytes.LastIndexByte(r.shape.role, '#')
	if last < 0 {
		return nil
	}
	under := r.Under()
	if r.shape.grows || bytes.IndexByte(r.shape.role[:last], '?') >= 0 {
		_, err := r.meet(list(under), false)
		return err
	}
	_, err := r.descend(list, []byte(under), last)
	return err
}

// descend looks for the highest number whose key begins with prefix, up to the
// last digit, and reports whether there is one. The depth is that of the digits.
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

// meet goes on after each of the names, or after the first one only, and reports
// whether one was a name of the template.
func (r *Run) meet(names iter.Seq2[name.Name, error], once bool) (met bool, err error) {
	for n, err := range names {
		if err != nil {
			return met, err
		}
		if met = r.After(n) || met; met && once {
			break
		}
	}
	return met, nil
}

// exist reports whether there is a name at all.
func exist(names iter.Seq2[name.Name, error]) (bool, error) {
	for _, err := range names {
		return err == nil, err
	}
	return false, nil
}
