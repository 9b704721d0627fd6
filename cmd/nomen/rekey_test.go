package main

import (
	"archive/zip"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// rules1 unpacks a store that version 1 of the rules of names has made: rules1
// DIR.
func rules1(ts *testscript.TestScript, _ bool, args []string) {
	z, err := zip.OpenReader("../../store/pebblestore/testdata/rules1.zip")
	ts.Check(err)
	defer z.Close()
	ts.Check(os.CopyFS(ts.MkAbs(args[0]), z))
}
