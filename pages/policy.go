package pages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A policyForm is an authority in a form. When the form is saved, the fields that the form does not
// have stay unchanged.
type policyForm struct {
	Owners, Hosts, Addresses, Parents, Children string // one element per line
	Contact, Description                        string
	Access, AccessNote                          string
	Mode, To                                    string // fields of the delegation
	Suffix, Choice, Failover, CheckDigit        string
	MaxAge, Redirect                            string
	Rules                                       string // JSON
	Default, List, FoldCase, Fetch              bool
}

func newPolicyForm(a *store.Authority) policyForm {
	f := policyForm{
		Owners: joined(a.Owners), Hosts: joined(a.Hosts), Addresses: joined(a.Addresses), Parents: joined(a.Parents), Children: joined(a.Children),
		Contact: a.Contact, Description: a.Description, Access: string(a.Access), AccessNote: a.AccessNote,
		Suffix: string(a.Suffix), Choice: string(a.Choice), Failover: string(a.Failover), CheckDigit: a.CheckDigit, MaxAge: rank(a.MaxAge), Redirect: rank(a.Redirect),
		Default: a.Default, List: a.List, FoldCase: a.FoldCase, Fetch: a.Fetch,
	}
	if a.Delegation != nil {
		f.Mode, f.To = string(a.Delegation.Mode), a.Delegation.To
	}
	if len(a.Rules) > 0 {
		f.Rules = indented(a.Rules)
	}
	return f
}

