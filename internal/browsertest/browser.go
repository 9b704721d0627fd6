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

// limit is how long a browser may be in use.
const limit = 8 * time.Minute

// Start returns a context of a new browser, which is closed at the end of the test.
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

// Do does what a person does, one step after the other.
func Do(t testing.TB, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// See returns what a person sees.
func See[T any](t testing.TB, ctx context.Context, what chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(ctx, what)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Prefer sets what a person prefers: features of CSS media queries and their values in turn. It
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
