package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A meter is a progress bar that also displays the rate and the remaining time. A nil meter
// displays nothing.
type meter struct {
	*cli
	bytes bool                     // it counts bytes
	bar   *progressbar.ProgressBar // nil before there is something to show
}

func (c *cli) newMeter(bytes bool) *meter {
	if !isTerminal(c.err) {
		return nil
	}
	return &meter{cli: c, bytes: bytes}
}

// show updates the progress bar. If total is not positive, the total is unknown.
func (m *meter) show(text string, done, total int64) {
	if m.bar == nil {
		m.bar = progressbar.NewOptions64(cmp.Or(max(total, 0), -1), progressbar.OptionShowBytes(m.bytes), progressbar.OptionSetWriter(m.err),
			progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	m.bar.Describe(text)
	if total > 0 {
		m.bar.ChangeMax64(total)
		done = min(done, total)
	}
	_ = m.bar.Set64(done)
}

func (m *meter) end() {
	if m != nil && m.bar != nil {
		_ = m.bar.Finish()
	}
}

// counting returns two functions for displaying progress. The function show updates the display,
// and end removes it. A total of 0 means that the total is unknown.
func (c *cli) counting(title string) (show func(done, total uint64), end func()) {
	m, start := c.newMeter(false), clock()
	return func(done, total uint64) {
		if m != nil {
			m.show(fmt.Sprintf("%s: %d, %.0f per second", title, done, rate(int64(done), clock().Sub(start).Seconds())), int64(done), int64(total))
		}
	}, m.end
}

// countingStages is like counting, for work in several stages. Each stage has a separate progress
// bar.
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

// manyExamples is the maximum number of changes that are printed as examples.
const manyExamples = 5

// examples prints the first changes that a command makes, or all changes with -v. With --json, it
// prints no changes unless -v is set as well.
type examples struct {
	*cli
	shown int
}

func (e *examples) add(object any, text string) {
	if e.verbose || !e.json && e.shown < manyExamples {
		_ = e.say(object, "%s", printable(text)) // no error here: if standard output fails, printing the summary reports it
	}
	e.shown++
}

// end prints the summary, unless an error has prevented all changes. It returns err, or errNo if
// err is nil and some changes were rejected.
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
