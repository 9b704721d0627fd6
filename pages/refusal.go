package pages

import (
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/messages"
)

func refusalText(texts *messages.Catalogue, r bulk.Refusal) string {
	switch r.Code {
	case bulk.CodeChanged:
		return texts.Text("reject.changed")
	case bulk.CodeConflict:
		return texts.Text("reject.conflict")
	case bulk.CodeState, "state", "exists":
		return texts.Text("reject.state")
	case bulk.CodeClock:
		return texts.Text("reject.clock")
	case bulk.CodeLimit:
		return texts.Text("reject.limit")
	case bulk.CodeDenied:
		return texts.Text("reject.denied")
	case bulk.CodeLine:
		return texts.Text("reject.line")
	case bulk.CodeOther:
		return texts.Text("reject.other")
	}
	return fieldText(texts, r.Field, r.Code)
}

func fieldText(texts *messages.Catalogue, field, rule string) string {
	base, _, _ := strings.Cut(field, "[")
	switch {
	case rule == "text":
		return texts.Text("reject.text")
	case base == "url" || strings.HasSuffix(field, ".url"):
		return texts.Text("reject.url")
	case base == "name" || base == "same_as" || base == "successors":
		return texts.Text("reject.name")
	}
	return texts.Text("reject.value")
}

func problemText(texts *messages.Catalogue, p *adminapi.Problem) string {
	switch strings.TrimPrefix(p.Type, adminapi.ProblemPath) {
	case "conflict":
		return texts.Text("reject.changed")
	case "state":
		return texts.Text("reject.state")
	case "limit":
		return texts.Text("reject.limit")
	case "not-permitted":
		return texts.Text("reject.denied")
	case "malformed-name":
		return texts.Text("reject.name")
	case "refused":
		return fieldText(texts, p.Field, p.Rule)
	case "bad-line":
		return texts.Text("reject.line")
	case "broken-off":
		return texts.Text("reject.broken-off")
	case "disk-full":
		return texts.Text("reject.disk-full")
	case "unavailable", "storage-away", "outcome-unknown", "read-only":
		return texts.Text("error.unavailable")
	case adminapi.KindSecond:
		return texts.Text("reject.second-person")
	case adminapi.KindJobEnded:
		return texts.Text("reject.job-ended")
	}
	return texts.Text("reject.other")
}
