//go:build !unix

package pacer

import "time"

// processTime returns false, because the processor time is unknown. The share then does not change.
func processTime() (time.Duration, bool) { return 0, false }
