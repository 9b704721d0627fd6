package pages

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

func (c *request) account() (*store.User, error) {
	if !c.session.Actor.MayAll(registrar.Administrator) {
		return nil, c.session.Actor.DeniedAll(registrar.Administrator, "users")
	}
	return c.api.User(c.ctx(), c.r.PathValue("id"))
}

// formRevision returns the revision of the user that the form contains. It returns 0 for a
// malformed revision, which leads to a conflict.
func (c *request) formRevision() uint64 {
	n, _ := strconv.ParseUint(c.r.PostForm.Get("revision"), 10, 64)
	return n
}

type accountView struct {
	frame
	Of                              *store.User
	Name, Mail, Subjects, Why, Type string // as entered; Type is the text that confirms the erasure
	Revision                        uint64
	Second                          bool // a second person must approve the erasure
}

func (c *request) accountView(u *store.User, title string) *accountView {
	v := &accountView{Of: u, Name: u.Name, Mail: u.Mail, Subjects: joined(u.Subjects), Revision: u.Revision}
	v.Title, v.Section = title, "users"
	return v
}

func display(u *store.User) string { return cmp.Or(u.Name, u.ID) }

func (c *request) editUser() error {
	u, err := c.account()
	if err != nil {
		return err
	}
	c.show(http.StatusOK, "user-edit", c.accountView(u, c.texts.text("users.edit-title", display(u))))
	return nil
}

func (c *request) saveUser() error {
	u, err := c.account()
	if err != nil {
		return err
	}
	f := c.r.PostForm
	v := c.accountView(u, c.texts.text("users.edit-title", display(u)))
	v.Name, v.Mail, v.Subjects, v.Why = strings.TrimSpace(f.Get("name")), strings.TrimSpace(f.Get("mail")), lines(f.Get("subjects")), lines(f.Get("why"))
	next := u.Clone()
	next.Name, next.Mail, next.Subjects = v.Name, v.Mail, entries(v.Subjects)
	if next.SameContent(u) { // no change, as after the form was sent twice
		c.see(userPath(u.ID) + "?done=saved")
		return nil
	}
	_, err = c.api.PutUser(c.ctx(), next, c.formRevision(), v.Why)
	return c.changed(v, "user-edit", err, "saved")
}

func (c *request) changed(v *accountView, page string, err error, done string) error {
	status := http.StatusUnprocessableEntity
	fault, ok := c.userFault(err)
	switch {
	case err == nil:
		c.see(userPath(v.Of.ID) + "?done=" + done)
		return nil
	case errors.As(err, new(*store.ConflictError)):
		fault, status = problem{"", c.texts.text("users.conflict")}, http.StatusConflict
	case !ok:
		return err
	}
	v.Faults = append(v.Faults, fault)
	c.show(status, page, v)
	return nil
}

func (c *request) disableForm() error {
	u, err := c.account()
	if err != nil {
		return err
	}
	c.show(http.StatusOK, "user-disable", c.accountView(u, c.texts.text("users.disable-title", display(u))))
	return nil
}

func (c *request) disable() error { return c.switchUser(true, "disabled") }

func (c *request) enable() error { return c.switchUser(false, "enabled") }

func (c *request) switchUser(disabled bool, done string) error {
	u, err := c.account()
	if err != nil {
		return err
	}
	v := c.accountView(u, c.texts.text("users.disable-title", display(u)))
	v.Why = lines(c.r.PostForm.Get("why"))
	if u.Disabled == disabled { // as after the form was sent twice
		c.see(userPath(u.ID) + "?done=" + done)
		return nil
	}
	next := u.Clone()
	next.Disabled = disabled
	out, err := c.api.PutUser(c.ctx(), next, c.formRevision(), v.Why)
	return c.changed(v, "user-disable", err, afterwards(done, out))
}

