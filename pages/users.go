package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const usersPath = Root + "users"

func userPath(id string) string { return usersPath + "/" + adminapi.EscapeName(id) }

func userHandlers() handlers {
	return handlers{
		"GET users":                (*request).users,
		"GET users/new":            (*request).newUser,
		"POST users/new":           (*request).addUser,
		"GET users/{id}":           (*request).user,
		"POST users/{id}/grant":    (*request).grant,
		"POST users/{id}/revoke":   (*request).revokeGrant,
		"GET users/{id}/edit":      (*request).editUser,
		"POST users/{id}/edit":     (*request).saveUser,
		"GET users/{id}/disable":   (*request).disableForm,
		"POST users/{id}/disable":  (*request).disable,
		"POST users/{id}/enable":   (*request).enable,
		"POST users/{id}/sign-out": (*request).signUserOut,
		"POST users/{id}/link":     (*request).makeLink,
		"GET users/{id}/link":      (*request).showLink,
		"GET users/{id}/redact":    (*request).eraseForm,
		"POST users/{id}/redact":   (*request).erase,
		"GET users/{id}/history":   (*request).userHistory,
	}
}

type usersView struct {
	frame
	Query       string
	All         bool // also show disabled users
	Users       []*store.User
	MayAdd      bool
	First, Next string
}

func (c *request) users() error {
	v := &usersView{Query: strings.TrimSpace(c.r.Form.Get("q")), All: c.r.Form.Get("all") != "", MayAdd: c.session.Actor.MayAll(registrar.Administrator)}
	v.Title, v.Section, v.Notice = c.texts.text("users.title"), "users", c.notice()
	all, err := c.api.Users(c.ctx())
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(u *store.User) bool { return u.Disabled && !v.All || !hasText(u, v.Query) })
	slices.SortFunc(all, func(a, b *store.User) int { return cmp.Compare(userKey(a), userKey(b)) })
	q := url.Values{}
	for key, value := range map[string]string{"q": v.Query, "all": c.r.Form.Get("all")} {
		if value != "" {
			q.Set(key, value)
		}
	}
	v.Users, v.First, v.Next = pageOf(c, usersPath, q, all, userKey)
	c.show(http.StatusOK, "users", v)
	return nil
}

func userKey(u *store.User) string { return strings.ToLower(u.Name) + " " + u.ID }

func hasText(u *store.User, text string) bool {
	return slices.ContainsFunc(append([]string{u.ID, u.Name, u.Mail}, u.Subjects...), func(s string) bool {
		return strings.Contains(strings.ToLower(s), strings.ToLower(text))
	})
}

// A granting is the part of a form that grants a role.
type granting struct {
	Role   string
	Scope  string // "some" for Prefix, "all", or "none" for no role
	Prefix string

	Roles    []string // roles that can be chosen
	Prefixes []string // suggestions: prefixes of authorities
}

const maxSuggested = 200

func (c *request) readGranting() (granting, []problem) {
	f := c.r.PostForm
	g := granting{Role: f.Get("role"), Scope: f.Get("scope"), Prefix: strings.TrimSpace(f.Get("prefix"))}
	if g.Scope != "all" && g.Scope != "none" && g.Prefix == "" {
		return g, []problem{{"prefix", c.texts.text("grant.no-prefix")}}
	}
	return g, nil
}

func (g granting) grants() []store.UserGrant {
	switch g.Scope {
	case "none":
		return nil
	case "all":
		return []store.UserGrant{{Role: g.Role}}
	}
	return []store.UserGrant{{Role: g.Role, Prefixes: []string{g.Prefix}}}
}

// suggest adds to a form the roles that the user can grant, and suggestions for prefixes.
func (c *request) suggest(g *granting) error {
	g.Roles = roleNames()
	if !c.session.Actor.MayAll(registrar.Administrator) {
		g.Roles = g.Roles[:registrar.Administrator]
	}
	authorities, err := c.api.Authorities(c.ctx())
	if err != nil {
		return err
	}
	for _, a := range authorities {
		if c.session.Actor.MayPrefix(a.Prefix, registrar.Owner) && len(g.Prefixes) < maxSuggested {
			g.Prefixes = append(g.Prefixes, a.Prefix.String())
		}
	}
	return nil
}

