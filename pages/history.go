package pages

import (
	"html/template"
	"iter"
	"net/http"
	"strconv"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

type historyView struct {
	frame
	Spelling    string
	Revisions   []revisionRow
	Timeline    template.HTML // timeline of the revisions on this page
	First, Next string
	MayRestore  bool
}

type revisionRow struct {
	adminapi.Revision
	Newest  bool
	Changed []string // fields that differ from the previous revision
	From    bool     // preselected as the earlier revision of a comparison
	To      bool     // preselected as the later revision of a comparison
}

func (r revisionRow) number() uint64 { return r.Revision.Revision }

// history lists the revisions that are older than the revision in the query parameter "before".
func (c *request) history() error {
	n, err := c.subject()
	if err != nil {
		return err
	}
	before, _ := strconv.ParseUint(c.r.Form.Get("before"), 10, 64) // 0 stands for the newest revisions
	v := &historyView{Spelling: c.r.PathValue("name")}
	if rec, err := c.api.Get(c.ctx(), n); err == nil {
		v.MayRestore = c.rights(rec.Name).Edit
	}
	v.Title, v.Section = c.texts.text("history.title", v.Spelling), "names"
	all, err := c.revisions(n, before, pageSize+1)
	if err != nil {
		return err
	}
	rows := newRows(all, before == 0)
	most := fitting(rows, pageSize, func(r revisionRow) int {
		return len(namePath(v.Spelling)) + briefSize(r.Why) + htmlSize(r.Changed...)
	})
	v.Revisions, v.First, v.Next = historyPage(namePath(v.Spelling)+"/history", rows, before, most)
	if v.Timeline, err = c.timeline(v.Revisions, before == 0); err != nil {
		return err
	}
	c.show(http.StatusOK, "history", v)
	return nil
}

// revisions returns up to limit revisions of a name, newest first. If bound is not 0, it returns
// only revisions before bound.
func (c *request) revisions(n name.Name, bound uint64, limit int) ([]adminapi.Revision, error) {
	return collect(c.api.Revisions(c.ctx(), n), bound, limit)
}

// collect returns the first revisions, at most limit. If bound is not 0, it returns only revisions
// before bound.
func collect(revisions iter.Seq2[adminapi.Revision, error], bound uint64, limit int) ([]adminapi.Revision, error) {
	var all []adminapi.Revision
	for r, err := range revisions {
		if err != nil {
			return nil, err
		}
		if bound > 0 && r.Revision >= bound {
			continue
		}
		if all = append(all, r); len(all) == limit {
			break
		}
	}
	return all, nil
}

// maxChanged is the maximum number of fields listed in a row.
const maxChanged = 20

func newRows(all []adminapi.Revision, newest bool) []revisionRow {
	rows := make([]revisionRow, len(all))
	for i, r := range all {
		rows[i] = revisionRow{Revision: r, Newest: newest && i == 0, To: i == 0, From: i == min(1, len(all)-1)}
		var before *store.Record
		if i+1 < len(all) {
			before = all[i+1].Record
		}
		if r.Redacted || i+1 < len(all) && all[i+1].Redacted {
			continue // the changes are unknown
		}
		seen := map[string]bool{}
		for _, d := range adminapi.Differences(before, r.Record) {
			if !seen[d.Field] && len(seen) < maxChanged {
				seen[d.Field] = true
				rows[i].Changed = append(rows[i].Changed, cut(d.Field, maxShownRest))
			}
		}
	}
	return rows
}

// changeRows returns the rows of consecutive revisions, with the differences that compare returns.
// The first revision of a name is compared with an empty revision.
func changeRows(all []adminapi.Revision, newest bool, compare func(a, b adminapi.Revision) []adminapi.Difference) []changeRow {
	rows := make([]changeRow, len(all))
	for i, r := range all {
		rows[i] = changeRow{Revision: r, Newest: newest && i == 0}
		var before adminapi.Revision
		if i+1 < len(all) {
			before = all[i+1]
		}
		if rows[i].Unknown = r.Redacted || before.Redacted; !rows[i].Unknown {
			rows[i].Differences = compare(before, r)
		}
	}
	return rows
}

func fittingChanges(rows []changeRow) int {
	return fitting(rows, pageSize, func(r changeRow) (size int) {
		for _, d := range newFewDifferences(r.Differences).Shown {
			size += differenceSize(d)
		}
		return size + htmlSize(part(r.Why))
	})
}

// historyPage returns a page of at most limit rows, and the URL of the first page. If there are
// more rows, historyPage also returns the URL of the next page.
func historyPage[T interface{ number() uint64 }](path string, rows []T, before uint64, limit int) (page []T, first, next string) {
	if before > 0 {
		first = path
	}
	if len(rows) > limit {
		next = path + "?before=" + strconv.FormatUint(rows[limit-1].number(), 10)
		rows = rows[:limit]
	}
	return rows, first, next
}

type diffView struct {
	frame
	Spelling    string
	A, B        adminapi.Revision
	Differences []adminapi.Difference
}

// diff compares the revisions in the query parameters "a" and "b".
func (c *request) diff() error {
	n, err := c.subject()
	if err != nil {
		return err
	}
	v := &diffView{Spelling: c.r.PathValue("name")}
	v.Title, v.Section = c.texts.text("diff.title", v.Spelling), "names"
	found, err := c.findRevisions(n, c.r.Form.Get("a"), c.r.Form.Get("b"))
	if err != nil {
		return err
	}
	v.A, v.B = found[0], found[1]
	if v.A.Revision > v.B.Revision {
		v.A, v.B = v.B, v.A
	}
	v.Differences = adminapi.Differences(v.A.Record, v.B.Record)
	c.show(http.StatusOK, "diff", v)
	return nil
}

func (c *request) findRevisions(n name.Name, numbers ...string) ([]adminapi.Revision, error) {
	found, left := make([]adminapi.Revision, len(numbers)), len(numbers)
	for r, err := range c.api.Revisions(c.ctx(), n) {
		if err != nil {
			return nil, err
		}
		for i, number := range numbers {
			if number == strconv.FormatUint(r.Revision, 10) {
				found[i] = r
				left--
			}
		}
		if left == 0 {
			return found, nil
		}
	}
	return nil, errNoRevision
}

var errNoRevision = &adminapi.StatusError{Status: http.StatusNotFound, Detail: "no such revision of this name"}
