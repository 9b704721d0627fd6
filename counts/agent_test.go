package counts

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func standard(t testing.TB) *robots {
	t.Helper()
	r, err := readRobots(robotsText)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// patterns returns the patterns of the list.
func patterns() (all []string) {
	for line := range strings.Lines(robotsText) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// sampleOf returns a text that matches a pattern: the first character of each set that a field can
// contain, and if the pattern is not anchored, with other text around it.
func sampleOf(t *testing.T, pattern string) string {
	t.Helper()
	variants, err := readPattern(pattern)
	if err != nil {
		t.Fatalf("pattern %q: %v", pattern, err)
	}
	v := variants[len(variants)-1]
	var b []byte
	if !v.begin {
		b = append(b, "QQ "...)
	}
	for _, set := range v.sets {
		for c := 32; c < 256; c++ {
			if set.has(byte(c)) {
				b = append(b, byte(c))
				break
			}
		}
	}
	if !v.end {
		b = append(b, " QQ"...)
	}
	return string(b)
}

// Each pattern of the COUNTER list has a positive sample: a text that matches the pattern as a regular
// expression, and that is a robot here. Each pattern is tested alone, because most samples match
// other patterns too.
func TestRobotPatterns(t *testing.T) {
	all := patterns()
	if len(all) != 327 {
		t.Errorf("%d patterns, want 327", len(all))
	}
	whole := standard(t)
	for _, pattern := range all {
		sample := sampleOf(t, pattern)
		if !regexp.MustCompile("(?i)" + pattern).MatchString(sample) {
			t.Errorf("the sample %q of %q does not match it", sample, pattern)
			continue
		}
		alone, err := readRobots(pattern)
		if err != nil {
			t.Errorf("%q: %v", pattern, err)
			continue
		}
		if !alone.match(sample) || !whole.match(sample) {
			t.Errorf("%q is not found by %q: alone %t, in the list %t", sample, pattern, alone.match(sample), whole.match(sample))
		}
	}
}

// The list says the same as its regular expressions about texts that are made of parts of patterns.
func TestRobotsAsRegexp(t *testing.T) {
	whole := standard(t)
	var each []*regexp.Regexp
	var parts []string
	for _, pattern := range patterns() {
		each = append(each, regexp.MustCompile("(?i)"+pattern))
		sample := sampleOf(t, pattern)
		parts = append(parts, sample[:len(sample)/2], sample[len(sample)/2:], strings.ToUpper(sample))
	}
	parts = append(parts, "", " ", "Mozilla/5.0 ", "(X11; Linux x86_64)", "catfish", "afish", "fish", "\t", "/2.1")
	random := rand.New(rand.NewPCG(1, 2))
	robots, n := 0, 4000
	if testing.Short() {
		n = 800
	}
	for range n {
		var agent string
		for range 1 + random.IntN(4) {
			if part := parts[random.IntN(len(parts))]; isASCIIText(part) {
				agent += part
			}
		}
		want := false
		for _, re := range each {
			want = want || re.MatchString(agent)
		}
		if got := whole.match(agent); got != want {
			t.Fatalf("match(%q) = %t, want %t", agent, got, want)
		}
		if want {
			robots++
		}
	}
	if robots < n/10 || robots > n*19/20 {
		t.Errorf("%d of %d texts are robots: the test says little", robots, n)
	}
}

func isASCIIText(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 126 }) < 0
}

func TestClassOf(t *testing.T) {
	r := standard(t)
	for _, tt := range []struct {
		agent string
		want  Class
	}{
		{"", Unknown},
		{"-", Bot}, // ^.?$
		{"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", Regular},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0", Regular},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1", Regular},
		{"Lynx/2.9.2 libwww-FM/2.14 SSL-MM/1.4.1", Bot}, // the list has libwww
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", Bot},
		{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)", Bot},
		{"catfish", Bot},
		{"afish", Regular},
		{"FISH", Regular}, // [^a]fish needs a character before it
		{"curl/8.9.1", Machine},
		{"Wget/1.24.5", Machine},
		{"python-requests/2.32.3", Machine},
		{"Go-http-client/2.0", Machine},
		{"Java/21.0.4", Machine},
		{"nomen/1.0", Machine},
		{strings.Repeat("x", 1<<16) + "bot", Regular}, // only the beginning counts
	} {
		if got := r.classOf(tt.agent); got != tt.want {
			t.Errorf("classOf(%.60q) = %v, want %v", tt.agent, got, tt.want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { r.classOf("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestBadPatterns(t *testing.T) {
	for _, bad := range []string{"a*", "a+", "(a", "[a", `\w`, `\`, "a{3}", "((a))", "a)", "^a^", "a$b", "(aa|bb)(aa|bb)(aa|bb)(aa|bb)", strings.Repeat("x", 600)} {
		if _, err := readRobots(bad); err == nil {
			t.Errorf("%.20q: no error", bad)
		}
	}
}

func FuzzReadRobots(f *testing.F) {
	for _, p := range patterns() {
		f.Add(p, "Mozilla/5.0")
	}
	f.Fuzz(func(t *testing.T, list, agent string) {
		r, err := readRobots(list)
		if err != nil {
			return
		}
		r.match(agent)
		if strings.ContainsAny(list, "\r\n#") || !isASCIIText(list) || !isASCIIText(agent) || list == "" {
			return
		}
		re, err := regexp.Compile("(?i)" + list)
		if err != nil {
			return
		}
		if got, want := r.match(agent), re.MatchString(agent); got != want {
			shown, _ := json.Marshal([]string{list, agent})
			t.Errorf("%s: got %t, want %t", shown, got, want)
		}
	})
}

func BenchmarkClassOf(b *testing.B) {
	r := standard(b)
	for b.Loop() {
		r.classOf("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0")
	}
}

func BenchmarkReadRobots(b *testing.B) {
	for b.Loop() {
		standard(b)
	}
}
