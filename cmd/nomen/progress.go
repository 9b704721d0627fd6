package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// counting returns a function that shows a progress bar with rate and time left, and one
// that ends it. A total of 0 means unknown. If standard error is not a terminal they do
// nothing.
func (c *cli) counting(title string) (show func(done, total uint64), end func()) {
	if !isTerminal(c.err) {
		return func(uint64, uint64) {}, func() {}
	}
	var bar *progressbar.ProgressBar
	start := clock()
	show = func(done, total uint64) {
		if bar == nil {
			most := int64(total)
			if total == 0 {
				most = -1
			}
			bar = progressbar.NewOptions64(most, progressbar.OptionSetWriter(c.err),
				progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
		}
		bar.Describe(fmt.Sprintf("%s: %d, %.0f per second", title, done, rate(int64(done), clock().Sub(start).Seconds())))
		if total > 0 {
			bar.ChangeMax64(int64(total))
			done = min(done, total)
		}
		_ = bar.Set64(int64(done))
	}
	return show, func() {
		if bar != nil {
			_ = bar.Finish()
		}
	}
}
