package main

import (
	"errors"
	"fmt"
	"io/fs"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/internal/backups"
)

const backupStatusLong = `Status shows the scheduled backups of the server of this data directory: the schedule, the
last backup and its age, the last successful rehearsal, the last success of the hook, what
failed, and how many backups in the directory this server never deletes. The server need
not be running.

The exit status is 1 if the last backup, its rehearsal or its hook failed, if a backup is
overdue by more than an hour, or if no backup was ever made.`

func (c *cli) backupStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "show the age and the rehearsal of the scheduled backups",
		Long:    backupStatusLong,
		Example: "  nomen backup status\n  nomen backup status --json | jq -r .last.dir",
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return c.backupStatus() },
	}
}

type backupStatus struct {
	Schedule  string          `json:"schedule,omitempty"`
	Next      time.Time       `json:"next,omitzero"`
	Count     int             `json:"count"`
	Others    int             `json:"others,omitempty"` // backups in the directory that this server never deletes
	Last      *backups.Backup `json:"last,omitempty"`
	Age       float64         `json:"age_seconds,omitempty"`
	Rehearsed *backups.Backup `json:"rehearsed,omitempty"` // the last backup that was rehearsed successfully
	Problems  []string        `json:"problems,omitempty"`
}

// overdue is the maximum delay of a scheduled backup before it is reported as late.
const overdue = time.Hour

func backupStatusOf(s *backups.State, now time.Time) backupStatus {
	out := backupStatus{Schedule: s.Plan, Next: s.Next, Count: len(s.Backups), Others: s.Others, Last: s.Last(), Rehearsed: s.LastRehearsed()}
	problem := func(format string, args ...any) { out.Problems = append(out.Problems, fmt.Sprintf(format, args...)) }
	if s.Problem != "" && s.Plan != "" {
		problem("the last attempt failed: %s", s.Problem)
	}
	switch {
	case s.Plan == "":
		problem("no backups are scheduled any more: set backup.to in the configuration again")
	case out.Last == nil && s.Problem == "":
		problem("no backup was made yet")
	case out.Last != nil && now.After(s.Next.Add(overdue)) && s.Problem == "":
		problem("a backup is overdue since %s: is the server running?", s.Next.Format(time.RFC3339))
	}
	if out.Last != nil {
		out.Age = max(now.Sub(out.Last.Made), 0).Seconds()
		if out.Last.HookError != "" {
			problem("the hook failed after the last backup: %s", out.Last.HookError)
		}
	}
	return out
}

func (c *cli) readBackups() (*backups.State, error) {
	s, err := backups.Read(c.data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no server with this data directory has scheduled backups; check --data, or see 'nomen help serve' about --backup.to%s", c.data, c.defaultHint())
	}
	return &s, err
}

func (c *cli) backupStatus() error {
	s, err := c.readBackups()
	if err != nil {
		return err
	}
	status := backupStatusOf(s, clock())
	if c.json {
		err = c.printJSON(status)
	} else {
		err = c.showBackupStatus(&status)
	}
	if err == nil && status.Problems != nil {
		err = errNo
	}
	return err
}

func (c *cli) showBackupStatus(s *backupStatus) error {
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	row := rowsOf(w)
	row("schedule", s.Schedule)
	if !s.Next.IsZero() {
		row("next", s.Next.Format(time.RFC3339))
	}
	if b := s.Last; b != nil {
		row("last", fmt.Sprintf("%s, %s ago, %s", b.Dir, ageText(s.Age), sizeText(b.Bytes)))
		row("head", b.Head)
	}
	if b := s.Rehearsed; b != nil {
		row("rehearsed", fmt.Sprintf("%s, %s", b.Dir, b.Rehearsed.Format(time.RFC3339)))
	}
	if b := s.Last; b != nil && !b.Sent.IsZero() {
		row("hook", "succeeded "+b.Sent.Format(time.RFC3339))
	}
	if s.Others > 0 {
		row("others", othersText(s.Others))
	}
	row("problem", s.Problems...)
	return w.Flush()
}

func othersText(n int) string {
	return count(int64(n), "backup") + " in the directory that this server did not make, or that do not belong to the history of its store; it never deletes them"
}

const backupListLong = `List prints the scheduled backups of the server of this data directory, the oldest first:
directory, time, size, head of the history, and whether the backup was rehearsed. Backups
that the server has deleted are not listed.`

func (c *cli) backupListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "list the scheduled backups",
		Long:    backupListLong,
		Example: "  nomen backup list\n  nomen backup list --json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			s, err := c.readBackups()
			if err != nil {
				return err
			}
			return c.showBackups(s.Backups)
		},
	}
}

func (c *cli) showBackups(all []*backups.Backup) error {
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, b := range all {
		if c.json {
			if err := c.printJSON(b); err != nil {
				return err
			}
			continue
		}
		rehearsed := "not rehearsed"
		switch {
		case b.Problem != "":
			rehearsed = "damaged: " + b.Problem
		case !b.Rehearsed.IsZero():
			rehearsed = "rehearsed"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", printable(b.Dir), b.Made.Format(time.RFC3339), sizeText(b.Bytes), b.Head, printable(rehearsed))
	}
	return w.Flush()
}

func sizeText(n int64) string {
	const kB, MB = 1e3, 1e6
	switch size := float64(n); {
	case size < MB:
		return fmt.Sprintf("%.0f kB", size/kB)
	case size < 10*MB:
		return fmt.Sprintf("%.1f MB", size/MB)
	default:
		return fmt.Sprintf("%.0f MB", size/MB)
	}
}

func ageText(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	default:
		return fmt.Sprintf("%.0f days", d.Hours()/24)
	}
}
