package nomen_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// commandNamed matches a command or an option of the program in a string.
var commandNamed = regexp.MustCompile(`(^|[ ('"\x60])--[a-z]|['\x60]nomen [a-z]|\bnomen (put|import|export|serve|verify|rekey|migrate|undo|jobs|token|check|resolve)\b`)

// TestCommandsNamed keeps commands and options out of the libraries: a program that uses
// them has others. A library returns an error of a type, or a sentinel, to which the command
// adds what helps (cmd/nomen/remedy.go).
func TestCommandsNamed(t *testing.T) {
	programs := []string{ // they start other programs
		"cmd" + string(filepath.Separator), "scripts" + string(filepath.Separator),
		filepath.FromSlash("bulk/bulktest/scale/"), filepath.FromSlash("store/pgstore/pgtest/"), "tools" + string(filepath.Separator),
	}
	checked := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		for _, p := range programs {
			if strings.HasPrefix(file, p) {
				return nil
			}
		}
		source, err := os.ReadFile(file)
		if err != nil || strings.HasPrefix(string(source), "//go:build ignore") {
			return err
		}
		checked++
		files := token.NewFileSet()
		var s scanner.Scanner
		f := files.AddFile(file, -1, len(source))
		s.Init(f, source, nil, 0)
		for {
			pos, tok, literal := s.Scan()
			if tok == token.EOF {
				return nil
			}
			if text, _ := strconv.Unquote(literal); tok == token.STRING && commandNamed.MatchString(text) {
				t.Errorf("%s:%d: %q names a command or option of the program", file, f.Line(pos), text)
			}
		}
	})
	if err != nil || checked < 200 {
		t.Errorf("%d files: %v", checked, err)
	}
}
