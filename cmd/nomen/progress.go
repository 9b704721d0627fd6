package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// newBar returns a progress bar on standard error; a total of -1 means unknown.
func (c *cli) newBar(total int64, more ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total, append(more, progressbar.OptionSetWriter(c.err),
		progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())...)
}

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
			bar = c.newBar(most)
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

// countingStages is like counting for work in several stages, each with its own bar.
func (c *cli) countingStages() (show func(stage string, done int64, total uint64), end func()) {
	stage, count, endOne := "", func(uint64, uint64) {}, func() {}
	return func(now string, done int64, total uint64) {
		if now != stage {
			endOne()
			stage = now
			count, endOne = c.counting(now)
		}
		count(uint64(done), total)
	}, func() { endOne() }
}

// manyExamples is how many changes are shown as examples.
const manyExamples = 5

// examples prints the first changes of a command, or with -v all of them. With --json it
// prints all changes with -v, and otherwise none.
type examples struct {
	*cli
	shown int
}

func (e *examples) add(object any, text string) {
	if e.verbose || !e.json && e.shown < manyExamples {
		_ = e.say(object, "%s", printable(text)) // the summary reports an error of standard output
	}
	e.shown++
}

// end prints the summary, unless err prevented all changes. It returns the error of the
// command for err and the number of rejected changes.
func (e *examples) end(err error, changed bool, rejected int64, object any, text string) error {
	if err != nil && !changed {
		return err
	}
	if more := e.shown - manyExamples; more > 0 && !e.verbose && !e.json {
		fmt.Fprintf(e.out, "... and %d more\n", more)
	}
	if err := e.say(object, "%s", text); err != nil {
		return err
	}
	if err == nil && rejected > 0 {
		return errNo
	}
	return err
}
