package pages

import (
	"testing"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// The page of a job says in the language of the user why lines and names were rejected, by the codes
// and not by the texts of the errors.
func TestRefusalsAreTranslated(t *testing.T) {
	s := newSite(t)
	result := &adminapi.JobResult{}
	for _, code := range []string{bulk.CodeChanged, bulk.CodeDenied, bulk.CodeLine, bulk.CodeState, "text"} {
		result.Refusals = append(result.Refusals, bulk.Refusal{Line: 7, Column: 3, Value: "cell", Field: "title", Code: code, Reason: "technical " + code})
	}
	result.Refusals = append(result.Refusals, bulk.Refusal{Field: "locations[2].url", Code: "pct-encoded"}, bulk.Refusal{Field: "name", Code: "assigned-name"})
	for _, err := range []error{&store.LimitError{What: "x"}, &registrar.RefusalError{Field: "metadata.title", Rule: "value"}} {
		result.Refused = append(result.Refused, adminapi.Refused{Key: alb, Problem: adminapi.NewProblem(err)})
	}
	j := adminapi.Job{ID: doneJob, Kind: adminapi.JobImport, State: adminapi.JobFailed, Result: result, Problem: adminapi.NewProblem(&adminapi.FullError{Detail: "full"})}
	s.shows("job", &jobView{Job: j}).want(200,
		"Another user changed this name meanwhile", "You have no rights on this name", "The line cannot be read", "does not allow the change", "such as control characters",
		"The URL is invalid", "The name is invalid", "The value is too long", "The value is invalid", "The disk of the server is full", "technical changed", "cell")
}

// Each kind of problem that a job can have is said in the words of the pages.
func TestProblemsOfJobsAreTranslated(t *testing.T) {
	texts := newSite(t).pages.editions["en"].texts.Catalogue
	for kind, want := range map[string]string{
		"conflict": "reject.changed", "not-permitted": "reject.denied", "storage-away": "error.unavailable", "disk-full": "reject.disk-full",
		"broken-off": "reject.broken-off", adminapi.KindSecond: "reject.second-person", adminapi.KindJobEnded: "reject.job-ended", "failure": "reject.other",
	} {
		if got := problemText(texts, &adminapi.Problem{Type: adminapi.ProblemPath + kind}); got != texts.Text(want) {
			t.Errorf("%s: %q", kind, got)
		}
	}
}
