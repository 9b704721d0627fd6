package uri

import "unsafe"

// own returns b as a string without a copy. It is for a buffer that was made to
// be the string: nobody else knows it, and nobody writes to it any more.
func own(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