func indented(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func readPolicyForm(f url.Values) policyForm {
	text := func(key string) string { return strings.TrimSpace(lines(f.Get(key))) }
	set := func(key string) bool { return f.Get(key) != "" }
	return policyForm{
		Owners: text("owners"), Hosts: text("hosts"), Addresses: text("addresses"), Parents: text("parents"), Children: text("children"),
		Contact: text("contact"), Description: text("description"), Access: text("access"), AccessNote: text("access_note"),
		Mode: text("delegation.mode"), To: text("delegation.to"), Suffix: text("suffix"), Choice: text("choice"), Failover: text("failover"), CheckDigit: text("check_digit"),
		MaxAge: text("max_age"), Redirect: text("redirect_status"), Rules: text("rules"),
		Default: set("default"), List: set("list"), FoldCase: set("fold_case"), Fetch: set("fetch"),
	}
}

func policyField(field string) string {
	switch id := firstField(field); id {
	case "owners", "hosts", "addresses", "parents", "children", "contact", "description", "access", "access_note", "delegation.mode", "delegation.to",
		"suffix", "choice", "failover", "check_digit", "max_age", "redirect_status", "rules", "default", "list", "fold_case", "fetch", "why", "prefix":
		return id
	}
	return ""
}

func (f *policyForm) apply(base *store.Authority) (*store.Authority, []problem) {
	a := base.Clone()
	a.Owners, a.Hosts, a.Addresses, a.Parents, a.Children = entries(f.Owners), entries(f.Hosts), entries(f.Addresses), entries(f.Parents), entries(f.Children)
	a.Contact, a.Description, a.Access, a.AccessNote = f.Contact, f.Description, store.Access(f.Access), f.AccessNote
	a.Suffix, a.Choice, a.Failover, a.CheckDigit = store.Suffix(f.Suffix), store.Choice(f.Choice), store.Failover(f.Failover), f.CheckDigit
	a.Default, a.List, a.FoldCase, a.Fetch = f.Default, f.List, f.FoldCase, f.Fetch
	if a.Delegation = nil; f.Mode != "" || f.To != "" {
		a.Delegation = &store.Delegation{Mode: store.Mode(f.Mode), To: f.To}
	}
	var faults []problem
	for _, n := range []struct {
		id, text string
		into     *int
	}{{"max_age", f.MaxAge, &a.MaxAge}, {"redirect_status", f.Redirect, &a.Redirect}} {
		var err error
		if *n.into, err = strconv.Atoi(cmp.Or(n.text, "0")); err != nil {
			faults = append(faults, problem{n.id, fmt.Sprintf("%q: must be a number, or empty", n.text)})
		}
	}
	a.Rules = nil
	if f.Rules != "" {
		if err := store.DecodeText([]byte(f.Rules), &a.Rules); err != nil {
			faults = append(faults, problem{"rules", err.Error()})
		}
	}
	return a.Clone(), faults
}

type policyView struct {
	frame
	policyForm
	checked
	Prefix   string
	New      bool
	Text     string // JSON of all fields
	Why      string
	Revision uint64 // revision at the start of the edit
	Conflict *policyConflict
}

// A policyConflict is a change that another user saved while this user edited the authority.
type policyConflict struct {
	Now  adminapi.Revision
	Rows []threeVersions
}

func (c *request) showPolicy(status int, page string, v *policyView) error {
	v.Title, v.Section = c.texts.text("authorities.edit-title", v.Prefix), "authorities"
	if v.New {
		v.Title = c.texts.text("authorities.new")
	}
	c.show(status, page, v)
	return nil
}

func (c *request) editAuthority() error {
	a, err := c.ownAuthority()
	if err != nil {
		return err
	}
	return c.showPolicy(http.StatusOK, "authority-edit", &policyView{policyForm: newPolicyForm(a), Prefix: a.Prefix.String(), Revision: a.Revision})
}

func (c *request) saveAuthority() error {
	now, err := c.ownAuthority()
	if err != nil {
		return err
	}
	v := &policyView{policyForm: readPolicyForm(c.r.PostForm), Prefix: now.Prefix.String(), Revision: c.formRevision(), Why: lines(c.r.PostForm.Get("why"))}
	next, faults := v.apply(now)
	if v.Faults = faults; len(faults) > 0 {
		return c.showPolicy(http.StatusUnprocessableEntity, "authority-edit", v)
	}
	return c.savePolicy(v, "authority-edit", now, next, policyField)
}

func (c *request) savePolicy(v *policyView, page string, current, updated *store.Authority, id fieldID) error {
	if updated.SameContent(current) && c.r.PostForm.Get("do") != "check" { // no change, as after the form was sent twice
		c.see(authorityPath(v.Prefix) + "?done=" + map[bool]string{true: "unchanged", false: "saved"}[v.Revision == current.Revision])
		return nil
	}
	fault, err := c.putAuthority(&v.checked, updated, v.Revision, v.Why, id)
	var conflict *store.ConflictError
	switch {
	case errors.As(err, &conflict):
		return c.policyConflict(v, page, updated)
	case err != nil:
		return err
	case fault != nil:
		v.Faults = []problem{*fault}
		return c.showPolicy(http.StatusUnprocessableEntity, page, v)
	case v.Check != nil && v.Ask && c.r.PostForm.Get("do") != "check":
		return c.showPolicy(http.StatusUnprocessableEntity, page, v)
	case v.Check != nil:
		return c.showPolicy(http.StatusOK, page, v)
	}
	c.see(authorityPath(v.Prefix) + "?done=saved")
	return nil
}

func (c *request) policyConflict(v *policyView, page string, yours *store.Authority) error {
	var before, now adminapi.Revision
	for r, err := range c.api.AuthorityRevisions(c.ctx(), yours.Prefix) {
		if err != nil {
			return err
		}
		if now.Revision == 0 {
			now = r
		}
		if r.Revision == v.Revision {
			before = r
			break
		}
	}
	v.Conflict = &policyConflict{now, threeWays(adminapi.AuthorityDifferences(before.Authority, now.Authority), adminapi.AuthorityDifferences(before.Authority, yours))}
	v.Revision = now.Revision
	v.Faults = []problem{{"", c.texts.text("authorities.conflict")}}
	return c.showPolicy(http.StatusConflict, page, v)
}

func (c *request) editPolicyText() error {
	a, err := c.ownAuthority()
	if err != nil {
		return err
	}
	return c.showPolicy(http.StatusOK, "authority-text", &policyView{Text: policyText(a), Prefix: a.Prefix.String(), Revision: a.Revision})
}

// policyText returns the editable fields of an authority as text.
func policyText(a *store.Authority) string {
	content := a.Clone()
	content.Revision, content.Redacted = 0, false
	var fields map[string]json.RawMessage
	b, err := json.Marshal(content)
	if err == nil {
		err = json.Unmarshal(b, &fields)
	}
	if err != nil {
		return ""
	}
	delete(fields, "modified")
	return indented(fields)
}

func (c *request) savePolicyText() error {
	now, err := c.ownAuthority()
	if err != nil {
		return err
	}
	v := &policyView{Text: lines(c.r.PostForm.Get("text")), Prefix: now.Prefix.String(), Revision: c.formRevision(), Why: lines(c.r.PostForm.Get("why"))}
	next := &store.Authority{}
	if err := store.DecodeText([]byte(v.Text), next); err != nil {
		v.Faults = []problem{{"text", err.Error()}}
		return c.showPolicy(http.StatusUnprocessableEntity, "authority-text", v)
	}
	if next.Prefix != now.Prefix {
		v.Faults = []problem{{"text", c.texts.text("authorities.other-prefix", v.Prefix)}}
		return c.showPolicy(http.StatusUnprocessableEntity, "authority-text", v)
	}
	id := func(field string) string {
		if field == "why" {
			return field
		}
		return "text"
	}
	return c.savePolicy(v, "authority-text", now, next.Clone(), id)
}

func (c *request) newAuthority() error {
	if !c.session.Actor.MayAny(registrar.Owner) {
		return c.session.Actor.DeniedAny(registrar.Owner, "authorities")
	}
	return c.showPolicy(http.StatusOK, "authority-edit", &policyView{New: true, Prefix: c.r.Form.Get("prefix")})
}

func (c *request) createAuthority() error {
	if !c.session.Actor.MayAny(registrar.Owner) {
		return c.session.Actor.DeniedAny(registrar.Owner, "authorities")
	}
	v := &policyView{policyForm: readPolicyForm(c.r.PostForm), New: true, Prefix: strings.TrimSpace(c.r.PostForm.Get("prefix")), Why: lines(c.r.PostForm.Get("why"))}
	p, err := name.ParsePrefix(v.Prefix)
	if err != nil {
		v.Faults = append(v.Faults, problem{"prefix", err.Error()})
	}
	next, faults := v.apply(&store.Authority{Prefix: p})
	if v.Faults = append(v.Faults, faults...); len(v.Faults) > 0 {
		return c.showPolicy(http.StatusUnprocessableEntity, "authority-edit", v)
	}
	there, err := c.api.Authority(c.ctx(), p)
	switch {
	case err == nil && there.SameContent(next): // as after the form was sent twice
		c.see(authorityPath(p.String()) + "?done=authority-created")
		return nil
	case err == nil:
		v.Faults = []problem{{"prefix", c.texts.text("authorities.exists")}}
		return c.showPolicy(http.StatusConflict, "authority-edit", v)
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	return c.putNewAuthority(v, next)
}

func (c *request) putNewAuthority(v *policyView, next *store.Authority) error {
	fault, err := c.putAuthority(&v.checked, next, 0, v.Why, policyField)
	switch {
	case err != nil:
		return err
	case fault != nil:
		v.Faults = []problem{*fault}
	case v.Check == nil:
		c.see(authorityPath(next.Prefix.String()) + "?done=authority-created")
		return nil
	case c.r.PostForm.Get("do") == "check":
		return c.showPolicy(http.StatusOK, "authority-edit", v)
	}
	return c.showPolicy(http.StatusUnprocessableEntity, "authority-edit", v)
}

func (*policyView) CheckDigits() []string { return registrar.CheckDigits() }
