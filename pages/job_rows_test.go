package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/server/servertest"
)

// The jobs of a stage.
const (
	checkedJob   = "jobchecked" // a dry run of an import
	doneJob      = "jobdoneaaa" // an import
	stoppedJob   = "jobstopped" // an import that did nothing, because names had changed
	brokenJob    = "jobbrokena" // an import that was interrupted
	movedJob     = "jobmovedaa" // a dry run of a relocation
	undoneJob    = "jobundonea" // a dry run of an undo
	verifiedJob  = "jobverifya" // a verification
	cancelledJob = "jobcancela" // a dry run that was cancelled
	waitingJob   = "jobwaitiga" // a redaction that waits for a second person
)

func jobRows() (all []row) {
	all = []row{
		{route: "GET jobs", state: "empty", path: "jobs"},
		{route: "GET upload", state: "errors", path: "upload", who: "reader", status: 403},
		{route: "GET upload", state: "full", path: "upload?encoding=windows-1252&map=Id%3Dname&spreadsheet=1"},
		{route: "GET jobs/{id}", state: "errors", path: "jobs/none", status: 404},
		{route: "POST upload", state: "errors", path: "upload", form: "why=x"},
		{route: "POST jobs/{id}/apply", state: "errors", path: "jobs/" + checkedJob + "/apply", form: "x="},
		{route: "POST jobs/{id}/apply", state: "errors", path: "jobs/" + movedJob + "/apply", form: "typed=https://x"},
		{route: "POST jobs/{id}/undo", state: "errors", path: "jobs/" + checkedJob + "/undo", form: "x="},
		{route: "POST jobs/{id}/cancel", state: "errors", path: "jobs/none/cancel", form: "x=", status: 404},
		{route: "POST jobs/{id}/approve", state: "errors", path: "jobs/none/approve", form: "x=", status: 404},
		{route: "POST jobs/{id}/reject", state: "errors", path: "jobs/" + waitingJob + "/reject", form: "reason="},
		{route: "POST retire", state: "errors", path: "retire", form: "names=no+name&reason="},
		{route: "POST merge", state: "errors", path: "merge", form: "keep=x&drop=y"},
	}
	for _, state := range []string{"full", "hostile"} {
		for _, page := range []string{"upload", "jobs", "relocate", "retire", "merge"} {
			all = append(all, row{route: "GET " + page, state: state, path: page})
		}
		for _, id := range []string{checkedJob, doneJob, stoppedJob, brokenJob, movedJob, undoneJob, verifiedJob, cancelledJob, waitingJob} {
			all = append(all, row{route: "GET jobs/{id}", state: state, path: "jobs/" + id})
		}
		all = append(all, row{route: "GET jobs/{id}/rejects", state: state, path: "jobs/" + checkedJob + "/rejects", file: true})
	}
	// This is the last one, because the list of jobs then has a random ID.
	return append(all, row{route: "POST relocate", state: "errors", path: "relocate", form: "from=&to=x"})
}

// A storedJob is a job in the file of jobs.
type storedJob struct {
	adminapi.Job
	Token string `json:"token"`
}

