package extract

import (
	"os"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/uri"
)

func readFixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// checkLines compares findings with lines of the form "where: target".
func checkLines(t *testing.T, found []Finding, want string) {
	t.Helper()
	got := []string{}
	for _, f := range found {
		got = append(got, f.Where+": "+f.Target.String())
	}
	lines := strings.Split(strings.TrimSpace(want), "\n")
	for i := range max(len(got), len(lines)) {
		switch {
		case i >= len(got):
			t.Errorf("not found: %s", lines[i])
		case i >= len(lines):
			t.Errorf("found %s", got[i])
		case got[i] != lines[i]:
			t.Errorf("%d: got  %s\n   want %s", i, got[i], lines[i])
		}
	}
}

func TestHTMLPage(t *testing.T) {
	found, errs := collect(t, readFixture(t, "page.html"), Options{Base: uri.MustParse("https://herbarium.example/x/y")})
	for _, err := range errs {
		t.Error(err)
	}
	for _, f := range found {
		if f.Where == "base href" {
			if f.Base != "https://herbarium.example/x/y" || f.BaseRule != BaseRetrieval {
				t.Errorf("%s: base %s by %s", f.Spelling, f.Base, f.BaseRule)
			}
			continue
		}
		if f.Base != "https://herbarium.example/collections/herbarium/" || f.BaseRule != BaseEmbedded {
			t.Errorf("%s: base %s by %s", f.Spelling, f.Base, f.BaseRule)
		}
	}
	checkLines(t, found, `
link href: https://herbarium.example/collections/herbarium/style/main.css?v=12
base href: https://herbarium.example/collections/herbarium/
link href: https://herbarium.example/collections/herbarium/4711
link href: https://n2t.example/ark:/12345/x4711
link imagesrcset: https://herbarium.example/collections/herbarium/img/4711-s.jpg
link imagesrcset: https://herbarium.example/collections/herbarium/img/4711-l.jpg
meta content: https://img.herbarium.example/4711.jpg
meta content: urn:nbn:fi-fe19981001
style @import: https://herbarium.example/collections/herbarium/print.css
style url(): https://herbarium.example/collections/herbarium/img/paper.png
style url(): https://herbarium.example/collections/herbarium/img/leaf%201.svg
script @context: https://schema.org/
script @id: https://herbarium.example/collections/herbarium/#specimen
script image: https://img.herbarium.example/4711.jpg
script sameAs: http://www.wikidata.example/entity/Q1
body background: https://herbarium.example/collections/herbarium/img/back.gif
a href: https://herbarium.example/collections/herbarium/?page=2&sort=date
a href: https://herbarium.example/collections/herbarium/#top
a href: mailto:curator@herbarium.example?subject=Sheet%204711
: https://n2t.example/ark:/12345/x4711
: https://herbarium.example/a/verylong
: http://bold.example/
img src: https://herbarium.example/collections/herbarium/img/4711-s.jpg
img srcset: https://herbarium.example/collections/herbarium/img/4711-s.jpg
img srcset: https://herbarium.example/collections/herbarium/img/4711-l.jpg
img usemap: https://herbarium.example/collections/herbarium/#areas
img longdesc: https://herbarium.example/collections/herbarium/describe.html
area href: https://herbarium.example/collections/herbarium/label.html
form action: https://herbarium.example/collections/search
input src: https://herbarium.example/collections/herbarium/img/go.png
button formaction: https://herbarium.example/advanced
blockquote cite: urn:isbn:0451450523
lineargradient xlink:href: https://herbarium.example/collections/herbarium/defs.svg#g
rect fill url(): https://herbarium.example/collections/herbarium/#g
video poster: https://herbarium.example/collections/herbarium/img/still.jpg
source src: https://herbarium.example/collections/herbarium/film.webm
track src: https://herbarium.example/collections/herbarium/film.vtt
object data: https://herbarium.example/collections/herbarium/sheet.pdf
a href: https://herbarium.example/collections/herbarium/sheet.txt
iframe srcdoc a href: https://herbarium.example/collections/herbarium/inner.html
img src: https://count.example/p.gif?x=1&y=2
a href: https://herbarium.example/collections/herbarium/windows/path.html
a ping: https://herbarium.example/log
a ping: https://stat.example/p
`)
}

func TestMIMELetter(t *testing.T) {
	found, errs := collectMIME(t, readFixture(t, "letter.eml"), Options{})
	for _, err := range errs {
		t.Error(err)
	}
	checkLines(t, found, `
header Subject: https://herbarium.example/4711
header List-Unsubscribe: mailto:leave@lists.example?subject=leave
header List-Unsubscribe: https://lists.example/leave?id=9
header Archived-At: https://lists.example/archive/4711.1
header Content-Location: https://herbarium.example/letters/march/
part 1.1: https://herbarium.example/4711?lang=de&from=letter
part 1.1: https://n2t.example/ark:/12345/x4711
part 1.1: http://old.example/sheets
part 1.2 a href: https://herbarium.example/letters/march/4711?a=1&b=2
part 1.2: https://herbarium.example/4711
part 1.2 img src: cid:sheet@herbarium.example
part 3: http://reader.example/notes.txt
`)
}

// With addresses, message identifiers are found, too.
func TestMIMEMessageIDs(t *testing.T) {
	found, _ := collectMIME(t, readFixture(t, "letter.eml"), Options{Mail: true})
	var ids []Finding
	for _, f := range found {
		if scheme, _ := f.URI.Scheme(); scheme == "mid" || scheme == "cid" && f.Kind == URI && strings.Contains(f.Where, "header") {
			ids = append(ids, f)
		}
	}
	checkLines(t, ids, `
header Message-Id: mid:4711.1@herbarium.example
header References: mid:4710.1@herbarium.example
header References: mid:4710.2@reader.example
part 2 header Content-Id: cid:sheet@herbarium.example
`)
}
