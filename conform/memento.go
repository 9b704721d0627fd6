package conform

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// mementoCases are the cases for Memento (RFC 7089). The Original Resource is a name.
var mementoCases = []row{
	{"2.2.2/timegate", "2.2.2", Should, "The response for the name links to its TimeGate.", func(p *probe) outcome {
		return want(len(related(linksOf(p.get()), "timegate")) > 0, "no link with the relation \"timegate\": Link %q", p.get().get("Link"))
	}},
	{"2.2.3/timemap", "2.2.3", Should, "The response for the name links to its TimeMap, with the media type of the TimeMap.", func(p *probe) outcome {
		all := related(linksOf(p.get()), "timemap")
		return want(len(all) > 0 && all[0].param("type") != "", "no link with the relation \"timemap\" and a type")
	}},
	{"4/negotiate", "4.1, 4.2", Must, "The TimeGate responds to a request with Accept-Datetime with 302 and the Location of a Memento, or with the Memento itself.", atGate(time.Now, func(_ *probe, r *response) outcome {
		if r.is(200) {
			return want(r.has("Memento-Datetime"), "the TimeGate responded with 200 without Memento-Datetime")
		}
		return want(r.is(302) && r.has("Location"), "the TimeGate responded with %s", r)
	})},
	{"2.1.2/vary", "2.1.2", Must, "The TimeGate's Vary field has accept-datetime.", atGate(time.Now, func(_ *probe, r *response) outcome {
		return want(variesByTime(r), "Vary %q", r.get("Vary"))
	})},
	{"2.2.1/original", "2.2.1", Must, "The TimeGate's response has exactly one link with the relation \"original\".", atGate(time.Now, func(_ *probe, r *response) outcome {
		n := len(related(linksOf(r), "original"))
		return want(n == 1, "%d links with the relation \"original\"", n)
	})},
	{"4.1.1/redirect", "4.1.1, 4.2.1", Must, "A redirect by the TimeGate has no Memento-Datetime.", atGate(time.Now, func(_ *probe, r *response) outcome {
		need(r.redirects(), "the TimeGate does not redirect: %s", r)
		return want(!r.has("Memento-Datetime"), "Memento-Datetime %q", r.get("Memento-Datetime"))
	})},
	{"4.5.3/invalid", "4.5.3", Must, "An Accept-Datetime that is not a valid date gets 400.", func(p *probe) outcome {
		path := p.gate()
		r := p.web("GET", path, "Accept-Datetime: when the moon was full")
		return want(r.is(400), "it got %s", r)
	}},
	{"4.5.3/first", "4.5.3", Must, "An Accept-Datetime before the first Memento selects the first.", func(p *probe) outcome {
		return selects(p, time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), false)
	}},
	{"4.5.3/last", "4.5.3", Must, "An Accept-Datetime after the most recent Memento selects that.", func(p *probe) outcome {
		return selects(p, time.Now(), true)
	}},
	{"4.5.3/none", "4.5.3", Should, "Without Accept-Datetime the TimeGate selects the most recent Memento.", func(p *probe) outcome {
		path := p.gate()
		need(path != p.path(p.name()), "the name is its own TimeGate and, without Accept-Datetime, returns its current state")
		last := p.memento(true)
		r := p.web("GET", path)
		u, _ := p.absolute(path, r.get("Location"))
		return want(r.is(302) && p.isMemento(u.String(), last) || r.is(200) && r.has("Memento-Datetime"), "it got %s, the most recent Memento is %s", r, last.target)
	}},
	{"2.1.1/datetime", "2.1.1", Must, "A Memento has its time in Memento-Datetime.", ofMemento(func(_ *probe, r *response, _ link) outcome {
		_, err := time.Parse(http.TimeFormat, r.get("Memento-Datetime"))
		return want(err == nil, "Memento-Datetime %q", r.get("Memento-Datetime"))
	})},
	{"5/datetime", "5, 4.5.6", Must, "Memento-Datetime is the time that the TimeMap gives for the Memento.", ofMemento(func(_ *probe, r *response, l link) outcome {
		need(r.has("Memento-Datetime"), "the Memento has no Memento-Datetime")
		return want(l.param("datetime") == "" || r.get("Memento-Datetime") == l.param("datetime"), "%q is in the TimeMap with %q", r.get("Memento-Datetime"), l.param("datetime"))
	})},
	{"4.1.1/memento-original", "2.2.1, 4.1.1", Must, "A Memento has exactly one link with the relation \"original\".", ofMemento(func(_ *probe, r *response, _ link) outcome {
		n := len(related(linksOf(r), "original"))
		return want(n == 1, "%d links with the relation \"original\"", n)
	})},
	{"4.1.1/memento-vary", "4.1.1", Must, "A Memento is not negotiated again: its Vary does not have accept-datetime.", ofMemento(func(_ *probe, r *response, _ link) outcome {
		return want(!variesByTime(r), "Vary %q", r.get("Vary"))
	})},
	{"5/type", "5", Must, "The TimeMap is available as application/link-format, and can be parsed.", func(p *probe) outcome {
		r := p.timeMap()
		_, good := parseLinks(r.text())
		return want(r.is(200) && r.mediaType() == "application/link-format" && good, "the TimeMap got %s", r)
	}},
	{"5/original", "5", Must, "The TimeMap lists the Original Resource.", inTimeMap("original")},
	{"5/timegate", "5", Should, "The TimeMap lists the TimeGate.", inTimeMap("timegate")},
	{"5/self", "5", Should, "The TimeMap lists itself.", inTimeMap("self")},
	{"2.2.4/datetime", "2.2.4, 5", Must, "Each Memento in the TimeMap has a datetime.", func(p *probe) outcome {
		all := p.mementos()
		for _, l := range all {
			if _, err := time.Parse(http.TimeFormat, l.param("datetime")); err != nil {
				return failed("%s has datetime %q", l.target, l.param("datetime"))
			}
		}
		return passed()
	}},
	{"4.2.1/prefix", "4.2.1", May, "The TimeGate at the configured prefix, followed by the URL of the name, redirects to a Memento and names the Original Resource.", prefixGate},
}

