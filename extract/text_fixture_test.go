package extract

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
)

// A fixture is a text and what other programs find in it.
type fixture struct {
	source, text string
	want         []string
}

// fixtures returns those of linkify-it, twitter-text and CommonMark.
func fixtures(t *testing.T) []fixture {
	return slices.Concat(linkifyFixtures(t), twitterFixtures(t), commonMarkFixtures(t))
}

// linkifyFixtures reads a line of text, followed by a line with the link unless
// that is the whole text. A percent sign begins a comment.
func linkifyFixtures(t *testing.T) []fixture {
	var list []fixture
	fresh := true
	links, _ := testrun.Lines(t, "text/linkify-it/links.txt")
	for _, line := range links {
		line, _, _ := strings.Cut(line, " % ")
		line = strings.TrimRight(line, " ")
		switch {
		case line == "" || line[0] == '%':
			fresh = true
		case fresh:
			list = append(list, fixture{"linkify-it", line, []string{line}})
			fresh = false
		default:
			list[len(list)-1].want = []string{line}
		}
	}
	others, _ := testrun.Lines(t, "text/linkify-it/not_links.txt")
	for _, line := range others {
		if line != "" && line[0] != '%' {
			list = append(list, fixture{"linkify-it", line, nil})
		}
	}
	return list
}

// twitterFixtures reads the lists of URLs in extract.yml whose entries have
// each value on one line.
func twitterFixtures(t *testing.T) []fixture {
	var list []fixture
	section, text := "", ""
	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	lines, _ := testrun.Lines(t, "text/twitter-text/extract.yml")
	for _, line := range lines {
		key, value, _ := strings.Cut(strings.TrimLeft(line, " -"), ":")
		value = strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(line, "  ") && line[2] != ' ' && line[2] != '#':
			section = key
		case section != "urls" && section != "tco_urls_with_params":
		case key == "text":
			var err error
			if text, err = strconv.Unquote(value); err != nil {
				t.Fatalf("%s: %v", value, err)
			}
		case key == "expected":
			f := fixture{source: "twitter-text", text: text}
			for _, q := range quoted.FindAllString(value, -1) {
				u, err := strconv.Unquote(q)
				if err != nil {
					t.Fatalf("%s: %v", q, err)
				}
				f.want = append(f.want, u)
			}
			list = append(list, f)
		}
	}
	return list
}

// commonMarkFixtures reads the examples of autolinks.
func commonMarkFixtures(t *testing.T) []fixture {
	var examples []struct{ Markdown, HTML, Section string }
	data, _ := testrun.Corpus(t, "text/commonmark/autolinks.json")
	if err := json.Unmarshal(data, &examples); err != nil {
		t.Fatal(err)
	}
	var list []fixture
	link := regexp.MustCompile(`<a href="[^"]*">([^<]*)</a>`)
	for _, e := range examples {
		if e.Section != "Autolinks" {
			continue
		}
		f := fixture{source: "CommonMark", text: strings.TrimSuffix(e.Markdown, "\n")}
		for _, m := range link.FindAllStringSubmatch(e.HTML, -1) {
			f.want = append(f.want, strings.ReplaceAll(m[1], "&amp;", "&"))
		}
		list = append(list, f)
	}
	return list
}

// TestFixtures checks that testdata/differences.tsv lists where we find
// something other than other programs do, with the class of the difference, and
// that docs/reference/extract.md counts the classes.
func TestFixtures(t *testing.T) {
	classes := map[string]string{}
	known, err := os.ReadFile("testdata/differences.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(known)) {
		if i := strings.LastIndexByte(strings.TrimSuffix(line, "\n"), '\t'); i >= 0 {
			classes[line[:i]] = strings.TrimSuffix(line[i+1:], "\n")
		}
	}
	total, differ := map[string]int{}, map[string]map[string]int{}
	for _, f := range fixtures(t) {
		total[f.source]++
		o := everything
		o.Mail = f.source != "twitter-text"
		o.Abbreviated = f.source != "CommonMark"
		got := spellings(f.text, o)
		if slices.Equal(got, f.want) {
			continue
		}
		row := fmt.Sprintf("%s\t%q\t%q\t%q", f.source, f.text, f.want, got)
		class, ok := classes[row]
		if !ok {
			t.Errorf("difference without a class: %s", row)
			continue
		}
		delete(classes, row)
		if differ[class] == nil {
			differ[class] = map[string]int{}
		}
		differ[class][f.source]++
	}
	for row := range classes {
		t.Errorf("listed, but not a difference: %s", row)
	}
	doc, err := os.ReadFile("../docs/reference/extract.md")
	if err != nil {
		t.Fatal(err)
	}
	for class, by := range differ {
		row := fmt.Sprintf("| %s | %d | %d | %d |", class, by["linkify-it"], by["twitter-text"], by["CommonMark"])
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/reference/extract.md lacks the row %s", row)
		}
	}
	row := fmt.Sprintf("| all examples | %d | %d | %d |", total["linkify-it"], total["twitter-text"], total["CommonMark"])
	if !strings.Contains(string(doc), row) {
		t.Errorf("docs/reference/extract.md lacks the row %s", row)
	}
}
