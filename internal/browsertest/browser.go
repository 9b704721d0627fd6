//go:build clients || attack

package browsertest

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// limit is the maximum time for which a test may use a browser.
const limit = 8 * time.Minute

// Start starts a browser, which is closed at the end of the test, and returns its context.
func Start(t testing.TB, flags ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(options, flags...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	return ctx
}

// WithoutScript is a flag for [Start] that turns JavaScript off.
func WithoutScript() chromedp.ExecAllocatorOption {
	return chromedp.Flag("blink-settings", "scriptEnabled=false")
}

// Do performs actions, one after the other.
func Do(t testing.TB, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// See performs an action and returns its result.
func See[T any](t testing.TB, ctx context.Context, what chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(ctx, what)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Prefer sets features of CSS media queries. The arguments are alternately names and values. Prefer
// resets all other features.
func Prefer(features ...string) chromedp.Action[chromedp.Void] {
	p := emulation.SetEmulatedMediaParams{}
	for i := 0; i < len(features); i += 2 {
		p.Features = append(p.Features, &emulation.MediaFeature{Name: features[i], Value: features[i+1]})
	}
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, p)
		return err
	})
}
