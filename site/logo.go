package site

import (
	"bytes"
	"fmt"
	"image/png"
)

// A Logo is a picture that is shown next to the name of the site.
type Logo struct {
	Type    string // media type
	Content []byte
	name    string // last part of the path, with a hash of the content
}

// LogoPath is the prefix of the URL path of the logo, relative to the root path of the server.
const LogoPath = "/-/site/"

// Limits on a logo.
const (
	maxLogo   = 256 << 10 // bytes
	maxPixels = 2000      // width and height of a PNG
)

// newLogo returns a logo for the content of a PNG or SVG file. It detects the format from the
// content. If b is empty, it returns nil.
func newLogo(b []byte) (*Logo, error) {
	l := &Logo{Content: b}
	switch {
	case len(b) == 0:
		return nil, nil
	case len(b) > maxLogo:
		return nil, logoErrorf("the file has %d bytes, and must have at most %d", len(b), maxLogo)
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		l.Type, l.name = "image/png", "logo."+hashOf(b)+".png"
		return l, checkPNG(b)
	}
	l.Type, l.name = "image/svg+xml", "logo."+hashOf(b)+".svg"
	return l, checkSVG(b)
}

func logoErrorf(layout string, args ...any) error {
	return &SettingError{Key: "logo", Message: fmt.Sprintf(layout, args...)}
}

// Is reports whether name is the path of the logo below [LogoPath].
func (l *Logo) Is(name string) bool { return l != nil && name == l.name }

// Path returns the URL path of the logo, relative to the root path of the server.
func (l *Logo) Path() string { return LogoPath + l.name }

// checkPNG checks that a PNG can be decoded. It checks the dimensions before it decodes the pixels.
func checkPNG(b []byte) error {
	size, err := png.DecodeConfig(bytes.NewReader(b))
	if err == nil && (size.Width > maxPixels || size.Height > maxPixels) {
		return logoErrorf("the picture has %d x %d pixels, and must have at most %d x %[3]d", size.Width, size.Height, maxPixels)
	}
	if err == nil {
		_, err = png.Decode(bytes.NewReader(b))
	}
	if err != nil {
		return logoErrorf("damaged PNG: %s", err)
	}
	return nil
}
