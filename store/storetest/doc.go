// Package storetest checks that a store gives the guarantees of package store:
//
//   - [Run] is the test suite for an open store.
//   - [Reopen] checks a store that was closed or has crashed.
//   - [Damages] checks that Verify finds damage.
//   - [Backup] checks backups.
//   - [Same] compares stores with a simple model under random operations.
//   - [Bench] and similar functions are benchmarks.
//
// Tests of optional interfaces run only for stores that implement these interfaces.
//
// Failure messages have the actual result before the expected result. Comments name the
// requirements that the tests check, such as Y95-22.
package storetest
