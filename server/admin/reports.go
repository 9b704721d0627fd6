package admin

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/audit"
	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// report runs work and sends its reports, one per line. If work fails, the last line has the error.
func (s *API) report(c *call, work func(ctx context.Context, tell func(adminapi.Report)) (adminapi.Report, error)) error {
	w := s.newLineWriter(c)
	if err := w.send(); err != nil {
		return ignored(err)
	}
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	tell := func(r adminapi.Report) {
		err := w.write(r)
		if err == nil && (r.Progress != nil || r.Relocated != nil || r.Undone != nil) {
			err = w.send()
		}
		if err != nil {
			cancel() // the client has disconnected
		}
	}
	last, err := work(ctx, tell)
	if last.Done = true; err != nil {
		s.log.Info("request ended early", "target", requestlog.Printable(c.r.RequestURI), "who", c.actor.Who, "err", err)
		last.Problem = adminapi.NewProblem(err)
	}
	tell(last)
	return ignored(w.send())
}

func (s *API) relocate(c *call) error {
	var rel registrar.Relocation
	if err := readJSON(c, &rel); err != nil {
		return err
	}
	return s.relocateAs(c, rel, "")
}

func relocationJob(rel registrar.Relocation, dryRun string) adminapi.Job {
	return adminapi.Job{Kind: adminapi.JobRelocate, Subject: adminapi.RelocationSubject(rel.From, rel.To), DryRun: rel.DryRun, DryRunOf: dryRun, Unit: "names"}
}

// relocateAs starts a relocation. If it applies a dry run, dryRun is the ID of the dry run.
func (s *API) relocateAs(c *call, rel registrar.Relocation, dryRun string) error {
	switch many, err := s.relocatesMany(c, rel); {
	case err != nil:
		return err
	case many:
		return s.askRelocation(c, rel, dryRun)
	}
	reach := reach{api: s, counts: map[string]*adminapi.Reach{}}
	return s.reportJob(c, relocationJob(rel, dryRun), rel, func(ctx context.Context, j *job, tell func(adminapi.Report)) (adminapi.Report, error) {
		rel.Begun = s.jobs.begun(j)
		rel.Moved = func(n name.Name, from, to string) {
			tell(adminapi.Report{Moved: &adminapi.Moved{Key: n.Key(), From: from, To: to}})
			if rel.DryRun {
				reach.add(ctx, n)
			}
		}
		rel.Refused = func(n name.Name, err error) {
			tell(adminapi.Report{Refused: &adminapi.Refused{Key: n.Key(), Problem: adminapi.NewProblem(err)}})
		}
		rel.Progress = func(sum registrar.Relocated) { tell(adminapi.Report{Relocated: &sum}) }
		sum, err := s.registrar.Relocate(ctx, c.actor, rel)
		if rel.DryRun {
			s.jobs.update(j, func(_ *adminapi.Job, of *adminapi.JobResult) { of.Reach = reach.all() })
		}
		return adminapi.Report{Relocated: &sum}, err
	})
}

// A reach counts the names that a relocation would change, for each authority.
type reach struct {
	api    *API
	last   name.Name
	counts map[string]*adminapi.Reach
}

const maxReach = 100

// add counts a name. The calls for the locations of the same name must follow each other.
func (r *reach) add(ctx context.Context, n name.Name) {
	if n == r.last {
		return
	}
	r.last = n
	var of adminapi.Reach
	if set, err := r.api.authorities.Set(ctx, time.Time{}); err == nil {
		if a := set.Of(n); a != nil {
			of.Prefix, of.Owners = a.Prefix.String(), a.Owners
		}
	}
	if r.counts[of.Prefix] == nil {
		r.counts[of.Prefix] = &of
	}
	r.counts[of.Prefix].Names++
}

// all returns the authorities with the highest numbers of names.
func (r *reach) all() []adminapi.Reach {
	all := make([]adminapi.Reach, 0, len(r.counts))
	for _, of := range r.counts {
		all = append(all, *of)
	}
	slices.SortFunc(all, func(a, b adminapi.Reach) int {
		return cmp.Or(cmp.Compare(b.Names, a.Names), cmp.Compare(a.Prefix, b.Prefix))
	})
	return all[:min(len(all), maxReach)]
}

func (s *API) undo(c *call) error {
	var u registrar.Undoing
	if err := readJSON(c, &u); err != nil {
		return err
	}
	return s.undoAs(c, u, "")
}

