// Package faults takes storage and database away from running servers, and measures
// what their clients and operators see. It holds tests only, behind the build tag
// faults: `make faults` runs them as root. Each test fills in its row of the table in
// docs/reference/failures.md, and the run fails if the document says something else.
package faults
