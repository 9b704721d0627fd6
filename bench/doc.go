// Package bench compares package uri with other libraries that parse URLs. It is
// a separate module, so that the main module does not depend on these libraries.
package bench