func userField(field string) string {
	switch {
	case strings.HasSuffix(field, ".role"):
		return "role"
	case strings.Contains(field, ".prefixes"):
		return "prefix"
	}
	return firstField(field)
}

type newUserView struct {
	frame
	granting
	Name, Mail, Subjects, Why string
	Link                      bool          // also make a link for signing in
	Same                      []*store.User // existing users who may be the same person
}

func (c *request) newUser() error {
	v := &newUserView{granting: granting{Role: registrar.Editor.String(), Scope: "some"}}
	return c.showNewUser(v, http.StatusOK)
}

func (c *request) showNewUser(v *newUserView, status int) error {
	if !c.session.Actor.MayAll(registrar.Administrator) {
		return c.session.Actor.DeniedAll(registrar.Administrator, "users")
	}
	v.Title, v.Section = c.texts.text("users.new"), "users"
	if err := c.suggest(&v.granting); err != nil {
		return err
	}
	c.show(status, "user-new", v)
	return nil
}

func (c *request) addUser() error {
	f := c.r.PostForm
	v := &newUserView{
		Name: strings.TrimSpace(f.Get("name")), Mail: strings.TrimSpace(f.Get("mail")), Subjects: lines(f.Get("subjects")),
		Why: lines(f.Get("why")), Link: f.Get("link") != "",
	}
	if v.granting, v.Faults = c.readGranting(); len(v.Faults) > 0 {
		return c.showNewUser(v, http.StatusUnprocessableEntity)
	}
	u := &store.User{Name: v.Name, Mail: v.Mail, Subjects: entries(v.Subjects), Grants: v.grants()}
	var err error
	if v.Same, err = c.sameUsers(u); err != nil {
		return err
	}
	if len(v.Same) > 0 && f.Get("accept") == "" {
		return c.showNewUser(v, http.StatusUnprocessableEntity)
	}
	out, err := c.api.PutUser(c.ctx(), u, 0, v.Why)
	if fault, ok := c.userFault(err); ok {
		v.Faults = []problem{fault}
		return c.showNewUser(v, http.StatusUnprocessableEntity)
	}
	switch {
	case err != nil:
		return err
	case v.Link:
		return c.linkOf(out.User.ID)
	}
	c.see(userPath(out.User.ID) + "?done=user-added")
	return nil
}

// sameUsers returns the users with the name or the mail address of a new user. If the form was sent
// twice, one of them is the new user itself.
func (c *request) sameUsers(u *store.User) ([]*store.User, error) {
	all, err := c.api.Users(c.ctx())
	return slices.DeleteFunc(all, func(o *store.User) bool {
		return !strings.EqualFold(o.Name, u.Name) && (u.Mail == "" || !strings.EqualFold(o.Mail, u.Mail))
	}), err
}

// userFault converts an error about a change of a user to an entry of the error summary. It returns
// false if the error is not about the input.
func (c *request) userFault(err error) (problem, bool) {
	if p := adminapi.NewProblem(err); err != nil && p.Status == http.StatusConflict && p.Current == nil {
		return problem{"subjects", p.Detail}, true // a subject belongs to another user
	}
	return c.faultOf(err, userField)
}

type userView struct {
	frame
	granting
	Of      *store.User
	Rights  []rightRow
	Manages bool // the user who is signed in may change users
	Grants  bool // the user who is signed in may grant roles to this user
	IsSelf  bool
}

type rightRow struct {
	Role, Prefix string
	MayRevoke    bool
}

func (c *request) user() error {
	u, err := c.api.User(c.ctx(), c.r.PathValue("id"))
	if err != nil {
		return err
	}
	v := &userView{granting: granting{Role: registrar.Editor.String(), Scope: "some"}}
	return c.showUser(v, u, http.StatusOK)
}