// gate returns the path of the TimeGate for the first name.
func (p *probe) gate() string {
	paths := p.paths(linksOf(p.get()), "timegate")
	need(paths != nil, "the TimeGate is on another server")
	return paths[0]
}

func atGate(when func() time.Time, check func(*probe, *response) outcome) func(*probe) outcome {
	return func(p *probe) outcome {
		path := p.gate()
		return check(p, p.web("GET", path, "Accept-Datetime: "+day(when())))
	}
}

func variesByTime(r *response) bool {
	return slices.Contains(words(strings.ToLower(r.get("Vary"))), "accept-datetime")
}

// day returns the end of the UTC day of t as an HTTP date. All requests on one day therefore have
// the same date and can be remembered.
func day(t time.Time) string {
	return t.UTC().Add(24 * time.Hour).Truncate(24 * time.Hour).Format(http.TimeFormat)
}

func (p *probe) timeMap() *response {
	paths := p.paths(linksOf(p.get()), "timemap")
	need(paths != nil, "the name has no TimeMap on this server")
	return p.web("GET", paths[0], "Accept: application/link-format")
}

// mementos returns the Mementos that the TimeMap lists, with absolute URLs as targets.
func (p *probe) mementos() []link {
	r := p.timeMap()
	links, _ := parseLinks(r.text())
	all := related(links, "memento")
	for i, l := range all {
		if u, ok := p.absolute("/", l.target); ok {
			all[i].target = u.String()
		}
	}
	need(len(all) > 0, "the TimeMap lists no Memento: %s", r)
	return all
}

// memento returns the most recent Memento in the TimeMap if last is true, and otherwise the oldest
// one.
func (p *probe) memento(last bool) link {
	all := p.mementos()
	slices.SortStableFunc(all, func(a, b link) int {
		s, _ := http.ParseTime(a.param("datetime"))
		t, _ := http.ParseTime(b.param("datetime"))
		return s.Compare(t)
	})
	if last {
		return all[len(all)-1]
	}
	return all[0]
}

// selects checks that the TimeGate redirects to the most recent Memento if last is true, and
// otherwise to the oldest one.
func selects(p *probe, when time.Time, last bool) outcome {
	path := p.gate()
	wanted := p.memento(last)
	r := p.web("GET", path, "Accept-Datetime: "+day(when))
	if r.is(200) {
		return want(r.get("Memento-Datetime") == wanted.param("datetime"), "it got the Memento of %s, not that of %s", r.get("Memento-Datetime"), wanted.param("datetime"))
	}
	u, _ := p.absolute(path, r.get("Location"))
	return want(p.isMemento(u.String(), wanted), "it leads to %s, not to %s", u, wanted.target)
}

// isMemento reports whether target is a Memento with the same datetime as the Memento wanted.
// Datetimes are rounded to seconds, so several Mementos may have the same datetime. The server may
// choose any of them.
func (p *probe) isMemento(target string, wanted link) bool {
	return slices.ContainsFunc(p.mementos(), func(l link) bool {
		return l.target == target && l.param("datetime") == wanted.param("datetime")
	})
}

func ofMemento(check func(*probe, *response, link) outcome) func(*probe) outcome {
	return func(p *probe) outcome {
		for _, last := range []bool{false, true} {
			l := p.memento(last)
			r, here := p.follow(l.target)
			need(here, "the Memento is on another server: %s", l.target)
			if out := check(p, r, l); out.verdict != Pass {
				return out
			}
		}
		return passed()
	}
}

func inTimeMap(relation string) func(*probe) outcome {
	return func(p *probe) outcome {
		r := p.timeMap()
		links, _ := parseLinks(r.text())
		return want(len(related(links, relation)) > 0, "no link with the relation %q", relation)
	}
}

func prefixGate(p *probe) outcome {
	if p.o.TimeGate == "" {
		return missing(NeedsTimeGate, "no TimeGate prefix given")
	}
	path, here := p.local(p.o.TimeGate)
	need(here, "the TimeGate is on another server")
	original := p.t.url(p.path(p.name()))
	r := p.web("HEAD", path+original, "Accept-Datetime: "+day(time.Now()))
	links := linksOf(r)
	switch {
	case !r.is(302) || !r.has("Location"):
		return failed("it got %s", r)
	case !variesByTime(r):
		return failed("Vary %q", r.get("Vary"))
	case r.has("Memento-Datetime"):
		return failed("the redirect has Memento-Datetime")
	case len(related(links, "original")) != 1:
		return failed("no link with the relation \"original\"")
	}
	for _, l := range links {
		must(strings.Contains(l.target, "://"), "the target %s is relative, which TimeGate clients do not resolve", l.target)
	}
	return passed()
}
