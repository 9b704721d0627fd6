// Package bench compares the package uri with other libraries that read URLs. It
// is a module of its own, so that the product does not depend on them.
package bench