// undoAs starts an undo. If it applies a dry run, dryRun is the ID of the dry run.
func (s *API) undoAs(c *call, u registrar.Undoing, dryRun string) error {
	subject := u.Batch
	if subject == "" {
		subject = fmt.Sprintf("changes %d to %d", u.From, u.To)
	}
	of := adminapi.Job{Kind: adminapi.JobUndo, Subject: subject, DryRun: u.DryRun, DryRunOf: dryRun, Unit: "names"}
	return s.reportJob(c, of, u, func(ctx context.Context, j *job, tell func(adminapi.Report)) (adminapi.Report, error) {
		u.Begun = s.jobs.begun(j)
		u.Reverted = func(r registrar.Reversal) {
			tell(adminapi.Report{Reverted: &r})
			if r.Authority && !u.DryRun {
				s.authorities.Forget()
			}
		}
		u.Refused = func(key string, err error) {
			tell(adminapi.Report{Refused: &adminapi.Refused{Key: key, Problem: adminapi.NewProblem(err)}})
		}
		u.Progress = func(sum registrar.Undone) { tell(adminapi.Report{Undone: &sum}) }
		sum, err := s.registrar.Undo(ctx, c.actor, u)
		return adminapi.Report{Undone: &sum}, err
	})
}

// A verification is a function that verifies the store. It calls fault for each fault, and progress
// from time to time. It returns the head of the verified log.
type verification func(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error)

// verification returns the verification for a request. If the parameter "since" is set, only the
// changes after that head are verified, and subject is "since" and the head. Otherwise, the whole
// store is verified, and subject is "".
func (s *API) verification(q url.Values) (check verification, subject string, err error) {
	if q["since"] == nil {
		return func(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
			return store.Verify(ctx, s.store, fault, progress)
		}, "", nil
	}
	since, err := store.ParseHead(q.Get("since"))
	if err != nil {
		return nil, "", &adminapi.RequestError{Field: "since", Message: err.Error()}
	}
	source, err := audit.SourceOf(s.store)
	if err != nil {
		return nil, "", detailedError(err)
	}
	return func(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
		return audit.Since(ctx, source, since, 0, fault, progress)
	}, "since " + since.String(), nil
}

func (s *API) verify(c *call) error {
	if err := c.requireAllNames("verify"); err != nil {
		return err
	}
	check, subject, err := s.verification(c.q)
	if err != nil {
		return err
	}
	of := adminapi.Job{Kind: adminapi.JobVerify, Subject: subject, Unit: "changes"}
	return s.reportJob(c, of, c.r.URL.RawQuery, func(ctx context.Context, _ *job, tell func(adminapi.Report)) (adminapi.Report, error) {
		h, err := check(ctx,
			func(f store.Fault) {
				j := adminapi.NewFault(f)
				tell(adminapi.Report{Fault: &j})
			},
			func(done, total uint64) {
				tell(adminapi.Report{Progress: &adminapi.Progress{Done: done, Total: total}})
			})
		if err != nil {
			return adminapi.Report{}, detailedError(err)
		}
		j := adminapi.NewHead(h)
		return adminapi.Report{Head: &j}, nil
	})
}

// backup writes a backup to a directory on the server's machine. The server needs write permission
// for the directory.
func (s *API) backup(c *call) error {
	if err := c.requireAllNames("backup"); err != nil {
		return err
	}
	var body adminapi.BackupRequest
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if !filepath.IsAbs(body.Dir) {
		return &adminapi.RequestError{Field: "dir", Message: "must be an absolute path on the machine of the server"}
	}
	of := adminapi.Job{Kind: adminapi.JobBackup, Subject: filepath.Clean(body.Dir), Unit: "bytes"}
	return s.reportJob(c, of, body, func(ctx context.Context, _ *job, tell func(adminapi.Report)) (adminapi.Report, error) {
		err := store.Backup(ctx, s.store, filepath.Clean(body.Dir), func(done, total uint64) {
			tell(adminapi.Report{Progress: &adminapi.Progress{Done: done, Total: total}})
		})
		if err != nil {
			return adminapi.Report{}, detailedError(durable.Unwritable(filepath.Clean(body.Dir), err))
		}
		s.log.Info("backup completed", "dir", body.Dir, "who", c.actor.Who)
		return adminapi.Report{}, nil
	})
}
