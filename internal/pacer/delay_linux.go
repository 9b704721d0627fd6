package pacer

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// processorDelay returns how long the present threads of this process have waited for a processor
// of the machine, in total. It returns false if the system does not measure this delay.
func processorDelay() (delay time.Duration, known bool) {
	const dir = "/proc/self/task/"
	threads, err := os.ReadDir(dir)
	if err != nil {
		return 0, false
	}
	for _, t := range threads {
		text, err := os.ReadFile(dir + t.Name() + "/schedstat")
		if err != nil { // the thread has ended, or the system has no such file
			continue
		}
		if fields := bytes.Fields(text); len(fields) > 1 { // time of work, time of waiting, and slices
			n, err := strconv.ParseInt(string(fields[1]), 10, 64)
			delay, known = delay+time.Duration(n), known || err == nil
		}
	}
	return delay, known
}
