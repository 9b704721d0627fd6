package uri

import "unsafe"

// own returns b as a string without copying. The caller must not use b
// afterwards.
func own(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
