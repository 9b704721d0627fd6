package main

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/internal/backups"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/store/pebblestore"
)

type backupFlags struct {
	to, at      string
	every       time.Duration
	keep        int
	keepWeekly  int
	rehearse    int
	hook        []string
	hookTimeout time.Duration
	set         *pflag.FlagSet // to find out which of them are set
}

func (o *backupFlags) register(f *pflag.FlagSet) {
	o.set = f
	f.StringVar(&o.to, "backup.to", "", "directory for scheduled backups, an absolute path (default none: no backups)")
	f.DurationVar(&o.every, "backup.every", 0, "time from one backup to the next (default 24h)")
	f.StringVar(&o.at, "backup.at", "", "time of day of the backups, such as 03:00, instead of --backup.every")
	f.IntVar(&o.keep, "backup.keep", backups.DefaultKeep, "how many of the newest backups to keep")
	f.IntVar(&o.keepWeekly, "backup.keep-weekly", 0, "number of weeks, before the backups of --backup.keep, of which the newest backup is also kept")
	f.IntVar(&o.rehearse, "backup.rehearse", 1, "rehearse one in this many backups, so 1 means every backup; 0 turns this off")
	f.StringArrayVar(&o.hook, "backup.hook", nil, "program and arguments to run after each backup, without a shell; {backup} stands for the directory of the backup")
	f.DurationVar(&o.hookTimeout, "backup.hook-timeout", backups.DefaultHookTimeout, "time after which the hook is killed")
}

// plan returns the plan for scheduled backups, or nil if backups are turned off. An empty
// --backup.to turns backups off, even if other options for backups are set.
func (o *backupFlags) plan() (*backups.Plan, error) {
	if o.to == "" {
		return nil, o.withoutTarget()
	}
	p := &backups.Plan{
		To: o.to, Every: o.every, At: o.at, Keep: o.keep, KeepWeekly: o.keepWeekly,
		Rehearse: o.rehearse, Hook: o.hook, HookTimeout: o.hookTimeout,
	}
	if o.keep == 0 {
		return nil, usagef("serve: --backup.keep 0: must be positive")
	}
	if err := p.Complete(); err != nil {
		return nil, usagef("serve: --backup.%w", err)
	}
	return p, nil
}

func (o *backupFlags) withoutTarget() (err error) {
	if o.set.Changed("backup.to") {
		return nil
	}
	o.set.Visit(func(f *pflag.Flag) {
		if strings.HasPrefix(f.Name, "backup.") && err == nil {
			err = usagef("serve: --%s makes no backups without --backup.to: set --backup.to to the directory for them, or remove --%s", f.Name, f.Name)
		}
	})
	return err
}

func (c *cli) checkBackups(f *serveFlags) error {
	if f.backup.to == "" || !c.inDatabase() {
		return nil
	}
	return usagef("serve: --backup.to %q: scheduled backups work on the embedded store only; back up a database with its own tools, such as pg_dump or pg_basebackup (docs/howto/back-up-and-restore.md)", f.backup.to)
}

// startBackups starts the scheduler of backups. The function stop stops it, and removes a backup in
// progress. The scheduler is nil if the server cannot make backups.
func (c *cli) startBackups(ctx context.Context, f *serveFlags, s servingStore, tasks backups.Tasks, log *slog.Logger) (b *backups.Scheduler, stop func(), err error) {
	plan, err := f.backup.plan()
	source, ok := s.(*pebblestore.Store)
	switch {
	case err != nil:
		return nil, nil, err
	case plan != nil && f.readOnly:
		log.Warn("no scheduled backups with --read-only")
	}
	if !ok || f.readOnly {
		return nil, func() {}, nil
	}
	b = backups.New(backups.Options{Source: source, Data: c.data, Tasks: tasks, Now: clock, Log: log})
	b.Set(plan)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		b.Run(pacer.With(ctx, c.pacer))
		close(ended)
	}()
	return b, func() { cancel(); <-ended }, nil
}