// addJobs stores jobs of all kinds with a text in all fields, and restarts the server.
func (s *site) addJobs(text string) {
	s.t.Helper()
	var all []storedJob
	const file = "name,url\nurn:dns:example.org:applied,https://example.org/applied\n"
	sum := sha256.Sum256([]byte(file))
	head, err := s.store.Head(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	upload := adminapi.Upload{Size: int64(len(file)), SHA256: hex.EncodeToString(sum[:]), Query: url.Values{"format": {"csv"}, "split": {"dc:title=" + text}}.Encode(), Head: &head.Size, Kept: true, Rejects: true}
	for _, j := range stageJobs(text, &upload) {
		j.Who, j.Started, j.Ended, j.Unit = "u-admin", servertest.Now, servertest.Now, "names"
		if j.State == adminapi.JobWaiting {
			j.Who, j.Ended = "u-second", time.Time{}
		}
		all = append(all, storedJob{j, "user " + j.Who})
	}
	b, err := json.Marshal(map[string]any{"version": 1, "jobs": all})
	if err != nil {
		s.t.Fatal(err)
	}
	s.stop()
	if err := os.MkdirAll(s.jobs, 0o700); err != nil {
		s.t.Fatal(err)
	}
	for name, content := range map[string]string{"jobs.json": string(b), checkedJob + ".upload": file, checkedJob + ".rejects": "name,error\r\n" + text} {
		if err := os.WriteFile(filepath.Join(s.jobs, name), []byte(content), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	s.start()
}

// stageJobs returns jobs of all kinds with a text in all fields, and with a file that can be applied.
func stageJobs(text string, upload *adminapi.Upload) []adminapi.Job {
	problem := &adminapi.Problem{Type: "about:blank", Title: text, Status: 409, Detail: text, Line: 3, Column: 4}
	difference := adminapi.Difference{Field: "locations", Before: text, After: text}
	change := adminapi.JobChange{Change: bulk.Change{Line: 2, Name: text, Created: true}, Differences: []adminapi.Difference{difference, difference}}
	refusal := bulk.Refusal{Line: 2, Column: 3, Name: text, Field: "url", Value: text, Reason: text}
	summary := &bulk.Summary{Read: 12345, Created: 2, Changed: 3, Unchanged: 4, Refused: 5, Retired: 6, Warned: 7}
	checked := &adminapi.JobResult{Summary: summary, Refusals: []bulk.Refusal{refusal, refusal}, Changes: []adminapi.JobChange{change, {Change: change.Change}}}
	refused := []adminapi.Refused{{Key: alb, Problem: problem}, {Key: text, Problem: problem}}
	moved := []adminapi.Moved{{Key: alb, From: text, To: text}, {Key: text, From: "https://old.example/", To: "https://new.example/"}}
	names := strings.Fields("urn:dns:example.org:alb002 urn:x")
	return []adminapi.Job{
		{ID: checkedJob, Kind: adminapi.JobImport, State: adminapi.JobDone, Complete: true, DryRun: true, Subject: text, Done: 5, Upload: upload, Applied: stoppedJob, Result: checked},
		{ID: doneJob, Kind: adminapi.JobImport, State: adminapi.JobDone, Complete: true, Subject: text, Import: "1-abc", DryRunOf: checkedJob, Result: &adminapi.JobResult{Summary: summary}},
		{ID: stoppedJob, Kind: adminapi.JobImport, State: adminapi.JobFailed, Subject: text, DryRunOf: checkedJob, Problem: problem, Next: text, Result: &adminapi.JobResult{Intervening: &adminapi.Intervening{Count: 2, Names: append(names, text), Head: 3}}},
		{ID: brokenJob, Kind: adminapi.JobImport, State: adminapi.JobRunning, Subject: text, DryRunOf: checkedJob, Done: 3, Total: 5},
		{ID: movedJob, Kind: adminapi.JobRelocate, State: adminapi.JobDone, Complete: true, DryRun: true, Subject: text + " -> " + text, Result: &adminapi.JobResult{
			Relocated: &registrar.Relocated{Names: 2, Locations: 3, Retired: 1, Refused: 2}, Moved: moved, Refused: refused,
			Reach: []adminapi.Reach{{Prefix: text, Owners: []string{text, text}, Names: 1234}, {Names: 1}},
		}},
		{ID: undoneJob, Kind: adminapi.JobUndo, State: adminapi.JobDone, Complete: true, DryRun: true, Subject: text, Result: &adminapi.JobResult{
			Undone:   &registrar.Undone{Changes: 3, Restored: 1, Retired: 1, Deleted: 1, Refused: 2},
			Reverted: []registrar.Reversal{{Key: alb, Action: "restored"}, {Key: text, Action: text}, {Key: text, Action: "deleted"}, {Key: text, Action: "retired"}}, Refused: refused,
		}},
		{ID: verifiedJob, Kind: adminapi.JobVerify, State: adminapi.JobFailed, Problem: problem, Result: &adminapi.JobResult{FaultCount: 2}},
		{ID: cancelledJob, Kind: adminapi.JobImport, State: adminapi.JobCancelled, DryRun: true, Subject: text, Problem: problem},
		{ID: waitingJob, Kind: adminapi.JobRedact, State: adminapi.JobWaiting, Subject: text, Approval: &adminapi.Approval{
			Why: text, Until: servertest.Now.Add(time.Hour), Of: "name", Key: alb, Revisions: []uint64{1, 2}, Revision: 3,
		}},
	}
}
