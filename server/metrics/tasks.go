package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The recurring tasks of a server.
const (
	TaskBackup      = "backup"      // a backup of the store
	TaskRehearsal   = "rehearsal"   // a trial restore of a backup
	TaskHook        = "hook"        // the command that copies a backup to another place
	TaskVerify      = "verify"      // a verification of the whole store
	TaskReload      = "reload"      // reading the configuration again
	TaskCertificate = "certificate" // ordering or renewing a certificate
)

var taskNames = []string{TaskBackup, TaskRehearsal, TaskHook, TaskVerify, TaskReload, TaskCertificate}

// Tasks records how often recurring tasks ran, and with which result. The zero value is ready for
// use, and a nil Tasks records nothing. Tasks is safe for concurrent use.
type Tasks struct {
	mu  sync.Mutex
	all map[string]*task
}

type task struct {
	done, failed uint64
	last         time.Time // time of the last success
	failing      bool      // the last run failed
}

// Expect makes the metrics show a task that has not run yet in this process. The parameter last is
// the time at which the task last succeeded, or zero.
func (t *Tasks) Expect(name string, last time.Time) {
	t.change(name, func(of *task) {
		if last.After(of.last) {
			of.last = last
		}
	})
}

// Ran records that a task ended, with its error or nil.
func (t *Tasks) Ran(name string, at time.Time, err error) {
	t.change(name, func(of *task) {
		if of.failing = err != nil; of.failing {
			of.failed++
			return
		}
		of.done++
		of.last = at
	})
}

// LastSuccess returns when a task last succeeded, which can be before the program started. If this
// is unknown, LastSuccess returns the zero time.
func (t *Tasks) LastSuccess(name string) time.Time {
	if t == nil {
		return time.Time{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if of := t.all[name]; of != nil {
		return of.last
	}
	return time.Time{}
}

// change calls f with a task. Unknown tasks are ignored, so that labels have only values from a
// fixed set.
func (t *Tasks) change(name string, f func(*task)) {
	if t == nil || !slices.Contains(taskNames, name) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[string]*task{}
	}
	if t.all[name] == nil {
		t.all[name] = &task{}
	}
	f(t.all[name])
}

func (t *Tasks) each(read func(value, string, task)) func(value) {
	return func(to value) {
		t.mu.Lock()
		defer t.mu.Unlock()
		for name, of := range t.all {
			read(to, name, *of)
		}
	}
}

func (t *Tasks) sources() []prometheus.Collector {
	return []prometheus.Collector{
		counter("nomen_task_runs_total", "Runs of recurring tasks, by task and result.", t.each(func(to value, name string, of task) {
			to(float64(of.done), name, "success")
			to(float64(of.failed), name, "failure")
		}), "task", "result"),
		gauge("nomen_task_failing", "Whether the last run of a recurring task failed: 1 or 0.", t.each(func(to value, name string, of task) {
			to(truth(of.failing), name)
		}), "task"),
		gauge("nomen_task_last_success_timestamp_seconds", "When a recurring task last succeeded; 0 if it never did.", t.each(func(to value, name string, of task) {
			to(timestamp(of.last), name)
		}), "task"),
	}
}
