package pages

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Limits of the overview. They keep its cost independent of the size of the store.
const (
	maxPrefixes = 20   // maximum number of prefixes listed
	maxCounted  = 1000 // maximum number of names counted for a prefix
	maxRecent   = 5    // maximum number of changes listed
	maxSearched = 1000 // number of latest changes in the log that are searched for changes that the user may see
	maxTasks    = 10   // maximum number of failed lookups listed
)

type dashboardView struct {
	frame
	Prefixes    []prefixRow
	Everywhere  bool           // the user has rights for all names
	Cut         bool           // there are more prefixes
	Owners      []name.Prefix  // authorities of the user with fewer than two owners
	Waiting     []adminapi.Job // jobs of other users that the user can approve
	Misses      []misses.Miss
	NoBackup    bool      // no backup has been made
	OldBackup   time.Time // time of the last backup, if it is too old
	Certificate time.Time // time at which a certificate expires, if it expires soon
	Recent      []adminapi.Entry
}

func (v *dashboardView) HasTasks() bool {
	return len(v.Owners)+len(v.Waiting)+len(v.Misses) > 0 || v.NoBackup || !v.OldBackup.IsZero() || !v.Certificate.IsZero()
}

type prefixRow struct {
	Prefix string // "" for all names
	Begin  string // prefix of the keys
	Count  int
	More   bool // Count is a lower bound
}

func (c *request) dashboard() error {
	v := &dashboardView{frame: frame{Title: c.texts.text("dashboard.title"), Section: "dashboard"}}
	authorities, err := c.api.Authorities(c.ctx())
	if err != nil {
		return err
	}
	if err := c.countPrefixes(v, authorities); err != nil {
		return err
	}
	if err := c.tasks(v, authorities); err != nil {
		return err
	}
	if v.Recent, err = recent(c.ctx(), c.api); err != nil {
		return err
	}
	c.show(http.StatusOK, "dashboard", v)
	return nil
}

// countPrefixes lists the prefixes of the user. For a user with rights for all names, it lists all
// authorities.
func (c *request) countPrefixes(v *dashboardView, authorities []*store.Authority) error {
	own := c.session.Actor.Scope()
	if v.Everywhere = c.session.Actor.MayAll(registrar.Reader); v.Everywhere {
		own = nil
		for _, a := range authorities {
			own = append(own, a.Prefix)
		}
	}
	if v.Cut = len(own) > maxPrefixes; v.Cut {
		own = own[:maxPrefixes]
	}
	for _, p := range own {
		row, err := c.count(p, maxCounted)
		if err != nil {
			return err
		}
		v.Prefixes = append(v.Prefixes, row)
	}
	return nil
}

func (c *request) count(p name.Prefix, limit int) (prefixRow, error) {
	row := prefixRow{Prefix: p.String(), Begin: p.String()}
	for _, begin := range p.Spans() {
		page, err := c.api.List(c.ctx(), adminapi.Listing{Prefix: begin, Limit: limit, Keys: true})
		if err != nil {
			return row, err
		}
		row.Count += len(page.Keys)
		row.More = row.More || page.Next != ""
	}
	return row, nil
}

// tasks lists the tasks of the user.
func (c *request) tasks(v *dashboardView, authorities []*store.Authority) error {
	for _, a := range authorities {
		if registrar.HasFewOwners(a) && c.session.Actor.MayPrefix(a.Prefix, registrar.Owner) {
			v.Owners = append(v.Owners, a.Prefix)
		}
	}
	m, err := c.api.VisibleMisses(c.ctx(), "", maxTasks)
	if err != nil {
		return err
	}
	v.Misses = m.Misses[:fitting(m.Misses, maxTasks, missSize)]
	jobs, err := c.api.Jobs(c.ctx())
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if j.State == adminapi.JobWaiting && j.Who != c.session.UserID {
			v.Waiting = append(v.Waiting, j)
		}
	}
	c.watch(v)
	return nil
}

// Limits at which the state of a server becomes a task of its administrators.
const (
	maxBackupAge    = 7 * 24 * time.Hour
	leastExpiryLeft = 7 * 24 * time.Hour // as in the alert NomenCertificateExpires
)

// watch lists the tasks of an administrator that concern the server.
func (c *request) watch(v *dashboardView) {
	if c.condition == nil || !c.session.Actor.MayAll(registrar.Administrator) {
		return
	}
	now, is := c.now(), c.condition()
	v.NoBackup = is.Backup.IsZero() && !is.Database
	if !is.Backup.IsZero() && now.Sub(is.Backup) > maxBackupAge {
		v.OldBackup = is.Backup
	}
	if !is.Certificate.IsZero() && is.Certificate.Sub(now) < leastExpiryLeft {
		v.Certificate = is.Certificate
	}
}

// recent returns the last changes that the client may see, newest first. If the store does not have
// a log, there are no changes.
func recent(ctx context.Context, api *adminapi.Client) ([]adminapi.Entry, error) {
	head, err := api.Head(ctx)
	if isUnsupported(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for read := uint64(2 * maxRecent); ; read = min(10*read, maxSearched) {
		from := head.Size - min(head.Size, read)
		last, err := entriesOf(api.Entries(ctx, from))
		if err != nil {
			return nil, err
		}
		if len(last) >= maxRecent || read == maxSearched || from == 0 {
			slices.Reverse(last)
			return last[:min(len(last), maxRecent)], nil
		}
	}
}

func isUnsupported(err error) bool {
	var status *adminapi.StatusError
	return errors.As(err, &status) && status.Kind == adminapi.KindUnsupported
}
