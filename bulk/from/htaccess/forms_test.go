//go:build clients

package htaccess

import (
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/nomen-project/nomen/bulk/from/rewrite"
)

// TestClientApacheForms compares the redirects of nomen with those of Apache httpd for the forms that
// directives can have.
func TestClientApacheForms(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/forms.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var kept []convertedFile
	texts := make(map[string]string)
	for _, f := range archive.Files {
		text := string(f.Data)
		if strings.HasPrefix(f.Name, "crlf/") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		c := convertFile(t, f.Name, text)
		if wantRefused := strings.HasPrefix(f.Name, "refused"); wantRefused != (len(c.report.Refused) > 0) {
			t.Errorf("%s: refused %+v", f.Name, c.report.Refused)
		}
		if len(c.report.Refused) == 0 && len(c.set()) > 0 {
			kept, texts[f.Name] = append(kept, c), text
		}
	}
	compareServers(t, kept, serveRules(t, kept), texts)
}

// drawFromText returns a request for a directive of the file, as the text of the file has it, and not as it
// was converted.
func (c *convertedFile) drawFromText(draw *rand.Rand) comparedRequest {
	one := func(all ...string) string { return all[draw.IntN(len(all))] }
	lines, _ := readLines(strings.NewReader(c.text))
	r := comparedRequest{file: c.report.File, accept: one(usualAccepts...), agent: one(usualAgents...)}
	element, query := "", ""
	for range 20 {
		i := draw.IntN(len(lines))
		l := lines[i]
		pattern, fromRoot := "", false
		switch l.name {
		case "rewriterule":
			args := rewriteArguments(l.rest)
			if len(args) < 2 {
				continue
			}
			pattern = strings.TrimPrefix(args[0], "!")
			for j := i - 1; j >= 0 && lines[j].name == "rewritecond"; j-- {
				args := rewriteArguments(lines[j].rest)
				if len(args) < 2 || draw.IntN(3) == 0 {
					continue
				}
				e, err := rewrite.Parse(strings.TrimPrefix(strings.TrimPrefix(args[1], "!"), "="), false, "")
				if err != nil {
					continue
				}
				s := e.Sample(draw.IntN(48))
				switch strings.ToUpper(args[0]) {
				case "%{HTTP_ACCEPT}", "%{HTTP:ACCEPT}":
					r.accept = s
				case "%{HTTP_USER_AGENT}":
					r.agent = s
				case "%{HTTP:ACCEPT-LANGUAGE}":
					r.languages = s
				case "%{QUERY_STRING}":
					query = s
				case "%{REQUEST_URI}":
					if draw.IntN(3) == 0 {
						pattern = ""
						element = strings.TrimPrefix(strings.TrimPrefix(s, c.dir), "/")
					}
				}
			}
		case "redirectmatch", "redirect", "redirectpermanent", "redirecttemp":
			for _, a := range arguments(l.rest) {
				if strings.ContainsAny(a, "/^") {
					pattern, fromRoot = a, true
					break
				}
			}
		default:
			continue
		}
		if pattern != "" {
			e, err := rewrite.Parse(pattern, false, "")
			if err != nil {
				element = strings.Trim(pattern, "^$")
			} else {
				element = e.Sample(draw.IntN(96))
			}
		}
		if fromRoot {
			element = strings.TrimPrefix(strings.TrimPrefix(element, c.dir), "/")
		}
		break
	}
	switch way := draw.IntN(14); way {
	case 6:
		element += "/tail/er"
	case 7:
		element = strings.TrimRight(element, "/")
	default:
		element = altered(element, way)
	}
	r.target = c.dir + escapeTarget(element)
	if query != "" {
		r.target += "?" + strings.ReplaceAll(query, " ", "%20")
	} else if draw.IntN(3) == 0 {
		r.target += one("?x=1", "?a&b=2", "?x=1&y=z")
	}
	return r
}
