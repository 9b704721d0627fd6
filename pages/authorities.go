package pages

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

const authoritiesPath = Root + "authorities"

func authorityPath(prefix string) string {
	return authoritiesPath + "/" + adminapi.EscapeName(prefix)
}

func authorityHandlers() handlers {
	return handlers{
		"GET authorities":                   (*request).authorities,
		"GET authorities/new":               (*request).newAuthority,
		"POST authorities/new":              (*request).createAuthority,
		"GET authorities/{prefix}":          (*request).authority,
		"GET authorities/{prefix}/edit":     (*request).editAuthority,
		"POST authorities/{prefix}/edit":    (*request).saveAuthority,
		"GET authorities/{prefix}/text":     (*request).editPolicyText,
		"POST authorities/{prefix}/text":    (*request).savePolicyText,
		"GET authorities/{prefix}/history":  (*request).authorityHistory,
		"GET authorities/{prefix}/restore":  (*request).restoreAuthorityForm,
		"POST authorities/{prefix}/restore": (*request).restoreAuthority,
	}
}

const maxAuthorityCount = 100

type authoritiesView struct {
	frame
	Authorities []authorityRow
	MayAdd      bool
	First, Next string
}

type authorityRow struct {
	*store.Authority
	Counted bool // the user may see the names
	Count   int
	More    bool // Count is a lower bound
	Lonely  bool // the authority has fewer than two owners, and the user can change this
}

func (c *request) authorities() error {
	a := c.session.Actor
	v := &authoritiesView{MayAdd: a.MayAny(registrar.Owner)}
	v.Title, v.Section, v.Notice = c.texts.text("authorities.title"), "authorities", c.notice()
	all, err := c.api.Authorities(c.ctx())
	if err != nil {
		return err
	}
	all, v.First, v.Next = pageOf(c, authoritiesPath, url.Values{}, all, func(a *store.Authority) string { return a.Prefix.String() })
	for _, authority := range all {
		row := authorityRow{Authority: authority, Counted: a.MayPrefix(authority.Prefix, registrar.Reader)}
		row.Lonely = registrar.HasFewOwners(authority) && a.MayPrefix(authority.Prefix, registrar.Owner)
		if row.Counted {
			n, err := c.count(authority.Prefix, maxAuthorityCount)
			if err != nil {
				return err
			}
			row.Count, row.More = n.Count, n.More
		}
		v.Authorities = append(v.Authorities, row)
	}
	c.show(http.StatusOK, "authorities", v)
	return nil
}

func (c *request) prefix() (name.Prefix, error) { return name.ParsePrefix(c.r.PathValue("prefix")) }

type authorityView struct {
	frame
	Authority *store.Authority
	Begin     string // prefix of the keys of its names
	Fields    []adminapi.Difference
	Rules     rule.Set                // the first rules
	Ran       adminapi.AuthorityCheck // results of the first tests of the rules
	More      int                     // number of other rules and tests
	MayEdit   bool
}

// maxShownRules is the maximum size of the rules shown on the page of an authority, in bytes. The
// same limit applies to the tests.
const maxShownRules = 25_000

func ruleSize(r rule.Rule) int {
	size := valueMarkup + htmlSize(r.Match, r.Regexp) + htmlSize(r.SameAs...) + valueMarkup*len(r.SameAs)
	for _, l := range r.Locations {
		size += valueMarkup + htmlSize(l.URL)
	}
	for _, s := range r.Terms() {
		size += valueMarkup + htmlSize(s)
	}
	return size
}

func testSize(r rule.TestResult) int {
	fields := r.Request.Fields()
	return 3*valueMarkup + htmlSize(r.From) + htmlSize(fields...) + valueMarkup*len(fields) + htmlSize(r.Want...) + htmlSize(r.Got...) + valueMarkup*(len(r.Want)+len(r.Got))
}

func (c *request) authority() error {
	a, err := c.presentAuthority()
	if err != nil {
		return err
	}
	v := &authorityView{Authority: a, Begin: a.Prefix.String(), MayEdit: c.session.Actor.MayPrefix(a.Prefix, registrar.Owner)}
	v.Title, v.Section, v.Notice = a.Prefix.String(), "authorities", c.notice()
	bare := *a
	bare.Rules = nil
	v.Fields = adminapi.AuthorityDifferences(nil, &bare)
	tests, _ := a.Rules.RunTests(a.Prefix) // no tests if a later version of the program wrote the rules
	var few cutting
	v.Rules, v.Ran.Tests = first(&few, a.Rules, maxShownRules, ruleSize), first(&few, tests, maxShownRules, testSize)
	v.More = few.omitted
	c.show(http.StatusOK, "authority", v)
	return nil
}

func (c *request) presentAuthority() (*store.Authority, error) {
	p, err := c.prefix()
	if err != nil {
		return nil, err
	}
	return c.api.Authority(c.ctx(), p)
}

func (c *request) ownAuthority() (*store.Authority, error) {
	a, err := c.presentAuthority()
	if err == nil {
		err = c.permitAuthority(a.Prefix)
	}
	return a, err
}

func (c *request) permitAuthority(p name.Prefix) error {
	if c.session.Actor.MayPrefix(p, registrar.Owner) {
		return nil
	}
	return c.session.Actor.Denied(registrar.Owner, name.FromKey(p.String()), p.String())
}

