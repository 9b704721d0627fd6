package replay

import (
	"cmp"
	"fmt"
	"slices"
)

// A Tally counts requests.
type Tally struct {
	Requests int64 `json:"requests"` // number of requests in the log
	Distinct int64 `json:"distinct"` // number of different requests
}

func (t *Tally) add(n int64) {
	t.Requests += n
	t.Distinct++
}

// A ClassReport is the part of a report about a class.
type ClassReport struct {
	Class Class `json:"class"`
	Tally
	Rules    map[string]Tally `json:"rules,omitempty"`    // for equal answers: how many would differ without these rules
	Examples []Difference     `json:"examples,omitempty"` // the most frequent requests
}

// A Report is the result of a replay.
type Report struct {
	Log        Counts        `json:"log"`
	Classes    []ClassReport `json:"classes"`
	Compared   Tally         `json:"compared"` // all classes except NotCompared
	StatusOnly Tally         `json:"status_only"`
	Varied     Tally         `json:"several_statuses"` // requests with several statuses in the log, of which the last was used
	Left       int64         `json:"left_out"`         // requests beyond Options.Limit

	examples int
	done     int
}

func newReport(l *Log, o Options) *Report {
	r := &Report{Log: l.Counts, examples: o.Examples}
	for _, c := range Classes() {
		r.Classes = append(r.Classes, ClassReport{Class: c})
	}
	return r
}

func (r *Report) add(d Difference, rules string, varied bool) {
	r.done++
	c := r.Class(d.Class)
	c.add(d.Count)
	if d.Class != NotCompared {
		r.Compared.add(d.Count)
	}
	if d.Class == Equal {
		c.addRules(rules, d.Count)
		if isRedirect(d.New.Status) && d.Old.Location == "" && !d.Old.complete {
			r.StatusOnly.add(d.Count)
		}
	} else {
		c.example(d, r.examples)
	}
	if varied {
		r.Varied.add(d.Count)
	}
}

// Class returns the part of the report about a class.
func (r *Report) Class(class Class) *ClassReport {
	return &r.Classes[slices.Index(Classes(), class)]
}

func (c *ClassReport) addRules(rules string, count int64) {
	if rules == "" {
		return
	}
	if c.Rules == nil {
		c.Rules = map[string]Tally{}
	}
	t := c.Rules[rules]
	t.add(count)
	c.Rules[rules] = t
}

// example keeps the most frequent requests as examples.
func (c *ClassReport) example(d Difference, most int) {
	c.Examples = append(c.Examples, d)
	slices.SortStableFunc(c.Examples, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Accept, b.Accept))
	})
	c.Examples = c.Examples[:min(len(c.Examples), most)]
}

// Shares returns how many of the compared requests had equal answers, in percent. The result
// requests counts every occurrence of a request, and distinct counts each different request once.
// Both results are 0 if no requests were compared.
func (r *Report) Shares() (requests, distinct float64) {
	equal := r.Class(Equal)
	return percent(equal.Requests, r.Compared.Requests), percent(equal.Distinct, r.Compared.Distinct)
}

func percent(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// Percent formats a share with two decimals. It rounds down, so that the result is 100.00 % only if
// nothing is missing.
func Percent(share float64) string { return fmt.Sprintf("%.2f %%", float64(int64(share*100))/100) }
