package site

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Colours configures the colours of the pages. Each colour has the form #rgb or #rrggbb. An empty
// string means the default.
type Colours struct {
	Accent     string // links, buttons, and the line below the header
	Background string // the page
}

func defaultLight() Colours { return Colours{"#0b4f9e", "#ffffff"} }
func defaultDark() Colours  { return Colours{"#8ab8f5", "#161616"} }

// Text is shown in one of these colours. The palette chooses the one with the higher contrast.
const (
	darkText  = "#1a1a1a"
	lightText = "#ececec"
)

// minContrast is the minimum contrast ratio between text and background (WCAG 2.2, 1.4.3).
const minContrast = 4.5

type colour struct{ r, g, b uint8 }

func parseColour(text string) (colour, bool) {
	digits, ok := strings.CutPrefix(text, "#")
	if len(digits) == 3 {
		digits = strings.Repeat(digits[:1], 2) + strings.Repeat(digits[1:2], 2) + strings.Repeat(digits[2:], 2)
	}
	n, err := strconv.ParseUint(digits, 16, 24)
	return colour{uint8(n >> 16), uint8(n >> 8), uint8(n)}, ok && err == nil && len(digits) == 6
}

func (c colour) String() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }

// luminance returns the relative luminance as defined by WCAG 2.2.
func (c colour) luminance() float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// contrast returns the contrast ratio as defined by WCAG 2.2. It is between 1 and 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// mix mixes two colours. The parameter share, from 0 to 1, is the weight of a.
func mix(a, b colour, share float64) colour {
	part := func(x, y uint8) uint8 { return uint8(math.Round(float64(x)*share + float64(y)*(1-share))) }
	return colour{part(a.r, b.r), part(a.g, b.g), part(a.b, b.b)}
}

// A palette has all colours of a page.
type palette struct {
	text, background, accent colour
	dim                      colour // less important text
	line                     colour // borders
	tint                     colour // background of boxes
}

// palette returns the palette for the colours, or an error if they are invalid. The parameter
// suffix is appended to configuration keys in errors, such as "-dark" in "accent-dark".
func (c Colours) palette(suffix string, byDefault Colours) (p palette, err error) {
	for _, part := range []struct {
		key, text string
		to        *colour
	}{
		{"accent", cmp.Or(c.Accent, byDefault.Accent), &p.accent},
		{"background", cmp.Or(c.Background, byDefault.Background), &p.background},
	} {
		var ok bool
		if *part.to, ok = parseColour(part.text); !ok {
			return p, &SettingError{part.key + suffix, part.text, "must be a colour such as #0b4f9e"}
		}
	}
	p.text, _ = parseColour(darkText)
	if light, _ := parseColour(lightText); contrast(light, p.background) > contrast(p.text, p.background) {
		p.text = light
	}
	p.dim, p.line, p.tint = mix(p.text, p.background, .8), mix(p.text, p.background, .55), mix(p.text, p.background, .04)
	return p, p.check(c, suffix)
}

// check returns an error if the contrast between text and background is too low.
func (p palette) check(c Colours, suffix string) error {
	for _, on := range []colour{p.background, p.tint} {
		if ratio := contrast(p.dim, on); ratio < minContrast {
			return &SettingError{"background" + suffix, p.background.String(), fmt.Sprintf("the contrast with the text is %s, and must be at least %v:1; choose a lighter or darker colour", ratioText(ratio), minContrast)}
		}
		ratio := contrast(p.accent, on)
		if ratio >= minContrast {
			continue
		}
		key, value, other := "accent", c.Accent, p.background
		if c.Accent == "" { // the background does not suit the default accent
			key, value, other = "background", c.Background, p.accent
		}
		return &SettingError{key + suffix, value, fmt.Sprintf("the contrast with %s is %s, and must be at least %v:1; choose a lighter or darker colour", other, ratioText(ratio), minContrast)}
	}
	return nil
}

// ratioText formats a contrast ratio. It rounds down, so that a ratio below the minimum is never
// shown as the minimum.
func ratioText(ratio float64) string { return fmt.Sprintf("%.2f:1", math.Floor(ratio*100)/100) }

func (p palette) css(selector string) string {
	b := selector + " {"
	for _, v := range []struct {
		name string
		is   colour
	}{{"text", p.text}, {"paper", p.background}, {"accent", p.accent}, {"dim", p.dim}, {"line", p.line}, {"tint", p.tint}} {
		b += " --" + v.name + ": " + v.is.String() + ";"
	}
	return b + " }\n"
}
