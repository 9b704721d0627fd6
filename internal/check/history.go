package check

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/nomen-project/nomen/store"
)

func (c *checker) changes() error {
	c.passes.begin(c.Size)
	h := history{checker: c}
	c.rights = map[string]*store.TokenRights{}
	for ch, err := range c.Changes() {
		if err == nil {
			err = h.add(&ch)
		}
		if err = cmp.Or(err, c.step()); err != nil {
			c.cut = true
			return err
		}
	}
	h.end()
	return nil
}

// A history verifies the changes of a subject.
type history struct {
	*checker
	subject store.Subject
	begun   bool
	last    bool // the last change was found
	unread  bool // a change could not be read, so its neighbours cannot be compared
	before  moment
	named   map[uint64]bool   // revisions that must be redacted
	gone    map[uint64]uint64 // redacted revisions, with their numbers in the log
}

// A moment is the revision and the time of a change.
type moment struct {
	revision uint64 // may be 0
	time     time.Time
	seq      uint64
}

func (h *history) add(ch *Change) error {
	if ch.Subject.Kind == 0 { // even the key cannot be read
		return h.broken(ch.Subject, 0, ch.Err)
	}
	if ch.Subject != h.subject || !h.begun {
		h.end()
		*h = history{checker: h.checker, subject: ch.Subject, begun: true}
	}
	if ch.Revision > 0 {
		h.logged.add(present, h.hashChange(ch.Subject, ch.Revision, ch.Time))
	}
	h.last = h.last || ch.Last
	if ch.Err != nil {
		h.unread, h.before = true, moment{}
		return h.broken(ch.Subject, 0, ch.Err)
	}
	now := moment{ch.Revision, ch.Time, ch.Entry.Seq}
	change := ch.Entry.Change
	if change.Revision() != ch.Revision || !change.Time.Equal(ch.Time) {
		h.report(ch.Subject, now.seq, "revision %d of %v is stored as revision %d of %v", change.Revision(), change.Time, ch.Revision, ch.Time)
	}
	h.follows(now)
	h.note(change, now.seq)
	if ch.Last {
		h.records += change.Records()
		if change.Rights != nil {
			h.rights[ch.Subject.Key] = change.Rights
		}
		for _, p := range change.AppendPlaces(nil) {
			h.located.add(wanted, h.hashPlace(p))
		}
	}
	return nil
}

// follows verifies that the revision and the time of a change may follow those of the previous
// change.
func (h *history) follows(now moment) {
	earlier, later := h.before, now
	if h.Descending {
		earlier, later = now, h.before
	}
	begun := h.before.revision > 0
	h.before = now
	switch {
	case !begun && !h.Descending && !h.unread:
		h.begins(now)
	case !begun:
	case earlier.revision+1 != later.revision:
		h.report(h.subject, now.seq, "revision %d is followed by revision %d", earlier.revision, later.revision)
	case later.time.Before(earlier.time):
		h.report(h.subject, now.seq, "revision %d is earlier than the one before it", later.revision)
	}
}

// begins verifies that a change can be the first of its subject.
func (h *history) begins(first moment) {
	if first.revision > 1 {
		h.report(h.subject, first.seq, "the revision before revision %d is missing", first.revision)
	}
}

// note records which revisions a change redacts, and whether the change itself is redacted.
func (h *history) note(c *store.Change, seq uint64) {
	for _, r := range c.Redacts {
		if h.named == nil {
			h.named = map[uint64]bool{}
		}
		h.named[r] = true
	}
	if c.Redacted {
		if h.gone == nil {
			h.gone = map[uint64]uint64{}
		}
		h.gone[c.Revision()] = seq
	}
}

// end verifies that the redacted revisions of a subject are exactly the revisions that its changes
// name.
func (h *history) end() {
	if !h.begun {
		return
	}
	if h.Descending && !h.unread {
		h.begins(h.before)
	}
	if !h.last {
		h.report(h.subject, 0, "there is history, but the last change is missing")
	}
	for _, r := range slices.Sorted(maps.Keys(h.named)) {
		if _, ok := h.gone[r]; !ok && !h.unread {
			h.report(h.subject, 0, "the content of revision %d exists although it was redacted", r)
		}
	}
	for _, r := range slices.Sorted(maps.Keys(h.gone)) {
		if !h.named[r] && !h.unread {
			h.report(h.subject, h.gone[r], "the content of revision %d is missing although no change redacted it", r)
		}
	}
}
