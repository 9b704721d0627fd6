package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/store"
)

const jobsLong = `On a running server, imports, relocations, undos, verifications and backups are jobs. A job
continues if the connection to the server is lost. Interrupting (Ctrl-C) the command that
started a job cancels the job. The results of the last hundred jobs are kept for a week.

If the server stops before a job is complete, the job is interrupted. Changes already made
stay, and 'nomen jobs show' says how to continue.

An administrator's token without prefixes can see and cancel all jobs. Any other token can
see and cancel the jobs that it started, and can see jobs that wait for its approval. If no
server is running, there are no jobs: 'nomen import' and the other commands work on the
store directly.`

func (c *cli) jobsCommand() *cobra.Command {
	list := c.jobsListCommand()
	cmd := &cobra.Command{
		Use:     "jobs",
		Short:   "list, cancel, approve and wait for the jobs of a running server",
		Long:    jobsLong,
		Example: "  nomen jobs\n  nomen jobs show k3m9qx7a2b\n  nomen jobs cancel k3m9qx7a2b\n  nomen jobs wait k3m9qx7a2b && echo done",
		Args:    noArguments,
		RunE:    list.RunE,
	}
	cmd.AddCommand(list,
		c.jobCommand("show ID", "show a job and its result", jobShowLong,
			"  nomen jobs show k3m9qx7a2b\n  nomen jobs show --json k3m9qx7a2b", c.printed((*adminapi.Client).Job)),
		c.jobCommand("cancel ID", "cancel a job", jobCancelLong, "  nomen jobs cancel k3m9qx7a2b", c.printed((*adminapi.Client).CancelJob)),
		c.jobCommand("approve ID", "approve a job that waits for a second person", jobApproveLong, "  nomen jobs approve k3m9qx7a2b", c.approveJob),
		c.jobRejectCommand(),
		c.jobCommand("wait ID", "wait for the end of a job", jobWaitLong, "  nomen jobs wait k3m9qx7a2b", c.waitJob),
	)
	return cmd
}

const jobsListLong = `List prints the jobs of the running server, newest first: ID, kind, state, progress,
rate, time left, start time, who started the job, and what it works on.`

func (c *cli) jobsListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "list the jobs of a running server",
		Long:    jobsListLong,
		Example: "  nomen jobs list\n  nomen jobs list --json | jq -r 'select(.state == \"running\").id'",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := c.jobServer(cmd.Context())
			if err != nil {
				return err
			}
			all, err := api.Jobs(cmd.Context())
			if err != nil {
				return err
			}
			return c.showJobs(all)
		},
	}
}

const jobShowLong = `Show prints what a job works on, its progress, its result and, if it is incomplete, how
to continue. The exit status is 1 if there is no such job.`

const jobCancelLong = `Cancel stops a job. Changes already made stay; 'nomen jobs show' says which, and how to
undo them. A job that has ended is not affected. The exit status is 1 if there is no such
job.`

const jobApproveLong = `Approve makes the server carry out a job that waits for a second person: a redaction or a
relocation of many names. It needs the same rights as the request, and a person other than
the one who made it. 'nomen jobs show' shows what the job would do. If what it would change
has changed since the request, or if the person who made the request has lost the rights,
the job fails and changes nothing. The exit status is 1 if the job has failed or was not
found.`

const jobRejectLong = `Reject ends a job that waits for a second person. The job then shows the reason to the person
who made the request. This person cannot reject the job, but can cancel it.`

// approveJob approves a job, waits until the job ends, and prints its state.
func (c *cli) approveJob(ctx context.Context, api *adminapi.Client, id string) error {
	j, err := api.ApproveJob(ctx, id)
	if err != nil {
		return err
	}
	return c.waitJob(ctx, api, j.ID)
}

