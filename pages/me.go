package pages

import (
	"errors"
	"net/http"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

func meHandlers() handlers { return handlers{"GET me": (*request).me} }

type meView struct {
	frame
	ID     string
	Name   string
	Person *store.User // nil if the API does not show the user
	Grants []grantRow
}

type grantRow struct {
	Role     string
	Prefixes []string // all names if empty
}

func (c *request) me() error {
	v := &meView{ID: c.session.UserID, Name: c.session.Name, Grants: grantRows(c.session.Actor)}
	v.Title, v.Section = c.texts.text("me.title"), "me"
	var err error
	if v.Person, err = c.api.User(c.ctx(), v.ID); err != nil {
		if !errors.Is(err, store.ErrNotFound) && !errors.As(err, new(*registrar.DeniedError)) && !isUnsupported(err) {
			return err
		}
		v.Person = nil
	}
	c.show(http.StatusOK, "me", v)
	return nil
}

func grantRows(a registrar.Actor) (rows []grantRow) {
	for _, g := range a.Grants {
		row := grantRow{Role: g.Role.String()}
		for _, p := range g.Prefixes {
			row.Prefixes = append(row.Prefixes, p.String())
		}
		rows = append(rows, row)
	}
	return rows
}
