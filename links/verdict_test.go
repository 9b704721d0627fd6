package links

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var begin = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// observed returns the state after checks. Each word of the text is the day of a check and an
// outcome, such as 0:gone. After the outcome, /head means a check with HEAD, /frozen means that
// failures do not count.
func observed(t *testing.T, s State, text string) (State, []string) {
	t.Helper()
	var heard []string
	for _, word := range strings.Fields(text) {
		var n float64
		at, what, _ := strings.Cut(word, ":")
		if _, err := fmt.Sscan(at, &n); err != nil {
			t.Fatal(err)
		}
		what, how, _ := strings.Cut(what, "/")
		o := Observation{Get: how != "head", Frozen: how == "frozen", Confirmed: what == "confirmed"}
		for i, name := range outcomeNames {
			if name == what {
				o.Outcome = Outcome(i)
			}
		}
		if o.Confirmed {
			o.Outcome = OK
		}
		if o.Outcome == None {
			t.Fatalf("unknown outcome %q", what)
		}
		var e Event
		if s, e = s.Observe(o, begin.Add(time.Duration(n*24*float64(time.Hour)))); e != NoEvent {
			heard = append(heard, at+":"+e.String())
		}
	}
	return s, heard
}

// daily returns checks on several days with the same outcome.
func daily(what string, days ...int) string {
	var words []string
	for _, d := range days {
		words = append(words, fmt.Sprintf("%d:%s", d, what))
	}
	return strings.Join(words, " ")
}

// TestVerdicts checks when a location gets which verdict.
func TestVerdicts(t *testing.T) {
	usual, eight := []int{0, 1, 2, 3, 4, 8, 14, 15}, []int{0, 1, 2, 3, 4, 8, 16, 23, 30, 31}
	for _, tt := range []struct {
		name, checks string
		want         Verdict
		events       string
	}{
		{"one success", "0:ok", Good, ""},
		{"confirmed", "0:confirmed", Confirmed, ""},
		{"HEAD keeps a confirmation", "0:confirmed 30:ok/head", Confirmed, ""},
		{"one failure", "0:gone", Failing, ""},
		{"at the usual times", daily("gone", usual...), Dead, "15:dead"},
		{"a day too early", daily("gone", usual[:7]...), Failing, ""},
		{"daily for 13 days", daily("gone", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13), Failing, ""},
		{"daily for 14 days", daily("gone", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14), Dead, "14:dead"},
		{"every second day", daily("gone", 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20), Failing, ""},
		{"every second day, and two other faults", daily("gone", 0, 2, 4, 5, 6, 8, 10, 11, 12, 14, 16, 18, 20), Failing, ""},
		{"many failures on two days", "0:gone 0.1:gone 0.2:gone 14:gone 14.1:gone 15:gone", Failing, ""},
		{"one success starts again", "0:gone 1:gone 2:gone 4:gone 8:ok 9:gone 14:gone 15:gone 20:gone", Failing, ""},
		{"never by HEAD alone", daily("gone/head", usual...), Failing, ""},
		{"the last check by GET", daily("gone", usual[:7]...) + " 15:gone/head", Failing, ""},
		{"410 for six days", daily("removed", 0, 1, 2, 3, 4, 5, 6), Failing, ""},
		{"410 for a week", daily("removed", 0, 1, 2, 3, 4, 5, 7), Dead, "7:dead"},
		{"410 twice in a week", daily("removed", 0, 7), Failing, ""},
		{"410 for a week, and one other failure", daily("removed", 0, 1, 2, 3, 4, 5) + " 6:gone 7:removed", Failing, ""},
		{"410 for a week, and one success", daily("removed", 0, 1, 2, 3, 4, 5) + " 6:ok 7:removed", Failing, ""},
		{"410 at the times of other failures", daily("removed", usual...), Dead, "15:dead"},
		{"the host does not exist", daily("no-host", usual...), Dead, "15:dead"},
		{"refused, forever", daily("refused", 0, 1, 2, 3, 14, 30, 60, 90), Blocked, ""},
		{"private address", daily("private", 0, 1, 3, 14, 90), Blocked, ""},
		{"a clock that is set forward", daily("gone", 0, 1, 2, 3, 4, 5, 100), Failing, ""},
		{"a clock that is set forward, and a day", daily("gone", 0, 1, 2, 3, 4, 5, 100, 101, 102), Dead, "101:dead"},
		{"soft, forever", daily("soft", 0, 3, 6, 14, 30, 60), Suspect, ""},
		{"trouble for two weeks", daily("trouble", usual...), Failing, ""},
		{"trouble, ten times in a month", daily("trouble", eight...), Dead, "31:dead"},
		{"trouble, seven times in a month", daily("trouble", 0, 1, 2, 16, 23, 30, 31), Failing, ""},
		{"trouble, often but briefly", daily("trouble", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 29), Failing, ""},
		{"TLS for two weeks", daily("tls", usual...), Failing, ""},
		{"TLS, ten times in a month", daily("tls", eight...), Dead, "31:dead"},
		{"trouble and one 404", daily("trouble", 0, 1, 2, 3, 4, 5, 6) + " 14:gone 15:trouble", Failing, ""},
		{"404 and one trouble", "0:gone 1:gone 2:gone 3:gone 4:trouble 8:gone 14:gone 15:gone 16:gone", Dead, "16:dead"},
		{"refused between failures does not count", daily("gone", usual[:7]...) + " 15:refused", Failing, ""},
		{"refused between failures does not interrupt", "0:gone 1:gone 2:gone 3:gone 4:refused 5:gone 14:gone 15:gone 16:gone", Dead, "16:dead"},
		{"refused three times interrupts", "0:gone 1:gone 2:gone 4:refused 5:refused 6:refused", Blocked, ""},
		{"passing failures of a soft location", "0:gone 1:gone 2:soft 3:soft 4:soft 5:gone 6:gone 7:gone 14:gone 15:gone", Failing, ""},
		{"frozen failures do not count", daily("gone/frozen", usual...), Unknown, ""},
		{"frozen after a success", "0:ok " + daily("gone/frozen", usual...), Good, ""},
		{"dead stays dead when refused", daily("gone", usual...) + " 40:refused 70:soft 100:soft", Dead, "15:dead"},
		{"dead recovers", daily("gone", usual...) + " 44:ok", Good, "15:dead 44:recovered"},
		{"suspect recovers", "0:soft 3:ok", Good, ""},
		{"blocked recovers", "0:refused 30:ok", Good, ""},
	} {
		s, events := observed(t, State{}, tt.checks)
		if s.Verdict != tt.want || strings.Join(events, " ") != tt.events {
			t.Errorf("%s: got %s with events %q, want %s with %q", tt.name, s.Verdict, events, tt.want, tt.events)
		}
	}
}