func (c *cli) jobRejectCommand() *cobra.Command {
	var why string
	cmd := c.jobCommand("reject ID", "reject a job that waits for a second person", jobRejectLong,
		"  nomen jobs reject k3m9qx7a2b --reason 'the new site is not ready'", func(ctx context.Context, api *adminapi.Client, id string) error {
			j, err := api.RejectJob(ctx, id, why)
			if err != nil {
				return err
			}
			return c.printJob(&j)
		})
	cmd.Flags().StringVar(&why, "reason", "", "reason for the person who made the request (required)")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if strings.TrimSpace(why) == "" {
			return usagef("jobs reject: --reason is required; the person who made the request reads it")
		}
		return run(cmd, args)
	}
	return cmd
}

const jobWaitLong = `Wait shows the progress of a job until it ends, then its result. An interrupt ends the
wait, not the job. The exit status is 0 if the job is complete. It is 1 if the job is
incomplete, rejected a record, could not change a name or found faults, or if there is no
such job.`

func (c *cli) jobCommand(use, short, long, example string, do func(context.Context, *adminapi.Client, string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.jobServer(cmd.Context())
			if err != nil {
				return err
			}
			if err = do(cmd.Context(), api, args[0]); errors.Is(err, store.ErrNotFound) {
				fmt.Fprintf(c.err, "nomen: job %q: not found, or this token is not permitted to see it\n", args[0])
				return errNo
			}
			return err
		},
	}
}

func (c *cli) jobServer(ctx context.Context) (*adminapi.Client, error) {
	api, err := c.server(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: no server runs on this data directory, and only a running server has jobs; check --data, or start the server with 'nomen serve'%s", c.data, c.defaultHint())
	case err != nil:
		return nil, fmt.Errorf("%s: cannot reach the server of this data directory, and only a running server has jobs: %w", c.data, err)
	}
	return api, nil
}

