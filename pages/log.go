package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

func logHandlers() handlers {
	return handlers{
		"GET log":                  (*request).showLog,
		"GET log/{seq}":            (*request).proof,
		"GET log/{seq}/proof.json": (*request).downloadProof,
		"GET name/{name}/proof":    (*request).proofOfRevision,
	}
}

// Limits of a page of the log. The log is read in steps. The first step reads as many changes as a
// page shows. Later steps are larger, because filters may leave out most changes.
const (
	logGrowth  = 4
	maxLogStep = 2_000                  // maximum number of changes that a step reads
	maxLogRead = 10_000                 // maximum number of changes that are read for a page
	maxLogTime = 100 * time.Millisecond // time after which no further step starts
)

type logView struct {
	frame
	Who, Prefix, Kind, From, To string
	NoLog                       bool
	Head                        store.Head
	Published                   *adminapi.PublishedLog // nil if the log is not published
	Entries                     []adminapi.Entry
	Oldest, Newest              uint64 // range of the changes that were read for this page, or 0
	Verified                    []verification
	First, Next                 string
}

func (v *logView) Filtered() bool { return v.Who+v.Prefix+v.Kind+v.From+v.To != "" }

func (c *request) showLog() error {
	q := c.r.Form
	get := func(key string) string { return strings.TrimSpace(q.Get(key)) }
	v := &logView{Who: get("who"), Prefix: get("prefix"), Kind: get("kind"), From: get("from"), To: get("to")}
	v.Title, v.Section = c.texts.text("log.title"), "log"
	var err error
	if v.Head, err = c.api.Head(c.ctx()); isUnsupported(err) {
		v.NoLog = true
		c.show(http.StatusOK, "log", v)
		return nil
	}
	if err != nil {
		return err
	}
	oldest, newest, err := c.logRange(v)
	if len(v.Faults) > 0 {
		c.show(http.StatusUnprocessableEntity, "log", v)
		return nil
	}
	if err != nil {
		return err
	}
	if before, err := strconv.ParseUint(q.Get("before"), 10, 64); err == nil && before > 0 {
		newest = min(newest, before-1)
		v.First = v.page(0)
	}
	if err := c.readLog(v, oldest, newest); err != nil {
		return err
	}
	if v.Published, err = c.api.PublishedLog(c.ctx()); err != nil {
		return err
	}
	v.Verified, err = c.verified()
	return c.shown(err, http.StatusOK, "log", v)
}

// logRange returns the range of log numbers for the period of the page. All changes have numbers
// greater than the first result, and at most the second result.
func (c *request) logRange(v *logView) (after, until uint64, err error) {
	until = v.Head.Size
	if v.Kind != "" && !slices.Contains([]string{adminapi.KindOfName, adminapi.KindOfAuthority, adminapi.KindOfUser, adminapi.KindOfToken}, v.Kind) {
		v.Faults = append(v.Faults, problem{"kind", c.texts.text("log.bad-kind")})
	}
	from, to := c.logTime(v, "from", v.From), c.logTime(v, "to", v.To)
	if len(v.Faults) > 0 {
		return 0, 0, nil
	}
	if !from.IsZero() {
		if _, err := time.Parse(time.DateOnly, v.From); err == nil {
			from = from.Add(time.Millisecond).AddDate(0, 0, -1) // a date stands for its last moment
		}
		h, err := c.api.HeadAt(c.ctx(), from.Add(-time.Millisecond))
		if err != nil {
			return 0, 0, err
		}
		after = h.Size
	}
	if !to.IsZero() {
		h, err := c.api.HeadAt(c.ctx(), to)
		if err != nil {
			return 0, 0, err
		}
		until = h.Size
	}
	return after, until, nil
}

func (c *request) logTime(v *logView, field, text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	t, err := adminapi.ParseTime(text)
	if err != nil {
		v.Faults = append(v.Faults, problem{field, err.Error()})
	}
	return t
}

// readLog fills a page with changes in descending order, from number end to number start+1.
func (c *request) readLog(v *logView, start, end uint64) error {
	if end <= start {
		return nil
	}
	v.Newest, v.Oldest = end, end+1
	prefix := name.Beginning(v.Prefix) // or the beginning of the ID of a user or token
	begun := c.now()
	for step := uint64(pageSize); v.Oldest > start+1 && len(v.Entries) < pageSize && end+1-v.Oldest < maxLogRead && c.now().Sub(begun) < maxLogTime; step = min(logGrowth*step, maxLogStep) {
		low := v.Oldest - 1 - min(step, v.Oldest-1-start, maxLogRead-(end+1-v.Oldest))
		found, err := entriesOf(c.api.Search(c.ctx(), adminapi.LogQuery{
			After: low, Until: v.Oldest - 1, Who: v.Who, Prefix: prefix, Kind: v.Kind,
		}))
		if err != nil {
			return err
		}
		slices.Reverse(found)
		v.Entries = append(v.Entries, found...)
		v.Oldest = low + 1
	}
	if n := fitting(v.Entries, pageSize, func(e adminapi.Entry) int { return len(namePath(e.Key)) + briefSize(e.Why) }); n < len(v.Entries) {
		v.Entries = v.Entries[:n]
		v.Oldest = v.Entries[n-1].Seq
	}
	if v.Oldest > start+1 {
		v.Next = v.page(v.Oldest)
	}
	return nil
}

func entriesOf[T any](all func(func(T, error) bool)) (list []T, err error) {
	for v, err := range all {
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// page returns the URL of the page with the changes before number end. If end is 0, it returns the
// URL of the first page.
func (v *logView) page(end uint64) string {
	q := url.Values{}
	for key, value := range map[string]string{"who": v.Who, "prefix": v.Prefix, "kind": v.Kind, "from": v.From, "to": v.To} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if end > 0 {
		q.Set("before", strconv.FormatUint(end, 10))
	}
	if len(q) == 0 {
		return Root + "log"
	}
	return Root + "log?" + q.Encode()
}

// A verification is a completed check of the store.
type verification struct {
	Time       time.Time
	Background bool // background verification of the whole store by the server
	Since      bool // verification of only the changes after a head
	Incomplete bool
	Faults     uint64
}

// verified returns the latest verifications that the user may see, newest first.
func (c *request) verified() ([]verification, error) {
	var all []verification
	if is := c.seen(); !is.Verified.IsZero() {
		all = append(all, verification{Time: is.Verified, Background: true, Faults: is.Faults})
	}
	jobs, err := c.api.Jobs(c.ctx())
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if j.Kind != adminapi.JobVerify || j.State == adminapi.JobRunning {
			continue
		}
		done := verification{Time: j.Ended, Since: j.Subject != "", Incomplete: !j.Complete}
		if j.Result != nil {
			done.Faults = j.Result.FaultCount
		}
		all = append(all, done)
	}
	slices.SortStableFunc(all, func(a, b verification) int { return b.Time.Compare(a.Time) })
	return all[:min(len(all), maxVerified)], nil
}

const maxVerified = 3

// seen returns the condition of the server. If the user may not see the condition, it is empty.
func (c *request) seen() Condition {
	if c.condition == nil || !c.session.Actor.MayAll(registrar.Administrator) {
		return Condition{}
	}
	return c.condition()
}