// TestNeverDeadTooEarly checks, for all sequences of eight outcomes at the usual times, that a
// location is dead only after four failures in a row, on four days, with a weight of four, over two
// weeks, or over one week if all have status 410.
func TestNeverDeadTooEarly(t *testing.T) {
	choices := []Outcome{OK, Refused, Gone, Removed, Trouble}
	died := 0
	var try func(s State, now time.Time, run []time.Time, weight, left int)
	try = func(s State, now time.Time, run []time.Time, weight, left int) {
		if left == 0 {
			return
		}
		for _, o := range choices {
			next, event := s.Observe(Observation{Outcome: o, Get: true}, now)
			run, weight := run, weight
			switch w := o.weight(); {
			case w > 0:
				run, weight = append(run[:len(run):len(run)], now), weight+w
			case o == OK:
				run, weight = nil, 0
			}
			if event == Died {
				died++
				days := map[int64]bool{}
				for _, at := range run {
					days[day(at)] = true
				}
				long := 14 * 24 * time.Hour
				if weight == Removed.weight()*len(run) {
					long = 7 * 24 * time.Hour
				}
				if len(run) < 4 || len(days) < 4 || weight < 8 || now.Sub(run[0]) < long {
					t.Fatalf("dead after failures at %v with weight %d/2", run, weight)
				}
			}
			try(next, now.Add(next.interval(now, 0)), run, weight, left-1)
		}
	}
	try(State{}, begin, nil, 0, 8)
	if died == 0 {
		t.Error("no sequence ends with a dead location")
	}
}

// TestDeadInTime checks that a location with status 404 is dead within 21 days after the first
// failure, even if up to two checks fail for other reasons.
func TestDeadInTime(t *testing.T) {
	others := []Outcome{Gone, Trouble, Refused, Soft}
	for first := range 8 {
		for second := range 8 {
			for _, a := range others {
				for _, b := range others {
					s, now := State{}, begin
					for i := 0; s.Verdict != Dead; i++ {
						o := Observation{Outcome: Gone, Get: true}
						if i > 0 && i == first {
							o.Outcome = a
						} else if i > 0 && i == second {
							o.Outcome = b
						}
						s, _ = s.Observe(o, now)
						if s.Verdict != Dead {
							now = now.Add(s.interval(now, 1))
						}
						if now.Sub(begin) > 21*24*time.Hour {
							t.Fatalf("checks %d and %d with %v and %v: not dead after 21 days", first, second, a, b)
						}
					}
				}
			}
		}
	}
}

