package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const tokensPath = Root + "tokens"

func tokenHandlers() handlers {
	return handlers{
		"GET tokens":              (*request).tokens,
		"GET tokens/new":          (*request).newToken,
		"POST tokens/new":         (*request).makeToken,
		"GET tokens/made":         (*request).tokenMade,
		"GET tokens/revoke/{id}":  (*request).revokeForm,
		"POST tokens/revoke/{id}": (*request).revoke,
	}
}

type tokensView struct {
	frame
	Tokens      []tokenRow
	All         bool // also show tokens that are no longer valid
	First, Next string
}

type tokenRow struct {
	adminapi.Token
	Expired bool
}

func (r tokenRow) Valid() bool { return !r.Expired && !r.Revoked }

func (c *request) tokens() error {
	v := &tokensView{All: c.r.Form.Get("all") != ""}
	v.Title, v.Section, v.Notice = c.texts.text("tokens.title"), "tokens", c.notice()
	all, err := c.api.Tokens(c.ctx())
	if err != nil {
		return err
	}
	for _, t := range all {
		if row := c.tokenRow(t); v.All || row.Valid() {
			v.Tokens = append(v.Tokens, row)
		}
	}
	q := url.Values{}
	if v.All {
		q.Set("all", "1")
	}
	v.Tokens, v.First, v.Next = pageOf(c, tokensPath, q, v.Tokens, func(t tokenRow) string { return t.ID })
	c.show(http.StatusOK, "tokens", v)
	return nil
}

func (c *request) tokenRow(t adminapi.Token) tokenRow {
	return tokenRow{t, !t.Expires.IsZero() && !c.now().Before(t.Expires)}
}

// pageOf returns a page of a list that is sorted by key. The page begins after the key in the query
// parameter "after". pageOf also returns the URLs of the first and the next page, which include the
// parameters q.
func pageOf[T any](c *request, path string, q url.Values, all []T, key func(T) string) (rows []T, first, next string) {
	target := func(after string) string {
		next := url.Values{}
		for k, v := range q {
			next[k] = v
		}
		if after != "" {
			next.Set("after", after)
		}
		return strings.TrimSuffix(path+"?"+next.Encode(), "?")
	}
	if after := c.r.Form.Get("after"); after != "" {
		first = target("")
		i, found := slices.BinarySearchFunc(all, after, func(row T, after string) int { return cmp.Compare(key(row), after) })
		if found {
			i++
		}
		all = all[i:]
	}
	if len(all) > pageSize {
		all = all[:pageSize]
		next = target(key(all[pageSize-1]))
	}
	return all, first, next
}

type newTokenView struct {
	frame
	Who, Role, Prefixes, Expires string
	Scope                        string   // "all", or "some" for Prefixes
	Roles                        []string // roles that can be chosen
}

func (c *request) newToken() error {
	v := &newTokenView{Role: registrar.Reader.String(), Scope: "some"}
	return c.showNewToken(v, http.StatusOK)
}

func (c *request) showNewToken(v *newTokenView, status int) error {
	if !c.session.Actor.MayAll(registrar.Administrator) {
		return c.session.Actor.DeniedAll(registrar.Administrator, "tokens")
	}
	v.Title, v.Section, v.Roles = c.texts.text("tokens.new"), "tokens", roleNames()
	c.show(status, "token-new", v)
	return nil
}

func roleNames() (all []string) {
	for r := registrar.Reader; r <= registrar.Administrator; r++ {
		all = append(all, r.String())
	}
	return all
}

// makeToken makes a token. The next page shows its secret.
func (c *request) makeToken() error {
	f := c.r.PostForm
	v := &newTokenView{
		Who: strings.TrimSpace(f.Get("who")), Role: f.Get("role"), Prefixes: lines(f.Get("prefixes")),
		Expires: strings.TrimSpace(f.Get("expires")), Scope: f.Get("scope"),
	}
	g := adminapi.Grant{Who: v.Who, Role: v.Role}
	if v.Scope != "all" {
		if g.Prefixes = entries(v.Prefixes); len(g.Prefixes) == 0 {
			v.Faults = append(v.Faults, problem{"prefixes", c.texts.text("grant.no-prefix")})
		}
	}
	var err error
	if g.Expires, err = endOfDay(v.Expires); err != nil {
		v.Faults = append(v.Faults, problem{"expires", err.Error()})
	}
	if len(v.Faults) > 0 {
		return c.showNewToken(v, http.StatusUnprocessableEntity)
	}
	made, err := c.api.Grant(c.ctx(), g)
	if fault, ok := c.faultOf(err, firstField); ok {
		v.Faults = []problem{fault}
		return c.showNewToken(v, http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	return c.setOnce(once{Of: tokensPath + "/made", Text: made.Token, Until: g.Expires})
}

// endOfDay parses a time that a user has entered. For a date, it returns the end of the day. For
// "", it returns the zero time.
func endOfDay(entered string) (time.Time, error) {
	if entered == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, entered); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	return adminapi.ParseTime(entered)
}

type madeView struct {
	frame
	Token string // "" if it was already shown
	Until time.Time
}

func (c *request) tokenMade() error {
	made := c.takeOnce()
	v := &madeView{Token: made.Text, Until: made.Until}
	v.Title, v.Section = c.texts.text("tokens.made"), "tokens"
	c.show(http.StatusOK, "token-made", v)
	return nil
}

type revokeView struct {
	frame
	Token tokenRow
}

func (c *request) revokeForm() error {
	all, err := c.api.Tokens(c.ctx())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(t adminapi.Token) bool { return t.ID == c.r.PathValue("id") })
	if i < 0 {
		return store.ErrNotFound
	}
	v := &revokeView{Token: c.tokenRow(all[i])}
	v.Title, v.Section = c.texts.text("tokens.revoke-title", all[i].Who), "tokens"
	c.show(http.StatusOK, "token-revoke", v)
	return nil
}

// revoke revokes a token. It does nothing if the token is already revoked.
func (c *request) revoke() error {
	if err := c.api.Revoke(c.ctx(), c.r.PathValue("id")); err != nil {
		return err
	}
	c.see(tokensPath + "?done=revoked")
	return nil
}
