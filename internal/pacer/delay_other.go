//go:build !linux

package pacer

import "time"

func processorDelay() (time.Duration, bool) { return 0, false }
