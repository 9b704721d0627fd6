//go:build clients

package qrcode_test

import (
	"context"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/nomen-project/nomen/internal/browsertest"
	"github.com/nomen-project/nomen/internal/qrcode"
)

// TestClientReader draws codes with a browser and reads them with zbarimg, a reader of QR codes
// that shares nothing with the module that made them.
func TestClientReader(t *testing.T) {
	ctx := browsertest.Start(t)
	for _, text := range []string{
		"1", "0123456789", "HTTPS://NAMES.EXAMPLE/URN:NBN:FI-FE1234",
		"https://names.example/urn:dns:example.org:one",
		"https://names.example/urn:nbn:de:101:1-201102033592",
		"https://names.example/ark:12345/x?info&a=%C3%A9#part",
		"urn:isbn:9780141036144",
		"a line\nand a \"second\" one",
		"https://names.example/" + strings.Repeat("0", 100),
		"https://names.example/" + strings.Repeat("a", 300),
		"https://names.example/" + strings.Repeat("x/y", 250),
	} {
		svg, err := qrcode.SVG(text, "a code")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "code.png")
		if err := os.WriteFile(file, draw(t, ctx, string(svg)), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := exec.CommandContext(t.Context(), "zbarimg", "--raw", "--quiet", "--set", "disable", "--set", "qrcode.enable", file).Output()
		if err != nil || strings.TrimSuffix(string(got), "\n") != text {
			t.Errorf("%q: zbarimg reads %q: %v", text, got, err)
		}
	}
}

// draw returns a PNG of a picture in a dark page.
func draw(t *testing.T, ctx context.Context, svg string) []byte {
	t.Helper()
	page := "data:text/html;base64," + base64.StdEncoding.EncodeToString([]byte(`<!DOCTYPE html><body style="background:#111">`+svg))
	if err := chromedp.Do(ctx, chromedp.Navigate(page)); err != nil {
		t.Fatal(err)
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	return png
}
