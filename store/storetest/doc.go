// Package storetest checks that a store gives the guarantees of package store:
//
//   - [Run] is the suite.
//   - [Reopen] checks a store that was closed or has crashed.
//   - [Damages] checks that Verify finds damage.
//   - [Backup] checks backups.
//   - [Same] compares stores with a simple model under random operations.
//   - [Bench] and similar functions measure.
//
// Tests of optional interfaces run only for stores that implement these interfaces.
//
// A failure prints first what the store did, and then what it should have done. The suites name the
// requirements of the specification that they check, such as Y95-22.
package storetest
