//go:build !unix

package pacer

import "time"

// processTime reports that the processor time is unknown, so the share does not change.
func processTime() (time.Duration, bool) { return 0, false }
