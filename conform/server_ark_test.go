package conform_test

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen/conform"
)

// arkOptions returns the options of a run in which the names of the test server are ARKs.
func (s *little) arkOptions() conform.Options {
	o := s.options()
	o.Profiles, o.Authority, o.Names = []conform.Profile{conform.ARK}, "ark:12345", []string{"ark:12345/x5-4"}
	o.Retired, o.Moved, o.TimeGate = "", "", ""
	return o
}

// isARK reports whether a request is for a resolver of ARKs.
func isARK(q *incoming) bool {
	return q.target == "/.well-known/ark" || strings.HasPrefix(strings.ToLower(q.target), "/ark:")
}

// ark answers a request for an ARK.
func (s *little) ark(q *incoming) *reply {
	const media = "text/plain; charset=utf-8"
	if q.target == "/.well-known/ark" && !s.wrong("ARK-well-known") {
		return text(200, media, "/\n")
	}
	spelling, inflection, inflected := strings.Cut(q.target[1:], "?")
	label, rest := "", ""
	if i := strings.IndexByte(spelling, ':'); i > 0 {
		label, rest = spelling[:i+1], spelling[i+1:]
	}
	if !s.wrong("ARK-label") {
		rest = strings.TrimPrefix(rest, "/")
	}
	if !s.wrong("ARK-case") {
		label = strings.ToLower(label)
	}
	if !s.wrong("ARK-hyphen") || !strings.Contains(rest, "x-") {
		rest = strings.ReplaceAll(rest, "-", "")
	}
	if !s.wrong("ARK-end") {
		rest = strings.TrimRight(rest, "/.")
	}
	switch {
	case label+rest != "ark:12345/x54", !inflected && s.wrong("ARK-access"):
		return text(404, media, "unknown\n")
	case !inflected:
		return (&reply{status: 302}).field("Location", "https://www.names.example/2")
	case inflection != "info" && s.wrong("ARK-older"):
		return text(404, media, "unknown\n")
	}
	return s.erc()
}

// erc returns a description of an ARK.
func (s *little) erc() *reply {
	body := "erc:\nwho: Anna\nwhat: An album: songs\nwhen: (:unav)\nwhere: " + testBase + "/ark:12345/x54\nerc-support:\nwho: Library\nwhat: Permanent\nwhen: 2026\nwhere: " + testBase + "/\n"
	media, described := "text/plain", testBase+"/ark:12345/x54"
	switch {
	case s.wrong("ARK-info"):
		media = "text/html"
	case s.wrong("ARK-kernel"):
		body = strings.Replace(body, "when: (:unav)\n", "", 1)
	case s.wrong("ARK-where"):
		body = strings.Replace(body, "where: "+testBase+"/ark:12345/x54", "where: https://www.names.example/2", 1)
	case s.wrong("ARK-support"):
		body, _, _ = strings.Cut(body, "erc-support:")
	case s.wrong("ARK-describes"):
		described += "?info"
	}
	return text(200, media, body).field("Link", "<"+described+`>; rel="describes"`)
}

// A right resolver of ARKs passes every case of the profile.
func TestRightARKs(t *testing.T) {
	results := try(t, (&little{}).arkOptions())
	for id, r := range results {
		if r.Verdict != conform.Pass {
			t.Errorf("%s: %s: %s", id, r.Verdict, r.Detail)
		}
	}
	if len(results) < 12 {
		t.Errorf("%d cases", len(results))
	}
}