func (c *request) showUser(v *userView, u *store.User, status int) error {
	a := c.session.Actor
	v.Of, v.IsSelf, v.Manages = u, u.ID == a.Who, a.MayAll(registrar.Administrator)
	v.Grants = !u.Disabled && (v.Manages || a.MayAny(registrar.Owner) && !v.IsSelf)
	v.Title, v.Section, v.Notice = c.texts.text("users.of", cmp.Or(u.Name, u.ID)), "users", c.notice()
	for _, g := range u.Grants {
		if len(g.Prefixes) == 0 {
			v.Rights = append(v.Rights, rightRow{g.Role, "", a.MayAll(granterOf(g.Role))})
		}
		for _, p := range g.Prefixes {
			v.Rights = append(v.Rights, rightRow{g.Role, p, mayScope(a, p, g.Role)})
		}
	}
	if v.Grants {
		if err := c.suggest(&v.granting); err != nil {
			return err
		}
	}
	c.show(status, "user", v)
	return nil
}

func granterOf(role string) registrar.Role {
	if r, ok := registrar.ParseRole(role); ok && r <= registrar.Owner {
		return registrar.Owner
	}
	return registrar.Administrator
}

func mayScope(a registrar.Actor, prefix, role string) bool {
	p, err := name.ParseScope(prefix)
	if granterOf(role) == registrar.Administrator {
		return a.MayAll(registrar.Administrator)
	}
	return a.MayAll(registrar.Owner) || err == nil && a.MayPrefix(p, registrar.Owner)
}

// grant grants a role to a user. The form does not need a revision, because the user keeps all
// other roles.
func (c *request) grant() error {
	id := c.r.PathValue("id")
	u, err := c.api.User(c.ctx(), id)
	if err != nil {
		return err
	}
	v := &userView{}
	if v.granting, v.Faults = c.readGranting(); len(v.Faults) > 0 {
		return c.showUser(v, u, http.StatusUnprocessableEntity)
	}
	_, err = c.api.GrantUser(c.ctx(), id, registrar.Granting{Add: v.grants(), Expected: store.AnyRevision}, lines(c.r.PostForm.Get("why")))
	if fault, ok := c.faultOf(err, userField); ok {
		v.Faults = []problem{fault}
		return c.showUser(v, u, http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	c.see(userPath(id) + "?done=granted")
	return nil
}

// revokeGrant revokes a role of a user. It does nothing if the role is already revoked, as after
// the form was sent twice.
func (c *request) revokeGrant() error {
	id, role, prefix := c.r.PathValue("id"), c.r.PostForm.Get("role"), c.r.PostForm.Get("prefix")
	u, err := c.api.User(c.ctx(), id)
	if err != nil {
		return err
	}
	g := store.UserGrant{Role: role}
	if prefix != "" {
		g.Prefixes = []string{prefix}
	}
	if !hasRight(u, role, prefix) {
		c.see(userPath(id) + "?done=unchanged")
		return nil
	}
	out, err := c.api.GrantUser(c.ctx(), id, registrar.Granting{Remove: []store.UserGrant{g}, Expected: store.AnyRevision}, "")
	if err != nil {
		return err
	}
	c.see(userPath(id) + "?done=" + afterwards("revoked-role", out))
	return nil
}

func hasRight(u *store.User, role, prefix string) bool {
	return slices.ContainsFunc(u.Grants, func(g store.UserGrant) bool {
		return g.Role == role && (prefix == "" && len(g.Prefixes) == 0 || slices.Contains(g.Prefixes, prefix))
	})
}

// afterwards returns the notice that follows a change. It includes a warning if no administrator
// remains.
func afterwards(done string, out registrar.Outcome) string {
	if slices.ContainsFunc(out.Warnings, func(w registrar.Warning) bool { return w.Code == registrar.WarnLastAdministrator }) {
		return "last-administrator"
	}
	return done
}
