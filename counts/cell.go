package counts

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
)

// A Class is a class of clients. It is determined by the User-Agent field.
type Class uint8

// The classes.
const (
	Regular Class = iota // browsers, and all clients that are not in another class
	Machine              // programs and libraries that people use, such as curl
	Bot                  // robots in the list of COUNTER
	Unknown              // no User-Agent field
	Classes = 4          // number of classes
)

// String returns the name of the class.
func (c Class) String() string {
	return [Classes]string{"regular", "machine", "bot", "unknown"}[c%Classes]
}

// A What is the kind of answer that a client got: the service, or the reason for which there was no
// result.
type What uint8

// Values of What. They are stored and must not change.
const (
	Other  What = 0  // a service without a value of its own
	Gone   What = 10 // the description of a retired name
	Failed What = 11 // the name was unknown; only authorities have these counts
	whats       = 12 // number of values
)

var services = [...]nomen.Service{
	1: nomen.I2L, 2: nomen.I2Ls, 3: nomen.I2R, 4: nomen.I2Rs, 5: nomen.I2C, 6: nomen.I2Cs, 7: nomen.I2N, 8: nomen.I2Ns, 9: nomen.IisI,
}

// Of returns the What for answers of a service.
func Of(s nomen.Service) What {
	for i, known := range services {
		if i > 0 && known == s {
			return What(i)
		}
	}
	return Other
}

// String returns the name of the service, or "other", "gone" or "failed".
func (w What) String() string {
	switch {
	case w == Gone:
		return "gone"
	case w == Failed:
		return "failed"
	case w == Other || int(w) >= len(services):
		return "other"
	}
	return string(services[w])
}

// A Month is the number of months since January of the year 0.
type Month uint16

// MonthOf returns the month of a time (UTC).
func MonthOf(t time.Time) Month {
	t = t.UTC()
	return Month(t.Year()*12 + int(t.Month()) - 1)
}

// ParseMonth parses a month such as 2026-11.
func ParseMonth(text string) (Month, error) {
	t, err := time.Parse("2006-01", text)
	if err != nil {
		return 0, fmt.Errorf("counts: invalid month %q: want for example 2026-11", text)
	}
	return MonthOf(t), nil
}

// Begin returns the beginning of the month.
func (m Month) Begin() time.Time {
	return time.Date(int(m/12), time.Month(m%12+1), 1, 0, 0, 0, 0, time.UTC)
}

// String returns the month in a form such as 2026-11.
func (m Month) String() string { return m.Begin().Format("2006-01") }

// A Kind is a kind of [Row].
type Kind uint8

// The kinds of rows. They are stored and must not change.
const (
	OfName      Kind = 1 // counts of one name
	OfAuthority Kind = 2 // sums for all names of an authority, including names without own rows
)

// A Key identifies a [Row].
type Key struct {
	Month Month
	Kind  Kind
	Text  string // the key of a name, or the prefix of an authority, "" for names without an authority
}

func (k Key) compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Month, o.Month), cmp.Compare(k.Kind, o.Kind), strings.Compare(k.Text, o.Text))
}

// A Row has the counts of a name or an authority in a month. The cells are sorted by day, What and
// Class, and no two cells have the same values of all three.
type Row struct {
	Key
	Cells []Cell
}

// CompareRows compares rows by their keys.
func CompareRows(a, b Row) int { return a.compare(b.Key) }

// A Cell is the count of one day, What and Class.
type Cell struct {
	Day   uint8 // of the month, from 1; 0 for the sum of all days
	What  What
	Class Class
	N     uint64
}

// code encodes the day, What and Class of a cell as a number. Cells are sorted by this number.
func (c Cell) code() uint64 { return uint64(c.Day)<<6 | uint64(c.What)<<2 | uint64(c.Class) }

func cellOf(code, n uint64) Cell {
	return Cell{Day: uint8(code >> 6), What: What(code >> 2 & 15), Class: Class(code & 3), N: n}
}

// MaxText is the maximum length of a name whose counts are kept. Resolutions of longer names count
// only for their authorities.
const MaxText = 2048

// Add returns the sums of two sorted lists of cells.
func Add(a, b []Cell) []Cell {
	if len(b) == 0 {
		return a
	}
	sum := make([]Cell, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := cmp.Compare(a[0].code(), b[0].code()); {
		case c < 0:
			sum, a = append(sum, a[0]), a[1:]
		case c > 0:
			sum, b = append(sum, b[0]), b[1:]
		default:
			both := a[0]
			both.N += b[0].N
			sum, a, b = append(sum, both), a[1:], b[1:]
		}
	}
	return append(append(sum, a...), b...)
}

// Whole returns the sums over all days.
func Whole(cells []Cell) []Cell {
	var sum []Cell
	for _, c := range cells {
		c.Day = 0
		sum = Add(sum, []Cell{c})
	}
	return sum
}