// TestIgnored checks that an ignored location keeps its verdict until the date, and that its
// failures cause no event.
func TestIgnored(t *testing.T) {
	s, events := observed(t, State{Verdict: Ignored, Until: begin.AddDate(0, 0, 30)}, "0:gone 1:gone 2:gone 3:gone 4:gone 14:gone 15:gone")
	if s.Verdict != Ignored || events != nil {
		t.Errorf("got %s, %q, want ignored without events", s.Verdict, events)
	}
	if s, events = observed(t, s, "31:gone 32:gone"); s.Verdict != Dead || len(events) != 1 {
		t.Errorf("after the date, got %s, %q, want dead", s.Verdict, events)
	}
	if d := (&State{Verdict: Ignored, Until: begin.AddDate(0, 0, 30)}).interval(begin, 0); d != 30*24*time.Hour {
		t.Errorf("interval: got %v, want 30 days", d)
	}
}

// TestHints checks the hints that a location has moved, and that its content has changed.
func TestHints(t *testing.T) {
	s := State{}
	at := func(d int, o Observation) {
		o.Outcome, o.Get = OK, true
		s, _ = s.Observe(o, begin.AddDate(0, 0, d))
	}
	at(0, Observation{Permanent: true})
	at(7, Observation{Permanent: true})
	if s.HasMoved() {
		t.Error("moved after two checks")
	}
	if at(14, Observation{Permanent: true}); !s.HasMoved() {
		t.Error("not moved after three checks in two weeks")
	}
	if at(15, Observation{}); s.HasMoved() {
		t.Error("moved although the last check had no redirect")
	}
	s = State{}
	at(0, Observation{Print: 0xff})
	at(1, Observation{Print: 0xfe})
	if at(2, Observation{Print: 0xffffffff00000000}); s.Drifted {
		t.Error("drifted although the text was seen only twice")
	}
	at(3, Observation{Print: 0xffffffff00000000})
	if at(4, Observation{Print: 0xffffffff00000000}); s.Drifted {
		t.Error("drifted although the text is the same")
	}
	if at(5, Observation{Print: 0xffffffff00000001}); s.Verdict != Confirmed {
		t.Errorf("same text as before: got %s, want confirmed", s.Verdict)
	}
	if at(6, Observation{Print: 0x00000000ffffffff}); !s.Drifted || s.Verdict != Good {
		t.Errorf("other text: got drifted %v, %s, want true, good", s.Drifted, s.Verdict)
	}
}

// TestStateEncoding checks that states survive their encoding, and how long it is.
func TestStateEncoding(t *testing.T) {
	good := State{Verdict: Good, Outcome: OK, Status: 200, Checked: begin, Good: begin, Due: begin.AddDate(0, 1, 0), Heads: 3, Print: 1 << 60, Stable: 4}
	tagged := good
	tagged.Tag = `"abc"`
	dead, _ := observed(t, State{}, daily("gone", 0, 1, 2, 3, 4, 8, 14, 15))
	moved := State{Verdict: Ignored, Until: begin, Moves: 3, Moving: begin, Drifted: true}
	for _, s := range []State{{}, good, tagged, dead, moved} {
		b := appendState(nil, &s)
		got, err := decodeState(b)
		if err != nil || got != s {
			t.Errorf("got %+v, %v, want %+v", got, err, s)
		}
		if len(b) > 50 {
			t.Errorf("%d bytes for %+v, want at most 50", len(b), s)
		}
	}
}

func FuzzState(f *testing.F) {
	f.Add(appendState(nil, &State{Verdict: Dead, Failures: 4, Since: begin, Failed: begin, Print: 1, Tag: `"x"`, Moves: 1, Until: begin}))
	f.Add(appendState(nil, &State{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeState(b)
		if err != nil {
			return
		}
		again, err := decodeState(appendState(nil, &s))
		if err != nil || again != s {
			t.Errorf("got %+v, %v, want %+v", again, err, s)
		}
	})
}
