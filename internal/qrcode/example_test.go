package qrcode_test

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/nomen-project/nomen/internal/qrcode"
)

// A page shows a QR code that leads to a name.
func ExampleSVG() {
	code, err := qrcode.SVG("https://names.example/urn:dns:example.org:one", "QR code of urn:dns:example.org:one")
	if err != nil {
		panic(err)
	}
	var page strings.Builder
	if err := template.Must(template.New("").Parse(`<p>{{.}}</p>`)).Execute(&page, code); err != nil {
		panic(err)
	}
	begin, _, _ := strings.Cut(page.String(), "<path")
	fmt.Println(begin)
	// Output:
	// <p><svg xmlns="http://www.w3.org/2000/svg" class="qr" role="img" viewBox="0 0 41 41" width="164" height="164" shape-rendering="crispEdges"><title>QR code of urn:dns:example.org:one</title><rect width="41" height="41" fill="#fff"/>
}