func (c *request) signUserOut() error {
	id := c.r.PathValue("id")
	if err := c.api.EndSessions(c.ctx(), id); err != nil {
		return err
	}
	c.see(userPath(id) + "?done=signed-out")
	return nil
}

func (c *request) makeLink() error { return c.linkOf(c.r.PathValue("id")) }

func (c *request) linkOf(id string) error {
	link, err := c.api.SignInLink(c.ctx(), id)
	if isUnsupported(err) {
		c.see(userPath(id) + "?done=no-link")
		return nil
	}
	if err != nil {
		return err
	}
	return c.setOnce(once{Of: userPath(id) + "/link", Text: link.URL, Until: link.Until})
}

// A linkView shows a sign-in link once.
type linkView struct {
	frame
	Of    *store.User
	Link  string // "" if it was shown already
	Until time.Time
}

func (c *request) showLink() error {
	u, err := c.account()
	if err != nil {
		return err
	}
	made := c.takeOnce()
	v := &linkView{Of: u, Link: made.Text, Until: made.Until}
	v.Title, v.Section = c.texts.text("users.link-title", display(u)), "users"
	c.show(http.StatusOK, "user-link", v)
	return nil
}

func (c *request) eraseForm() error {
	u, err := c.account()
	if err != nil {
		return err
	}
	v, err := c.eraseView(u)
	return c.shown(err, http.StatusOK, "user-redact", v)
}

func (c *request) eraseView(u *store.User) (*accountView, error) {
	v := c.accountView(u, c.texts.text("users.redact-title", display(u)))
	rule, err := c.secondPerson()
	v.Second = rule.Redact
	return v, err
}

// erase erases the person if the user has typed the person's name as confirmation. Only the ID of
// the person remains.
func (c *request) erase() error {
	u, err := c.account()
	if err != nil {
		return err
	}
	if u.Name == "" { // as after the form was sent twice
		c.see(userPath(u.ID) + "?done=erased")
		return nil
	}
	v, err := c.eraseView(u)
	if err != nil {
		return err
	}
	v.Why, v.Type = lines(c.r.PostForm.Get("why")), strings.TrimSpace(c.r.PostForm.Get("typed"))
	if v.Type != u.Name {
		v.Faults = append(v.Faults, problem{"typed", c.texts.text("redact.mistyped", u.Name)})
	}
	if v.Why == "" {
		v.Faults = append(v.Faults, problem{"why", c.texts.text("redact.no-reason")})
	}
	if len(v.Faults) > 0 {
		c.show(http.StatusUnprocessableEntity, "user-redact", v)
		return nil
	}
	out, err := c.api.RedactUser(c.ctx(), u.ID, registrar.Redaction{Reason: v.Why, Expected: c.formRevision()})
	return c.changed(v, "user-redact", err, afterwards("erased", out))
}

type userHistoryView struct {
	frame
	Of          *store.User
	Revisions   []changeRow
	First, Next string
}

type changeRow struct {
	adminapi.Revision
	Newest      bool
	Unknown     bool // the changes are unknown
	Differences []adminapi.Difference
}

func (r changeRow) number() uint64 { return r.Revision.Revision }

func (c *request) userHistory() error {
	u, err := c.account()
	if err != nil {
		return err
	}
	v := &userHistoryView{Of: u}
	v.Title, v.Section = c.texts.text("history.title", display(u)), "users"
	before, _ := strconv.ParseUint(c.r.Form.Get("before"), 10, 64) // 0 stands for the newest revisions
	all, err := collect(c.api.UserRevisions(c.ctx(), u.ID), before, pageSize+1)
	if err != nil {
		return err
	}
	v.Revisions = changeRows(all, before == 0, func(a, b adminapi.Revision) []adminapi.Difference { return adminapi.UserDifferences(a.User, b.User) })
	v.Revisions, v.First, v.Next = historyPage(userPath(u.ID)+"/history", v.Revisions, before, fittingChanges(v.Revisions))
	c.show(http.StatusOK, "user-history", v)
	return nil
}
