package links

import (
	"encoding/binary"
	"errors"
	"time"
)

const stateVersion = 1

const maxTag = 60 // maximum length of an entity tag in bytes; longer tags are not kept

// Flags in an encoded state.
const (
	flagRead = 1 << iota
	flagDrifted
	flagPrint
	flagRun
	flagMoving
	flagTag
	flagUntil
	flags = 1<<iota - 1
)

var errState = errors.New("links: invalid state of a link")

// appendState appends the encoding of a state:
//
//	version, verdict, outcome, flags, heads, stable: an octet each
//	status: uvarint
//	checked, good, due: minutes since 1970, each an uvarint; 0 if never
//	with flagRun: since, failed, definite, vague, failures, days, skips, nears: uvarints
//	with flagMoving: moving, moves: uvarints
//	with flagUntil: until: uvarint
//	with flagPrint: 8 octets
//	with flagTag: the rest
func appendState(b []byte, s *State) []byte {
	var f byte
	set := func(is bool, flag byte) {
		if is {
			f |= flag
		}
	}
	set(s.Read, flagRead)
	set(s.Drifted, flagDrifted)
	set(s.Print != 0, flagPrint)
	set(s.Failures > 0 || s.Skips > 0, flagRun)
	set(s.Moves > 0, flagMoving)
	set(s.Tag != "" && len(s.Tag) <= maxTag, flagTag)
	set(!s.Until.IsZero(), flagUntil)
	b = append(b, stateVersion, byte(s.Verdict), byte(s.Outcome), f, byte(s.Heads), byte(s.Stable))
	b = binary.AppendUvarint(b, uint64(s.Status))
	for _, t := range [...]time.Time{s.Checked, s.Good, s.Due} {
		b = appendMinute(b, t)
	}
	if f&flagRun != 0 {
		b = appendMinute(appendMinute(b, s.Since), s.Failed)
		for _, n := range [...]int{s.Definite, s.Vague, s.Failures, s.Days, s.Skips, s.Nears} {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	if f&flagMoving != 0 {
		b = binary.AppendUvarint(appendMinute(b, s.Moving), uint64(s.Moves))
	}
	if f&flagUntil != 0 {
		b = appendMinute(b, s.Until)
	}
	if f&flagPrint != 0 {
		b = binary.BigEndian.AppendUint64(b, s.Print)
	}
	if f&flagTag != 0 {
		b = append(b, s.Tag...)
	}
	return b
}

func appendMinute(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, 0)
	}
	return binary.AppendUvarint(b, uint64(max(t.Unix()/60, 0)))
}

// maxMinute is the latest minute that is decoded, which is around the year 4000.
const maxMinute = 1 << 30

type stateReader struct {
	b   []byte
	bad bool
}

func (r *stateReader) uvarint(most uint64) uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 || n > most {
		r.bad = true
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *stateReader) minute() time.Time {
	if n := r.uvarint(maxMinute); n > 0 {
		return time.Unix(int64(n)*60, 0).UTC()
	}
	return time.Time{}
}

func (r *stateReader) count() int { return int(r.uvarint(maxCount)) }

func decodeState(b []byte) (s State, err error) {
	const head = 6
	if len(b) < head || b[0] != stateVersion || b[1] >= byte(verdicts) || b[2] >= byte(outcomes) || b[3]&^byte(flags) != 0 || b[4] > maxCount || b[5] > maxCount {
		return s, errState
	}
	f := b[3]
	s = State{Verdict: Verdict(b[1]), Outcome: Outcome(b[2]), Heads: int(b[4]), Stable: int(b[5]), Read: f&flagRead != 0, Drifted: f&flagDrifted != 0}
	r := &stateReader{b: b[head:]}
	s.Status = int(r.uvarint(999))
	s.Checked, s.Good, s.Due = r.minute(), r.minute(), r.minute()
	if f&flagRun != 0 {
		s.Since, s.Failed = r.minute(), r.minute()
		s.Definite, s.Vague, s.Failures, s.Days, s.Skips, s.Nears = r.count(), r.count(), r.count(), r.count(), r.count(), r.count()
		r.bad = r.bad || s.Failures == 0 && s.Skips == 0
	}
	if f&flagMoving != 0 {
		s.Moving, s.Moves = r.minute(), r.count()
		r.bad = r.bad || s.Moves == 0
	}
	if f&flagUntil != 0 {
		s.Until = r.minute()
	}
	if f&flagPrint != 0 && len(r.b) >= 8 {
		s.Print = binary.BigEndian.Uint64(r.b)
		r.b = r.b[8:]
	}
	if f&flagTag != 0 {
		s.Tag = string(r.b)
		r.b = nil
	}
	if r.bad || len(r.b) > 0 || len(s.Tag) > maxTag || (f&flagPrint != 0) != (s.Print != 0) || (f&flagTag != 0) != (s.Tag != "") {
		return State{}, errState
	}
	return s, nil
}
