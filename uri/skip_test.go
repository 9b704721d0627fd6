package uri

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The characters that skipHost and skipPath skip.
const (
	skippedHost = alphanums + "-."
	skippedPath = alphanums + "_&'()*+,-./:;"
)

// Every dialect allows the skipped characters, so that a parser may skip them without its table.
func TestSkippedCharactersAllowed(t *testing.T) {
	for d := Draft1993; d.IsValid(); d++ {
		for in, chars := range map[class]string{inHost: skippedHost, inPath: skippedPath} {
			for _, c := range []byte(chars) {
				if classes[d][c]&in == 0 {
					t.Errorf("%v: %q is skipped in class %d, but not allowed", d, c, in)
				}
			}
		}
	}
}

// simpleSkip does one character at a time what skipHost and skipPath do.
func simpleSkip(s string, i int, chars string) int {
	if len(s) < 8 {
		return i
	}
	for i < len(s) && strings.IndexByte(chars, s[i]) >= 0 {
		i++
	}
	return i
}

// checkWords compares all functions that read words with simple ones.
func checkWords(t *testing.T, s string) {
	t.Helper()
	for i := range len(s) + 1 {
		if got, want := skipHost(s, i), simpleSkip(s, i, skippedHost); got != want {
			t.Fatalf("skipHost(%q, %d) = %d; want %d", s, i, got, want)
		}
		if got, want := skipPath(s, i), simpleSkip(s, i, skippedPath); got != want {
			t.Fatalf("skipPath(%q, %d) = %d; want %d", s, i, got, want)
		}
	}
	ascii := strings.Map(func(r rune) rune { return r & 0x7F }, s)
	upper := strings.ContainsAny(ascii, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	if got := hasUpper(ascii); got != upper {
		t.Fatalf("hasUpper(%q) = %t; want %t", ascii, got, upper)
	}
	if got, want := hasUpperOrEscape(ascii), upper || strings.Contains(ascii, "%"); got != want {
		t.Fatalf("hasUpperOrEscape(%q) = %t; want %t", ascii, got, want)
	}
	if got, want := hasEscapeOrDot(ascii), strings.Contains(ascii, "%") || strings.Contains(ascii, "/."); got != want {
		t.Fatalf("hasEscapeOrDot(%q) = %t; want %t", ascii, got, want)
	}
}

// Every octet is put at every place of texts of every length up to three words.
func TestWordsOctets(t *testing.T) {
	for n := range 25 {
		for at := range n {
			for c := range 256 {
				text := []byte(strings.Repeat("x", n))
				text[at] = byte(c)
				checkWords(t, string(text))
				if at+1 < n {
					text[at+1] = '.'
					checkWords(t, string(text))
				}
			}
		}
	}
}

func TestWordsRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const usual = "abcxyzABCXYZ0189-._/:;&%@[`{\x00\x7F\x80\xFF"
	for range 20_000 {
		text := make([]byte, r.IntN(40))
		for i := range text {
			text[i] = usual[r.IntN(len(usual))]
			if r.IntN(3) > 0 {
				text[i] = 'a'
			}
		}
		checkWords(t, string(text))
	}
}

func FuzzWords(f *testing.F) {
	f.Add("www.example.org/a_b/./c%20d")
	f.Add("\xFFwww.example\x80org/")
	f.Fuzz(checkWords)
}

// looksNormal tests the host and the rest separately. The test tries every length of the rest, with
// an octet that is not normal at every offset.
func TestLooksNormalParts(t *testing.T) {
	for _, host := range []string{"h", "example.org", "u@a.example.org"} {
		for n := range 20 {
			path := "/" + strings.Repeat("x", n)
			if s := "a://" + host + path; MustParse(s).Normalize(LevelPath).String() != s || !looksNormal(new(MustParse(s)), LevelPath, nil) {
				t.Errorf("%s does not look normal", s)
			}
			for at := range n {
				for _, odd := range []string{"%7e", "/./", "/../"} {
					s := "a://" + host + path[:at+1] + odd + path[at+1:]
					if looksNormal(new(MustParse(s)), LevelPath, nil) {
						t.Errorf("%s looks normal", s)
					}
				}
			}
		}
		for at := range host {
			for _, odd := range []string{"%7e", "X"} {
				for _, path := range []string{"", "/", "/abcdefgh", "/abcdefghi"} {
					s := "a://" + host[:at] + odd + host[at:] + path
					if u := MustParse(s); looksNormal(&u, LevelPath, nil) && (odd == "%7e" || !strings.Contains(host[at:], "@")) {
						t.Errorf("%s looks normal", s)
					}
				}
			}
		}
	}
}

func TestSkipScheme(t *testing.T) {
	for s, want := range map[string]int{
		"http://a": 4, "https://": 5, "http:abc": 4, "https:ab": 5,
		"httpss:a": 0, "httpx://": 0, "http//ab": 0, "https//a": 0, "ttp://ab": 0,
		"HTTP://a": 0, "Https://": 0, "xhttp://": 0, "httpsx:/": 0,
		"": 0, "http:": 0, "https:a": 0, // shorter than a word
	} {
		if got := skipScheme(s); got != want {
			t.Errorf("skipScheme(%q) = %d; want %d", s, got, want)
		}
	}
}