func (c *cli) showJobs(all []adminapi.Job) error {
	if c.json {
		for i := range all {
			if err := c.printJSON(all[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		fmt.Fprintln(c.err, "nomen: no jobs")
		return nil
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for i := range all {
		j := &all[i]
		fmt.Fprintln(w, printable(strings.Join([]string{j.ID, j.Kind, j.State}, "\t"))+"\t"+progressText(j)+"\t"+
			j.Started.UTC().Format(time.RFC3339)+"\t"+printable(cmp.Or(j.WhoName, j.Who))+"\t"+printable(jobSubject(j)))
	}
	return w.Flush()
}

func jobSubject(j *adminapi.Job) string {
	if j.DryRun {
		return strings.TrimSpace(j.Subject + " (dry run)")
	}
	return j.Subject
}

func progressText(j *adminapi.Job) string {
	s := fmt.Sprintf("%d %s", j.Done, j.Unit)
	if j.Total > 0 {
		s = fmt.Sprintf("%d of %d %s", j.Done, j.Total, j.Unit)
	}
	if j.Rate > 0 {
		s += fmt.Sprintf(", %.0f per second", j.Rate)
	}
	if j.Left > 0 {
		s += fmt.Sprintf(", %s left", time.Duration(j.Left*float64(time.Second)).Round(time.Second))
	}
	return s
}

func (c *cli) printed(request func(*adminapi.Client, context.Context, string) (adminapi.Job, error)) func(context.Context, *adminapi.Client, string) error {
	return func(ctx context.Context, api *adminapi.Client, id string) error {
		j, err := request(api, ctx, id)
		if err != nil {
			return err
		}
		return c.printJob(&j)
	}
}

const jobPause = 500 * time.Millisecond

func (c *cli) waitJob(ctx context.Context, api *adminapi.Client, id string) error {
	bar, end := c.counting("job " + id)
	defer end()
	for {
		j, err := api.Job(ctx, id)
		if err != nil {
			return err
		}
		if bar(j.Done, j.Total); j.State != adminapi.JobRunning {
			end()
			if err := c.printJob(&j); err != nil {
				return err
			}
			if !j.Complete || jobFaults(&j) > 0 {
				return errNo
			}
			return nil
		}
		select {
		case <-time.After(jobPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func jobFaults(j *adminapi.Job) (n int64) {
	r := j.Result
	if r == nil {
		return 0
	}
	n = int64(r.FaultCount)
	if r.Summary != nil {
		n += r.Summary.Refused
	}
	if r.Relocated != nil {
		n += r.Relocated.Refused
	}
	if r.Undone != nil {
		n += r.Undone.Refused
	}
	return n
}

func (c *cli) printJob(j *adminapi.Job) error {
	if c.json {
		return c.printJSON(j)
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(w, "%s:\t%s\n", what, printable(text))
		}
	}
	line("job", j.ID)
	line("kind", j.Kind)
	line("subject", jobSubject(j))
	line("state", j.State)
	line("progress", progressText(j))
	line("started", j.Started.UTC().Format(time.RFC3339)+" "+byWhom(j.Who, j.WhoName))
	if !j.Ended.IsZero() {
		line("ended", j.Ended.UTC().Format(time.RFC3339))
	}
	if j.Approval != nil {
		printApproval(line, j.Approval)
	}
	line("import", j.Import)
	if j.Result != nil {
		printResult(line, j.Result)
	}
	if j.Problem != nil {
		line("problem", problemText(j.Problem))
	}
	next := j.Next
	if j.Import != "" && next != "" {
		next += ", with 'nomen undo --import " + j.Import + "'"
	}
	line("next", next)
	return w.Flush()
}

func printApproval(line func(what, text string), a *adminapi.Approval) {
	line("why", a.Why)
	switch {
	case a.Of == "":
	case len(a.Revisions) == 0:
		line("redacts", fmt.Sprintf("%s %s, all revisions; the current one was %d", a.Of, a.Key, a.Revision))
	default:
		line("redacts", fmt.Sprintf("%s %s, revisions %v; the current one was %d", a.Of, a.Key, a.Revisions, a.Revision))
	}
	if a.Decided() {
		line("decided", a.At.UTC().Format(time.RFC3339)+" "+byWhom(a.By, a.ByName))
		line("rejected because", a.Reason)
		return
	}
	if !a.Until.IsZero() {
		line("lapses", a.Until.UTC().Format(time.RFC3339))
	}
}

func printResult(line func(what, text string), r *adminapi.JobResult) {
	switch {
	case r.Summary != nil:
		s := r.Summary
		line("result", fmt.Sprintf("read %d, created %d, changed %d, unchanged %d, rejected %d", s.Read, s.Created, s.Changed, s.Unchanged, s.Refused))
	case r.Relocated != nil:
		s := r.Relocated
		line("result", fmt.Sprintf("%s of %s, %d retired unchanged, %s rejected", count(s.Locations, "location"), count(s.Names, "name"), s.Retired, count(s.Refused, "name")))
	case r.Undone != nil:
		s := r.Undone
		line("result", fmt.Sprintf("restored %d, retired %d, deleted %d, unchanged %d, rejected %d", s.Restored, s.Retired, s.Deleted, s.Unchanged, s.Refused))
	case r.Head != nil:
		line("result", count(int64(r.FaultCount), "fault"))
		line("head", fmt.Sprintf("%d:%s", r.Head.Size, r.Head.Hash))
	}
	for _, f := range r.Faults {
		line("fault", strings.TrimSpace(f.Key+" "+f.Problem))
	}
	for _, f := range r.Refused {
		if f.Problem != nil {
			line("rejected", f.Key+": "+problemText(f.Problem))
		}
	}
	for _, f := range r.Refusals {
		line("rejected", f.String()+refusalRemedy(f))
	}
}

// problemText returns the text of a problem. If the cause is a wrong clock, the text also contains
// the remedy.
func problemText(p *adminapi.Problem) string {
	if p.Rule == adminapi.RuleClock {
		return p.Detail + "; " + remedyClock
	}
	return p.Detail
}
