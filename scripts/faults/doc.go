// Package faults takes the storage or the database away from running servers, and
// measures the effects on clients and operators. It contains only tests, behind the
// build tag faults: `make faults` runs them as root. Each test measures one row of
// the table in docs/reference/failures.md, and the run fails if the document differs.
package faults