type authorityHistoryView struct {
	frame
	Prefix      string
	Revisions   []changeRow
	MayRestore  bool
	First, Next string
}

func (c *request) authorityHistory() error {
	p, err := c.prefix()
	if err != nil {
		return err
	}
	v := &authorityHistoryView{Prefix: p.String(), MayRestore: c.session.Actor.MayPrefix(p, registrar.Owner)}
	v.Title, v.Section = c.texts.text("history.title", v.Prefix), "authorities"
	before, _ := strconv.ParseUint(c.r.Form.Get("before"), 10, 64) // 0 stands for the newest revisions
	all, err := collect(c.api.AuthorityRevisions(c.ctx(), p), before, pageSize+1)
	if err != nil {
		return err
	}
	rows := changeRows(all, before == 0, func(a, b adminapi.Revision) []adminapi.Difference {
		return adminapi.AuthorityDifferences(a.Authority, b.Authority)
	})
	v.Revisions, v.First, v.Next = historyPage(authorityPath(v.Prefix)+"/history", rows, before, fittingChanges(rows))
	c.show(http.StatusOK, "authority-history", v)
	return nil
}

type restoreAuthorityView struct {
	frame
	checked
	Prefix      string
	To          adminapi.Revision
	Differences []adminapi.Difference
	Why         string
	Revision    uint64 // current revision
}

func (c *request) restoreAuthorityForm() error {
	v, _, err := c.restoreAuthorityView()
	if err != nil {
		return err
	}
	c.show(http.StatusOK, "authority-restore", v)
	return nil
}

// restoreAuthorityView returns the page and the authority that would be stored.
func (c *request) restoreAuthorityView() (*restoreAuthorityView, *store.Authority, error) {
	now, err := c.ownAuthority()
	if err != nil {
		return nil, nil, err
	}
	v := &restoreAuthorityView{Prefix: now.Prefix.String(), Revision: now.Revision}
	v.Title, v.Section = c.texts.text("restore.title", v.Prefix), "authorities"
	if v.To, err = c.authorityRevision(now.Prefix, c.r.Form.Get("to")); err != nil {
		return nil, nil, err
	}
	if v.To.Authority == nil || v.To.Redacted {
		return nil, nil, &adminapi.StatusError{Status: http.StatusConflict, Detail: "this revision has no content"}
	}
	v.Differences = adminapi.AuthorityDifferences(now, v.To.Authority)
	next := v.To.Authority.Clone()
	next.Redacted = false
	return v, next, nil
}

func (c *request) authorityRevision(p name.Prefix, number string) (adminapi.Revision, error) {
	for r, err := range c.api.AuthorityRevisions(c.ctx(), p) {
		if err != nil || strconv.FormatUint(r.Revision, 10) == number {
			return r, err
		}
	}
	return adminapi.Revision{}, errNoRevision
}

func (c *request) restoreAuthority() error {
	v, next, err := c.restoreAuthorityView()
	if err != nil {
		return err
	}
	v.Why = lines(c.r.PostForm.Get("why"))
	if len(v.Differences) == 0 { // as after the form was sent twice
		c.see(authorityPath(v.Prefix) + "?done=authority-restored")
		return nil
	}
	fault, err := c.putAuthority(&v.checked, next, c.formRevision(), v.Why, firstField)
	status := http.StatusUnprocessableEntity
	switch {
	case errors.As(err, new(*store.ConflictError)):
		fault, status = &problem{"", c.texts.text("authorities.restore-conflict")}, http.StatusConflict
	case err != nil:
		return err
	case fault == nil && v.Check == nil:
		c.see(authorityPath(v.Prefix) + "?done=authority-restored")
		return nil
	}
	if fault != nil {
		v.Faults = []problem{*fault}
	}
	c.show(status, "authority-restore", v)
	return nil
}

// checked is the part of a form that shows the effects of a change of an authority.
type checked struct {
	Check *adminapi.AuthorityCheck // nil if the user has not requested a check
	Ask   bool                     // the user must accept the effects
}

// putAuthority changes an authority. If the change is rejected, putAuthority returns a problem. If
// the user has not accepted the warnings and effects of the change, putAuthority only sets
// save.Ask.
func (c *request) putAuthority(save *checked, next *store.Authority, revision uint64, why string, id fieldID) (*problem, error) {
	check, err := c.api.CheckAuthority(c.ctx(), next)
	if err != nil {
		return c.rejected(err, id)
	}
	if check.Problem != nil {
		save.Check = &check
		return &problem{id(check.Problem.Field), check.Problem.Detail}, nil
	}
	if c.r.PostForm.Get("do") == "check" || len(check.Warnings)+len(check.Effects) > 0 && c.r.PostForm.Get("accept") == "" {
		save.Check, save.Ask = &check, len(check.Warnings)+len(check.Effects) > 0
		return nil, nil
	}
	_, err = c.api.PutAuthority(c.ctx(), next, revision, why)
	return c.rejected(err, id)
}

func (c *request) rejected(err error, id fieldID) (*problem, error) {
	if fault, ok := c.faultOf(err, id); ok {
		return &fault, nil
	}
	return nil, err
}
