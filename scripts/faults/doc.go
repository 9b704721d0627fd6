// Package faults makes the storage or the database of running servers fail, and measures the
// effects on clients and operators. It contains only tests, with the build tag faults; `make
// faults` runs them as root. Each test measures one row of the table in docs/reference/failures.md,
// and fails if the document says something else.
package faults
