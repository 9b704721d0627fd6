package extract

import (
	"encoding/base64"
	"io"
	"iter"
	"runtime"
	"strings"
	"testing"
)

// Memory does not grow with the length of the document.
func TestDocumentMemory(t *testing.T) {
	const few, most = 8 << 20, 8 * maxValue // octets
	line := strings.Repeat("words & signs ", 5) + "http://a.example/x <b>y</b>\n"
	coded := base64.StdEncoding.EncodeToString([]byte(line+line+line)) + "\n"
	multipart := "Content-Type: multipart/mixed; boundary=b\n\n"
	for _, d := range []struct {
		name, begin, text string
		read              func(io.Reader, Options) iter.Seq2[Finding, error]
		most              uint64
	}{
		{"HTML text", "<base href=http://a.example/>", line, HTML, few},
		{"HTML links", "", "<p class=x><a href=y>z</a>\n", HTML, few},
		{"HTML without markup", "", strings.ReplaceAll(line, "<b>y</b>", ""), HTML, few},
		{"HTML script", "<script>", line, HTML, few},
		{"HTML comment", "<!--", line, HTML, few},
		{"HTML attribute", "<a title='", line, HTML, most},
		{"HTML line breaks", "", "<br>", HTML, few},
		{"HTML inline elements", "x", "<b>", HTML, few},
		{"HTML ends of inline elements", "x", "</b>", HTML, few},
		{"HTML soft hyphens", "x", "&shy;", HTML, few},
		{"plain part", "\n", line, MIME, few},
		{"one line", "\n", "http://a.example/ ", MIME, few},
		{"quoted-printable", "Content-Transfer-Encoding: quoted-printable\n\n", line, MIME, few},
		{"base64", "Content-Transfer-Encoding: base64\n\n", coded, MIME, few},
		{"HTML part", "Content-Type: text/html; charset=iso-8859-2\n\n", line, MIME, few},
		{"image", "Content-Type: image/png\n\n", coded, MIME, few},
		{"parts", multipart, "--b\n\n" + line, MIME, few},
		{"mailbox", "", "From a 10:10:10\nSubject: x\n\n" + line + "\n", MIME, few},
	} {
		t.Run(d.name, func(t *testing.T) {
			runtime.GC()
			var before, now runtime.MemStats
			runtime.ReadMemStats(&before)
			size := int(d.most) + int(d.most)*2/scale() // more than may be held
			r := io.MultiReader(strings.NewReader(d.begin), &repeated{text: strings.Repeat(d.text, 100), n: size / len(d.text) / 100})
			var greatest uint64
			n := 0
			watch := readFunc(func(p []byte) (int, error) {
				if n++; n%256 == 0 {
					runtime.GC()
					runtime.ReadMemStats(&now)
					greatest = max(greatest, now.HeapAlloc)
				}
				return r.Read(p)
			})
			for range d.read(watch, Options{}) {
			}
			if greatest > before.HeapAlloc+d.most {
				t.Errorf("%d MiB are held, want at most %d", (greatest-before.HeapAlloc)>>20, d.most>>20)
			}
		})
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
