//go:build clients || attack

package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A Watch collects what a browser reports about its pages, which are console messages, exceptions,
// and issues such as violations of a Content-Security-Policy.
type Watch struct {
	mu  sync.Mutex
	all []string
}

// NewWatch returns a Watch of the page in a browser.
func NewWatch(t testing.TB, ctx context.Context) *Watch {
	t.Helper()
	w := &Watch{}
	if err := chromedp.Listen(ctx, w.note); err != nil {
		t.Fatal(err)
	}
	Do(t, ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, audits.Enable, cdp.Empty{})
		return err
	}))
	return w
}

// Take returns the reports since the last call.
func (w *Watch) Take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.all
	w.all = nil
	return all
}

func (w *Watch) note(event any) {
	text := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceNetwork { // reports a page whose status is not 200
			return
		}
		text = fmt.Sprintf("console: %s: %s", e.Entry.Source, e.Entry.Text)
	case *runtime.EventConsoleAPICalled:
		text = fmt.Sprintf("console: %s", e.Type)
	case *runtime.EventExceptionThrown:
		text = "exception: " + e.ExceptionDetails.Text
	case *audits.EventIssueAdded:
		details, _ := json.Marshal(e.Issue.Details) // cannot fail
		text = fmt.Sprintf("issue: %s %s", e.Issue.Code, details)
	default:
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
}
