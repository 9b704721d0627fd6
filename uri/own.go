package uri

import "unsafe"

// own converts b to a string without copying it. The caller must not change b afterwards.
func own(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
