package pages

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

type redactView struct {
	frame
	Spelling  string
	Revisions []adminapi.Revision
	Listed    uint64 // the earliest of Revisions, if the page leaves out earlier ones
	Chosen    []uint64
	Earlier   string // numbers and ranges of revisions before Listed, as entered
	Some      bool   // some of Chosen no longer have content
	Reason    string
	Typed     string // the name, as typed for confirmation
	Revision  uint64 // current revision
	Second    bool   // a second person must approve the redaction
}

func (v *redactView) Has(revision uint64) bool { return slices.Contains(v.Chosen, revision) }

func (c *request) redactForm() error {
	v, _, err := c.redactView()
	if err != nil {
		return err
	}
	c.show(http.StatusOK, "redact", v)
	return nil
}

func (c *request) redactView() (*redactView, name.Name, error) {
	n, err := c.subject()
	if err != nil {
		return nil, n, err
	}
	rec, err := c.api.Get(c.ctx(), n)
	if err != nil {
		return nil, n, err
	}
	if !c.rights(rec.Name).Redact {
		return nil, n, c.session.Actor.Denied(registrar.Administrator, rec.Name, rec.Spelling)
	}
	v := &redactView{Spelling: rec.Spelling, Revision: rec.Revision}
	v.Title, v.Section = c.texts.text("redact.title", brief(rec.Spelling)), "names"
	all, err := c.revisions(n, rec.Revision, pageSize+1)
	if err != nil {
		return nil, n, err
	}
	if n := fitting(all, pageSize, func(r adminapi.Revision) int { return briefSize(r.Why) }); n < len(all) {
		all, v.Listed = all[:n], all[n-1].Revision
	}
	v.Revisions = slices.DeleteFunc(all, func(r adminapi.Revision) bool { return r.Redacted })
	rule, err := c.secondPerson()
	v.Second = rule.Redact
	return v, n, err
}

// redact removes the content of the chosen revisions. The user must have typed the name as
// confirmation.
func (c *request) redact() error {
	v, n, err := c.redactView()
	if err != nil {
		return err
	}
	f := c.r.PostForm
	v.Reason, v.Typed = lines(f.Get("reason")), strings.TrimSpace(f.Get("typed"))
	for _, text := range f["revisions"] {
		revision, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return errNoRevision
		}
		v.Chosen = append(v.Chosen, revision)
	}
	if v.Listed > 0 {
		v.Earlier = strings.TrimSpace(f.Get("earlier"))
		earlier, ok := ranges(v.Earlier, v.Listed)
		if !ok {
			v.Faults = append(v.Faults, problem{"earlier", c.texts.text("redact.bad-earlier", v.Listed)})
		}
		v.Chosen = append(v.Chosen, earlier...)
	}
	expected, _ := strconv.ParseUint(f.Get("revision"), 10, 64) // malformed: 0, which leads to a conflict
	if v.Typed != v.Spelling {
		v.Faults = append(v.Faults, problem{"typed", c.texts.text("redact.mistyped", v.Spelling)})
	}
	if v.Reason == "" {
		v.Faults = append(v.Faults, problem{"reason", c.texts.text("redact.no-reason")})
	}
	if len(v.Chosen) == 0 && len(v.Faults) == 0 {
		v.Faults = append(v.Faults, problem{"revisions", c.texts.text("redact.none-chosen")})
	}
	if len(v.Faults) > 0 {
		c.show(http.StatusUnprocessableEntity, "redact", v)
		return nil
	}
	left, err := c.withContent(n, v.Chosen)
	if err != nil {
		return err
	}
	if v.Some = len(left) < len(v.Chosen); len(left) == 0 {
		v.Faults = []problem{{"revisions", c.texts.text("redact.none-left")}}
		c.show(http.StatusUnprocessableEntity, "redact", v)
		return nil
	}
	_, err = c.api.Redact(c.ctx(), n, registrar.Redaction{Revisions: left, Reason: v.Reason, Expected: expected})
	return c.redacted(v, err)
}

// withContent returns the chosen revisions that still have content.
func (c *request) withContent(n name.Name, chosen []uint64) ([]uint64, error) {
	first, removed := slices.Min(chosen), map[uint64]bool{}
	for r, err := range c.api.Revisions(c.ctx(), n) {
		if err != nil {
			return nil, err
		}
		if removed[r.Revision] = r.Redacted; r.Revision <= first {
			break
		}
	}
	return slices.DeleteFunc(slices.Clone(chosen), func(revision uint64) bool { return removed[revision] }), nil
}

// ranges parses numbers and ranges of numbers below end, such as "1-500, 700". It returns the
// sorted numbers, or false if the text is invalid.
func ranges(text string, end uint64) ([]uint64, bool) {
	chosen := map[uint64]bool{}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		low, high, ok := strings.Cut(part, "-")
		if !ok {
			high = low
		}
		first, err := strconv.ParseUint(low, 10, 64)
		last, failed := strconv.ParseUint(high, 10, 64)
		if err != nil || failed != nil || first == 0 || first > last || last >= end {
			return nil, false
		}
		for ; first <= last; first++ {
			chosen[first] = true
		}
	}
	return slices.Sorted(maps.Keys(chosen)), true
}

func spans(numbers []uint64) string {
	var parts []string
	for i := 0; i < len(numbers); {
		first := i
		for i++; i < len(numbers) && numbers[i] == numbers[i-1]+1; i++ {
		}
		part := decimal(numbers[first])
		if i-1 > first {
			part += "-" + decimal(numbers[i-1])
		}
		parts = append(parts, part)
	}
	return shown.Short(strings.Join(parts, ", "), maxBrief)
}

func (c *request) redacted(v *redactView, err error) error {
	switch fault, ok := c.faultOf(err, firstField); {
	case err == nil:
		done := "redacted"
		if v.Some {
			done = "redacted-rest"
		}
		c.see(namePath(v.Spelling) + "?done=" + done)
	case errors.As(err, new(*store.ConflictError)):
		v.Faults = []problem{{"", c.texts.text("redact.conflict")}}
		c.show(http.StatusConflict, "redact", v)
	case ok:
		v.Faults = []problem{fault}
		c.show(http.StatusUnprocessableEntity, "redact", v)
	default:
		return err
	}
	return nil
}
