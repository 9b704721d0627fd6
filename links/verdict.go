package links

import (
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// A Verdict is the conclusion from the checks of a location.
type Verdict uint8

// Verdicts, from the best to the worst.
const (
	Unknown   Verdict = iota // never checked
	Confirmed                // the location answers, with a page that has the name, the title, or the same text as before
	Good                     // the location answers
	Blocked                  // the location rejects programs, so a user must look at it
	Suspect                  // the location answers, but perhaps with a different page
	Failing                  // failures are being counted
	Dead                     // the location was unavailable at every check for some time
	Ignored                  // a user has turned off the checks
	verdicts                 // number of verdicts
)

var verdictNames = [...]string{"unknown", "confirmed", "good", "blocked", "suspect", "failing", "dead", "ignored"}

// String returns the name of the verdict.
func (v Verdict) String() string { return verdictNames[v] }

// MarshalText implements [encoding.TextMarshaler].
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdictNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("links: unknown verdict %.20q", text)
	}
	*v = Verdict(i)
	return nil
}

// An Outcome is the class of the result of a check.
type Outcome uint8

// Outcomes.
const (
	None     Outcome = iota // no check
	OK                      // the location answers
	Soft                    // the location answers, but perhaps with a different page: the home page, a page for signing in, a page that says "not found"
	Refused                 // status 401, 402, 403, 407, 429 or 451, a test for humans, or robots.txt
	Private                 // the host has no public address
	Gone                    // status 404
	Removed                 // status 410
	NoHost                  // the name of the host does not exist
	Trouble                 // other errors: 5xx, timeouts, connections that break
	BadTLS                  // the certificate is invalid, or there is no common version of TLS
	outcomes                // number of outcomes
)

var outcomeNames = [...]string{"none", "ok", "soft", "refused", "private", "gone", "removed", "no-host", "trouble", "tls"}

// String returns the name of the outcome.
func (o Outcome) String() string { return outcomeNames[o] }

// MarshalText implements [encoding.TextMarshaler].
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (o *Outcome) UnmarshalText(text []byte) error {
	i := slices.Index(outcomeNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("links: unknown outcome %.20q", text)
	}
	*o = Outcome(i)
	return nil
}

// weight returns the weight of a failure, in halves. It returns 0 for outcomes that are not
// failures.
func (o Outcome) weight() int {
	switch o {
	case Gone, NoHost:
		return 2
	case Removed:
		return 4
	case Trouble, BadTLS:
		return 1
	}
	return 0
}

// isDefinite reports whether an outcome shows that the resource does not exist. Other failures only
// show that it could not be read.
func (o Outcome) isDefinite() bool { return o.weight() >= 2 }

// Conditions for the verdict [Dead].
const (
	deadWeight   = 8                   // minimum total weight of the failures in a row, in halves
	deadDefinite = 4                   // minimum total weight of definite failures among them
	deadFailures = 4                   // minimum number of failures in a row
	deadNears    = 5                   // minimum number of pairs of them that are a day apart
	deadDays     = 4                   // minimum number of days with failures
	deadTime     = 14 * 24 * time.Hour // minimum time from the first failure to the last
	maxSkips     = 2                   // maximum number of checks in a row between two failures that are neither failures nor successes
	nearLeast    = day1 - time.Minute  // minimum time between two failures that count as a day apart
	nearMost     = day1 + 2*time.Hour

	// Instead of deadTime, if all failures have the status 410.
	removedTime = 7 * 24 * time.Hour

	// Instead of deadFailures and deadTime, if there are not enough definite failures.
	awayFailures = 8
	awayTime     = 30 * 24 * time.Hour

	maxBlind = 8 * 24 * time.Hour // maximum time that counts between two checks
)

// Limits for hints.
const (
	moveChecks  = 3                   // number of checks with a permanent redirect after which the location could be updated
	moveTime    = 14 * 24 * time.Hour // from the first of these checks to the last
	driftChecks = 3                   // number of checks with the same text after which a change is reported
	driftBits   = 24                  // bits of two fingerprints that differ if the text is different
	sameBits    = 3                   // bits that differ if the text is the same
)

// A State is the state of a location. Times are in UTC with a precision of one minute. A zero time
// means that the event has not happened.
type State struct {
	Verdict Verdict
	Outcome Outcome // outcome of the last check
	Status  int     // HTTP status of the last check; 0 if none

	Checked time.Time // time of the last check
	Good    time.Time // last check with the outcome OK
	Due     time.Time // time of the next check
	Since   time.Time // time of the first of the failures in a row
	Failed  time.Time // time of the last of the failures in a row
	Until   time.Time // end of [Ignored]
	Moving  time.Time // time of the first of the checks in a row with a permanent redirect

	Definite, Vague int  // weights of the failures in a row, in halves
	Failures, Days  int  // number of failures in a row, and of days with failures
	Moves           int  // checks in a row with a permanent redirect
	Heads           int  // checks with HEAD since the last GET
	Skips           int  // checks in a row that were neither failures nor successes
	Read            bool // one of the failures in a row answered a GET
	Nears           int  // pairs of alike failures in a row that are a day apart

	Print   uint64 // fingerprint of the text; 0 if none
	Stable  int    // checks in a row with this text
	Drifted bool   // the text has changed after it had been the same for several checks
	Tag     string // entity tag of the last response
}

