package pages

import (
	"net/http"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
)

// A linkRow is a location that the server checks, and the names that have it.
type linkRow struct {
	adminapi.Link
	Of []linkedName
}

// A linkedName is a name of a location.
type linkedName struct {
	Name     string
	Archived bool // the name has an archived copy
	MayAsk   bool // the user can ask an archive for a copy
}

func (v *linksView) linkRows(c *request) {
	for _, l := range v.Checked.Links {
		row := linkRow{Link: l}
		for _, n := range l.Names {
			of := linkedName{Name: n, Archived: slices.Contains(l.Archived, n)}
			of.MayAsk = l.Verdict == "dead" && v.Status.Archive != "" && !of.Archived && c.mayEdit(n)
			row.Of = append(row.Of, of)
		}
		v.Rows = append(v.Rows, row)
	}
}

func (c *request) mayEdit(text string) bool {
	n, err := name.Parse(text)
	return err == nil && c.session.Actor.MayName(n, registrar.Editor)
}

// A copiesView shows the copies that an archive suggests for the dead locations of a name.
type copiesView struct {
	frame
	Name  string
	Links []copyRow
}

// A copyRow is a dead location with its copy.
type copyRow struct {
	adminapi.Link
	Late bool // the archive made the copy after the location began to fail
}

// copies shows copies that an archive suggests.
func (c *request) copies() error {
	v, err := c.copiesView()
	if err != nil {
		return err
	}
	c.show(http.StatusOK, "copies", v)
	return nil
}

func (c *request) copiesView() (*copiesView, error) {
	v := &copiesView{Name: strings.TrimSpace(c.r.Form.Get("name"))}
	v.Title, v.Section = c.texts.text("copies.title"), "links"
	n, err := name.Parse(v.Name)
	if err != nil {
		return nil, err
	}
	all, err := c.api.DoLinks(c.ctx(), n, adminapi.LinkRequest{Suggest: true})
	if err != nil {
		return nil, err
	}
	for _, l := range all.Links {
		v.Links = append(v.Links, copyRow{l, l.Copy != nil && !l.Since.IsZero() && l.Copy.Time.After(l.Since)})
	}
	return v, nil
}

// acceptCopy adds a copy to the locations of a name.
func (c *request) acceptCopy() error {
	f := c.r.PostForm
	n, err := name.Parse(f.Get("name"))
	if err != nil {
		return err
	}
	_, err = c.api.DoLinks(c.ctx(), n, adminapi.LinkRequest{URL: f.Get("url"), Accept: f.Get("copy"), Why: lines(f.Get("why"))})
	if fault, ok := c.faultOf(err, firstField); ok {
		v, again := c.copiesView()
		if again != nil {
			return err
		}
		v.Faults = []problem{{"", fault.Text}}
		c.show(http.StatusUnprocessableEntity, "copies", v)
		return nil
	} else if err != nil {
		return err
	}
	c.see(namePath(n.Key()) + "?done=copied")
	return nil
}
