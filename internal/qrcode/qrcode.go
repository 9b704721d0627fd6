// Package qrcode draws QR codes (ISO/IEC 18004) as SVG or PNG. It uses the error correction level
// M, at which a code remains readable if 15 % of its area is dirty or damaged, as printed labels
// can be. The module rsc.io/qr computes the codes.
package qrcode

import (
	"fmt"
	"html/template"
	"strings"

	"rsc.io/qr"

	"github.com/nomen-project/nomen/internal/shown"
)

// MaxBytes is the maximum length of a text.
const MaxBytes = 2331

// MaxReadable is the maximum length in bytes of a text that pages show as a QR code. Cheap cameras
// cannot read the codes of longer texts.
const MaxReadable = 300

// quiet is the width of the white margin around a code, in modules (ISO/IEC 18004, 5.3.8). Readers
// need the margin to find the code.
const quiet = 4

// pixels is the width in pixels of a module. A style sheet can change it.
const pixels = 4

// SVG returns the QR code of a text, such as a URL. The result can be part of an HTML page, or a
// file. The title says what the code leads to, for screen readers. The code is always black on
// white, because readers expect this. The text must have 1 to [MaxBytes] bytes; see also
// [MaxReadable].
func SVG(text, title string) (template.HTML, error) {
	if text == "" || len(text) > MaxBytes {
		return "", fmt.Errorf("QR code of %d bytes: must have 1 to %d bytes", len(text), MaxBytes)
	}
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", fmt.Errorf("QR code of %d bytes: %w", len(text), err)
	}
	const picture = `<svg xmlns="http://www.w3.org/2000/svg" class="qr" role="img" viewBox="0 0 %[1]d %[1]d" width="%[2]d" height="%[2]d" shape-rendering="crispEdges">` +
		`<title>%[3]s</title><rect width="%[1]d" height="%[1]d" fill="#fff"/><path fill="#000" d="%[4]s"/></svg>`
	side := code.Size + 2*quiet
	return template.HTML(fmt.Sprintf(picture, side, side*pixels, template.HTMLEscapeString(shown.Inline(title)), path(code))), nil
}

// PNG returns the QR code of a text as an image with 8 pixels for each module. The length of the
// text is limited as for [SVG].
func PNG(text string) ([]byte, error) {
	if text == "" || len(text) > MaxBytes {
		return nil, fmt.Errorf("QR code of %d bytes: must have 1 to %d bytes", len(text), MaxBytes)
	}
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, fmt.Errorf("QR code of %d bytes: %w", len(text), err)
	}
	return code.PNG(), nil
}

// path returns the black modules as SVG path data. Adjacent black modules of a row become one
// rectangle.
func path(code *qr.Code) string {
	var b strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			start := x
			for code.Black(x, y) {
				x++
			}
			if n := x - start; n > 0 {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", start+quiet, y+quiet, n, n)
			}
		}
	}
	return b.String()
}