// The counters of a State do not become larger than maxCount.
const maxCount = 100

// An Observation is the result of a check.
type Observation struct {
	Outcome   Outcome
	Status    int
	Get       bool   // the location was requested with GET
	Confirmed bool   // the page has the name or the title
	Print     uint64 // fingerprint of the text; 0 if none
	Permanent bool   // all redirects are permanent and lead to the same site
	Tag       string
	Frozen    bool   // a failure does not count, because the host or the network fails
	Detail    string // details for users
}

// An Event is a change that is reported to the owners of names.
type Event uint8

// Events.
const (
	NoEvent   Event = iota
	Died            // a location is now dead
	Recovered       // a dead location answers again
	HostFails       // a host fails as a whole
	HostBack        // a failing host answers again
	events
)

var eventNames = [...]string{"none", "dead", "recovered", "host-failing", "host-back"}

// String returns the name of the event.
func (e Event) String() string { return eventNames[e] }

// MarshalText implements [encoding.TextMarshaler].
func (e Event) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (e *Event) UnmarshalText(text []byte) error {
	i := slices.Index(eventNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("links: unknown event %.20q", text)
	}
	*e = Event(i)
	return nil
}

// HasMoved reports whether the location should be replaced by the target of its redirects.
func (s *State) HasMoved() bool {
	return s.Moves >= moveChecks && s.Checked.Sub(s.Moving) >= moveTime
}

// Observe returns the state after a check. It does not set Due.
func (s State) Observe(o Observation, now time.Time) (State, Event) {
	now = minute(now)
	before, last, blind := s.Verdict, s.Outcome, now.Sub(s.Checked)-maxBlind
	s.Checked, s.Outcome, s.Status = now, o.Outcome, o.Status
	if s.Heads = min(s.Heads+1, maxCount); o.Get {
		s.Heads = 0
	}
	switch {
	case o.Outcome == OK:
		s.answered(o, now)
	case o.Outcome.weight() > 0 && o.Frozen:
	case o.Outcome.weight() > 0:
		if s.Failures > 0 && blind > 0 { // the clock was set forward, or there were no checks for some time
			s.Since = minute(s.Since.Add(blind))
		}
		s.failed(o, last, now)
	case s.skip(): // neither a failure nor a success
	case o.Outcome == Soft:
		s.endRun()
		s.Verdict = Suspect
	case o.Outcome == Refused, o.Outcome == Private:
		s.endRun()
		s.Verdict = Blocked
	}
	if before == Ignored && now.Before(s.Until) {
		s.Verdict = Ignored
		return s, NoEvent
	}
	s.Until = time.Time{}
	switch {
	case s.Verdict == Dead && before != Dead:
		return s, Died
	case s.Verdict != Dead && before == Dead:
		return s, Recovered
	}
	return s, NoEvent
}

// skip records a result that is neither a failure nor a success. It reports whether the verdict
// stays the same. This is the case if the location is dead. It is also the case if failures are
// being counted and only a few checks in a row had such a result.
func (s *State) skip() bool {
	s.Skips = min(s.Skips+1, maxCount)
	return s.Verdict == Dead || s.Failures > 0 && s.Skips <= maxSkips
}

func (s *State) endRun() {
	s.Since, s.Failed = time.Time{}, time.Time{}
	s.Definite, s.Vague, s.Failures, s.Days, s.Nears, s.Read = 0, 0, 0, 0, 0, false
}

func (s *State) answered(o Observation, now time.Time) {
	s.endRun()
	s.Good, s.Skips = now, 0
	was := s.Verdict
	s.Verdict = Good
	switch {
	case o.Confirmed:
		s.Verdict = Confirmed
	case was == Confirmed && o.Print == 0: // the text was not read, so there is no evidence of a change
		s.Verdict = Confirmed
	case o.Print != 0 && s.Stable >= driftChecks && distance(o.Print, s.Print) <= sameBits:
		s.Verdict = Confirmed
	}
	s.Tag = o.Tag
	s.compare(o.Print)
	if !o.Permanent {
		s.Moves, s.Moving = 0, time.Time{}
		return
	}
	if s.Moves == 0 {
		s.Moving = now
	}
	s.Moves = min(s.Moves+1, maxCount)
}

// compare compares the fingerprint of the text with the fingerprints of earlier checks.
func (s *State) compare(print uint64) {
	switch {
	case print == 0:
	case s.Print != 0 && distance(print, s.Print) <= driftBits:
		s.Stable = min(s.Stable+1, maxCount)
	default:
		s.Drifted = s.Drifted || s.Stable >= driftChecks
		s.Print, s.Stable = print, 1
	}
}

func distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

// failed counts a failure. The parameter last is the outcome of the previous check.
func (s *State) failed(o Observation, last Outcome, now time.Time) {
	if s.Failures == 0 {
		s.Since = now
	}
	if s.Failed.IsZero() || day(now) != day(s.Failed) {
		s.Days = min(s.Days+1, maxCount)
	}
	gap, alike := now.Sub(s.Failed), o.Outcome.isDefinite() == last.isDefinite()
	if s.Failures > 0 && s.Skips == 0 && alike && gap >= nearLeast && gap <= nearMost {
		s.Nears = min(s.Nears+1, maxCount)
	}
	s.Failed, s.Skips = now, 0
	s.Failures = min(s.Failures+1, maxCount)
	if o.Outcome.isDefinite() {
		s.Definite = min(s.Definite+o.Outcome.weight(), maxCount)
	} else {
		s.Vague = min(s.Vague+o.Outcome.weight(), maxCount)
	}
	s.Read = s.Read || o.Get
	s.Moves, s.Moving = 0, time.Time{}
	switch {
	case s.Verdict == Dead:
	case o.Get && s.Read && s.isDead(now):
		s.Verdict = Dead
	default:
		s.Verdict = Failing
	}
}

func (s *State) isDead(now time.Time) bool {
	took := now.Sub(s.Since)
	if s.Nears < deadNears {
		return false
	}
	if s.isRemoved() && took >= removedTime {
		return true
	}
	if s.Failures >= awayFailures && s.Days >= awayFailures && took >= awayTime {
		return true
	}
	return s.Definite+s.Vague >= deadWeight && s.Definite >= deadDefinite &&
		s.Failures >= deadFailures && s.Days >= deadDays && took >= deadTime
}

// isRemoved reports whether all failures in a row have status 410.
func (s *State) isRemoved() bool {
	return s.Failures > 0 && s.Vague == 0 && s.Definite >= min(Removed.weight()*s.Failures, maxCount)
}

// maxSkew is the maximum amount by which a recorded time may be in the future before the clock
// counts as set back.
const maxSkew = 24 * time.Hour

// isFuture reports whether the times of a state are in the future, because they were recorded with
// a wrong clock.
func (s *State) isFuture(now time.Time) bool { return s.Checked.Sub(now) > maxSkew }

// mended returns a state without the data that were recorded with a wrong clock. Failures are
// removed, because their times are unknown.
func (s State) mended(now time.Time) State {
	s.endRun()
	s.Moves, s.Moving, s.Skips = 0, time.Time{}, 0
	s.Checked, s.Good = time.Time{}, time.Time{}
	if s.Verdict != Ignored {
		s.Verdict, s.Due = Unknown, minute(now)
	}
	return s
}

// Intervals between checks.
const (
	confirmedEvery = 60 * 24 * time.Hour
	goodEvery      = 30 * 24 * time.Hour
	blockedEvery   = 30 * 24 * time.Hour
	deadEvery      = 30 * 24 * time.Hour
	suspectEvery   = 3 * 24 * time.Hour
	blockedFirst   = 3 * 24 * time.Hour // until several checks in a row were blocked
	day1           = 24 * time.Hour
)

// interval returns the time from a check to the next. The parameter spread, from -1 to 1, makes
// long intervals longer or shorter by up to a fifth.
func (s *State) interval(now time.Time, spread float64) time.Duration {
	d := goodEvery
	switch s.Verdict {
	case Ignored:
		return max(s.Until.Sub(now), day1)
	case Failing:
		return s.untilRetry(now)
	case Confirmed:
		d = confirmedEvery
	case Blocked:
		if d = blockedEvery; s.Skips <= 2 {
			d = blockedFirst
		}
	case Dead:
		d = deadEvery
	case Suspect:
		d = suspectEvery
	case Unknown: // there were only failures that do not count
		return day1
	}
	return d + time.Duration(spread*float64(d)/5)
}

// untilRetry returns the time until the next check of a failing location. This is a day until there
// are enough pairs of failures, then four days, and then a week. It is never later than the time at
// which the location can become dead.
func (s *State) untilRetry(now time.Time) time.Duration {
	if s.Outcome.weight() == 0 || s.Nears < deadNears {
		return day1
	}
	d := 4 * day1
	if s.Failures > deadNears {
		d = 7 * day1
	}
	end := deadTime
	switch {
	case s.isRemoved():
		end = removedTime
	case s.Definite < deadDefinite:
		end = awayTime
	}
	return min(d, max(s.Since.Add(end).Sub(now), day1))
}

// minute truncates a time to the precision of a [State].
func minute(t time.Time) time.Time { return t.UTC().Truncate(time.Minute) }

func day(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }
