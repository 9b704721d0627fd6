//go:build !unix

package pacer

import "time"

// processTime returns false, because the processor time is unknown on this system. The share of
// background work then stays constant.
func processTime() (time.Duration, bool) { return 0, false }
